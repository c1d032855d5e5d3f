"""Output of jobs: the summaries of `mine --cluster` and of `update`, and `diptych status`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diptych.commands.options import (
    FOUND,
    MISTAKE,
    NOTHING,
    displayed,
    environment,
    mark_saved,
    say_damage,
)
from diptych.errors import for_command_line, in_one_line
from diptych.job.running import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from diptych.api.job import MinedJob
    from diptych.api.web import Environment
    from diptych.job.ledger import Entry
    from diptych.job.progress import JobMonitor

_SHOWN = 10  # notes on failed sites


def print_job(
    mining: Callable[[JobMonitor, Environment], MinedJob], *, as_json: bool, quiet: bool
) -> int:
    """Mine or update a job while progress is shown, print its figures, and return the exit code."""
    import orjson

    from diptych.api.job_status import standing_of
    from diptych.job.progress import JobMonitor, job_figures

    started = time.monotonic()
    mark_saved()
    with displayed(JobMonitor(), quiet=quiet or as_json, figures=job_figures) as monitor:
        mined = mining(monitor, environment())
    standing = standing_of(mined.folder)
    if as_json:
        notes = [for_command_line(note) for note in mined.notes]
        found = {
            **orjson.loads(standing.to_json()), "segments": mined.segments, "notes": notes,
            "out": str(mined.folder), "seconds": round(time.monotonic() - started, 3),
            **({"changes": mined.changes} if mined.changes else {}),
        }  # fmt: skip
        click.echo(orjson.dumps(found).decode())
    else:
        figures = standing.figures()
        click.echo(
            f"{standing.done:,} of {standing.sites:,} {standing.unit}, {figures['pages']:,} pages,"
            f" {figures['pairs']:,} page pairs, {mined.segments:,} segments"
            f" -> {in_one_line(mined.folder / 'corpus.tsv')}",
            err=True,
        )
        for line in _remarks(mined, standing.unit):
            click.echo(line, err=True)
    say_damage(mined.damaged)
    if mined.failed:
        return MISTAKE
    if not mined.segments:
        return NOTHING
    return MISTAKE if mined.damaged else FOUND


def _remarks(mined: MinedJob, unit: str) -> Iterator[str]:
    """Lines on what an update has changed, on sites without pages, and on what has failed."""
    if mined.changes:
        yield f"update: {mined.changes}"
    if unit == "sites":  # a partition of archives may well be empty
        yield from _without_pages(mined.entries)
    for note in mined.notes[:_SHOWN]:
        yield f"error: {for_command_line(note)}"
    if len(mined.notes) > _SHOWN:
        yield f"error: {len(mined.notes) - _SHOWN:,} more {unit} failed; see report.html"


def _without_pages(entries: Sequence[Entry]) -> Iterator[str]:
    """Lines on sites that have no page, such as those whose server does not answer."""
    empty = [each for each in entries if each.is_done and not count_of(each.result, "pages")]
    for entry in empty[:_SHOWN]:
        notes = entry.result.get("notes")
        why = in_one_line(notes[0]) if isinstance(notes, list) and notes else ""
        yield f"note: {entry.name} has no page{f': {why}' if why else ''}"
    if len(empty) > _SHOWN:
        yield f"note: {len(empty) - _SHOWN:,} more sites have no page; see report.html"


def job_status(folder: Path, *, as_json: bool) -> int:
    """Print the standing of a job."""
    from diptych.api.job_status import standing_of

    standing = standing_of(folder)
    click.echo(standing.to_json() if as_json else "\n".join(standing.lines()))
    return FOUND
