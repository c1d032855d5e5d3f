"""Standard output as the place of a corpus, and words on what was written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from diptych.errors import ConfigError, option_name


def standard_output(path: Path) -> BinaryIO | None:
    """The stream that the path `-` stands for; None for other paths."""
    from diptych.corpus.files import STANDARD

    if str(path) != STANDARD:
        return None
    if not hasattr(sys.stdout, "buffer"):  # as in a notebook
        raise ConfigError(f"there is no standard output here: name a file, {option_name('out')}")
    return sys.stdout.buffer


def say_written(count: str, files: Sequence[Path]) -> None:
    """Say how many lines were written and to which files, unless to standard output."""
    names = ", ".join(map(str, files)) or "standard output"
    click.echo(f"{count} -> {names}", err=not files)


def warn_unfinished(run: Path) -> None:
    """Say that the scores of a run are provisional, if it has not finished."""
    from diptych.run.segments import Segments
    from diptych.run.store import Store

    with Store(run, write=False) as store:
        if not Segments(store).are_deduplicated():
            click.echo(f"note: {run} is not finished; its scores are provisional", err=True)
