"""Output of a corpus: writing to standard output, and messages about the files written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from diptych.errors import ConfigError, in_one_line, option_name

_SHOWN = 6  # maximum file names in a message


def standard_output(path: Path) -> BinaryIO | None:
    """The stream of standard output if the path is `-`; None for other paths."""
    from diptych.corpus.files import STANDARD

    if str(path) != STANDARD:
        return None
    if not hasattr(sys.stdout, "buffer"):  # as in a notebook
        raise ConfigError(
            f"standard output is not available: specify a file with {option_name('out')}"
        )
    return sys.stdout.buffer


def say_written(count: str, files: Sequence[Path]) -> None:
    """Print `count`, such as "5 segments", and the names of the files written.

    If there are no files, the corpus went to standard output; the message then goes to standard
    error.
    """
    click.echo(f"{count} -> {names_of(files) or 'standard output'}", err=not files)


def names_of(files: Sequence[Path]) -> str:
    """List file names for a message; if there are many files, only the first ones.

    >>> names_of([Path("run/corpus.en"), Path("run/corpus.fr")])
    'run/corpus.en, run/corpus.fr'
    >>> names_of([Path(f"{number}.txt") for number in range(9)])
    '0.txt, 1.txt, 2.txt, 3.txt, 4.txt, 5.txt and 3 more'
    """
    shown = ", ".join(map(in_one_line, files[:_SHOWN]))
    return shown + (f" and {len(files) - _SHOWN:,} more" if len(files) > _SHOWN else "")


def warn_unfinished(run: Path) -> None:
    """If a run or job has not finished, print a note."""
    from diptych.job.folder import is_job
    from diptych.run.segments import Segments
    from diptych.run.store import Store

    if is_job(run):
        from diptych.api.job_status import standing_of

        standing = standing_of(run)
        if left := standing.unfinished:
            which = f"{left:,} of {standing.sites:,} {standing.unit} of {in_one_line(run)}"
            click.echo(f"note: not finished, and left out: {which}", err=True)
        return
    with Store(run, write=False) as store:
        if not Segments(store).are_deduplicated():
            click.echo(
                f"note: {in_one_line(run)} is not finished; its scores are provisional", err=True
            )
