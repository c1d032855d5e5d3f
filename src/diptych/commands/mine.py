"""`diptych mine`: mines sites or archives, and prints a summary."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diptych.api.declare import option
from diptych.api.mine import Mined, MineOptions, mine_sites
from diptych.commands.declare import command
from diptych.commands.options import (
    FOUND,
    MISTAKE,
    NOTHING,
    as_object,
    displayed,
    environment,
    lists_option,
    mark_saved,
    say_damage,
    summary_console,
)
from diptych.errors import for_command_line

if TYPE_CHECKING:
    from diptych.api.web import Environment
    from diptych.reports.progress import Monitor
    from diptych.reports.summary import Summary


@dataclass(frozen=True, kw_only=True)
class MineCommandOptions(MineOptions):
    """Options of `diptych mine`."""

    lists: tuple[Path, ...] = lists_option()
    as_json: bool = as_object()
    quiet: bool = option("Do not show progress.", default=False)


@command(MineCommandOptions)
def mine(asked: MineCommandOptions) -> int:
    """Crawl SITE, or the sites listed in a file, and mine parallel text into a corpus.

    The run is stored in a folder.  Run the same command again to continue it at any time.  SITE
    can be a file with a list of sites; if its name looks like a host name (such as sites.org), use
    --sites.
    """
    from diptych.sources.site_list import named_sites

    sites = named_sites(asked.sites, sys.stdin, asked.lists)
    options = replace(asked, sites=tuple(sites))
    if asked.cluster is not None:
        from diptych.api.job import mine_job
        from diptych.commands._job import print_job

        return print_job(partial(mine_job, options), as_json=asked.as_json, quiet=asked.quiet)
    return mine_and_print(options, as_json=asked.as_json, quiet=asked.quiet)


def mine_and_print(asked: MineOptions, *, as_json: bool = False, quiet: bool = False) -> int:
    """Mine sites or archives, print the summary, and return the exit code."""
    return print_mined(partial(mine_sites, asked), as_json=as_json, quiet=quiet)


def print_mined(
    mining: Callable[[Monitor, Environment], Mined], *, as_json: bool, quiet: bool
) -> int:
    """Mine while progress is shown, print the summary, and return the exit code."""
    from diptych.reports.progress import Monitor

    started = time.monotonic()
    mark_saved()
    with displayed(Monitor(), quiet=quiet or as_json) as monitor:
        mined = mining(monitor, environment())
    notes = [for_command_line(note) for note in mined.notes]
    if as_json:
        times = {"seconds": time.monotonic() - started, "crawl_seconds": mined.crawl_seconds}
        rounded = {name: round(value, 3) for name, value in times.items()}
        click.echo(to_json(mined.summary, **rounded, out=str(mined.folder), notes=notes))
    else:
        from diptych.reports.funnel import print_funnel

        print_funnel(summary_console(stderr=True), mined.summary, mined.folder, notes)
    if mined.profile is not None:
        from diptych.reports.profile import profile_lines

        click.echo("\n".join(profile_lines(mined.profile)), err=True)
    return _exit_code(mined)


def _exit_code(mined: Mined) -> int:
    say_damage(mined.damaged)
    if not mined.summary.segments:
        return NOTHING
    return MISTAKE if mined.damaged else FOUND


def to_json(summary: Summary, **more: Any) -> str:
    """The summary as one JSON object; `more` holds additional members."""
    import orjson

    from diptych.reports.update import update_figures

    found: dict[str, Any] = {
        "downloads": summary.downloads,
        "downloads_by_kind": dict(summary.downloads_by_kind),
        "pages": summary.pages,
        "pairs": summary.pairs,
        "segments": summary.segments,
        "downloads_per_pair": summary.downloads_per_pair,
        "queued": summary.queued,
        "probably_missing": _rounded(summary.missing),
        "at_most_missing": _rounded(summary.most_missing),
        "curve": summary.curve.tenths,
        "funnel": [
            {"step": step.name, "count": step.count, "lost": dict(step.lost)}
            for step in summary.steps
        ],
        "stopped_hosts": dict(summary.hosts),
        "ends": Counter(end for _, end in summary.ends),
        "marks": dict(summary.marks),
        "flags": dict(summary.flags),
        "personal_data": dict(summary.personal),
        "lang_pairs": [
            {"left": left, "right": right, "pairs": pairs, "segments": segments}
            for left, right, pairs, segments in summary.lang_pairs
        ],
        "n_way_rows": summary.rows,
        "update": None if summary.update is None else update_figures(summary.update),
        **more,
    }
    return orjson.dumps(found, option=orjson.OPT_NON_STR_KEYS).decode()  # keys: reasons


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
