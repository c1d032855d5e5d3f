"""`diptych check`: checks that a run is intact."""

from __future__ import annotations

from dataclasses import dataclass

import click

from diptych.api.check import CheckOptions, check_folder
from diptych.api.declare import option
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING, as_object, displayed
from diptych.errors import in_one_line


@dataclass(frozen=True, kw_only=True)
class CheckCommandOptions(CheckOptions):
    """Options of `diptych check`."""

    as_json: bool = as_object()
    quiet: bool = option("Do not show progress.", default=False)


@command(CheckCommandOptions)
def check(asked: CheckCommandOptions) -> int:
    """Check that RUN, or each run of a job, is intact.

    The database, all archives and all pages are read, each segment of the corpus is looked up in
    the record that it names, and the files of the corpus are compared with the database.  Nothing
    is changed.  The exit code is 1 if there is a fault.
    """
    import orjson

    from diptych.reports.progress import Monitor
    from diptych.reports.reasons import counted

    with displayed(Monitor(), quiet=asked.quiet or asked.as_json, figures=lambda progress: []) as m:
        checked = check_folder(asked.run, m)
    if asked.as_json:
        found = {
            "pages": checked.pages, "segments": checked.segments, "counts": checked.counts,
            "faults": [fault._asdict() for fault in checked.faults],
        }  # fmt: skip
        click.echo(orjson.dumps(found).decode())
        return NOTHING if checked.counts else FOUND
    for fault in checked.faults:
        click.echo(in_one_line(f"{fault.part}: {fault.said}"))
    for part, count in checked.counts.items():
        if more := count - sum(fault.part == part for fault in checked.faults):
            click.echo(f"{part}: and {more:,} more")
    faults = counted(checked.counts.total(), "fault") if checked.counts else "no fault"
    click.echo(
        f"{counted(checked.pages, 'page')} and {counted(checked.segments, 'segment')} checked:"
        f" {faults}"
    )
    return NOTHING if checked.counts else FOUND
