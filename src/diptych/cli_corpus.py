"""The commands that write corpora: export, merge, rebuild."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from diptych.cli_parts import FILE, FOUND, NOTHING

__all__ = ["FORMATS", "export", "merge", "rebuild"]

FORMATS = ("docs", "jsonl", "moses", "parquet", "standoff", "tmx", "tsv")
"""those of the registry, which takes a while to load"""
_FORMAT = click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="File format; else by the ending of --out.",
)
_OUT = "File to write, compressed if it ends in .gz or .zst; - is standard output."


def _choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say what of a corpus is wanted."""
    for option in (
        click.option("--redact", is_flag=True, help="Put [EMAIL], [PHONE] and the like in the place"
                     " of personal data."),
        click.option("--without", default="", metavar="FLAG,FLAG", help="Leave out what is flagged"
                     " so, such as machine or noai (docs/politeness-and-rights.md)."),
        click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Least score of"
                     " a segment, instead of what the run was filtered with."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("run", type=FILE)
@_FORMAT
@click.option("--out", type=FILE, help=f"{_OUT}  Default in the run.")
@_choosing
@click.option("--n-way", is_flag=True, help="Rows of all languages instead of pairs.")
def export(run: Path, **options: Any) -> None:
    """Write the corpus of RUN in a format; also while it is mined, and with another threshold."""
    from diptych.commands.export import Wanted, export_run

    raise SystemExit(FOUND if export_run(run, Wanted(**options)) else NOTHING)


@click.command()
@click.argument("inputs", type=FILE, nargs=-1, required=True, metavar="RUN...")
@_FORMAT
@click.option("--out", type=FILE, required=True, help=_OUT)
@_choosing
def merge(inputs: tuple[Path, ...], **options: Any) -> None:
    """Write many runs as one corpus, what they have in common once.

    Corpora that were exported as JSONL or Parquet can be merged as well.
    """
    from diptych.commands.export import Wanted, merge_corpora

    raise SystemExit(FOUND if merge_corpora(inputs, Wanted(**options)) else NOTHING)


@click.command()
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="STANDOFF...")
@click.option("--warc", "archives", type=FILE, multiple=True, required=True, metavar="FILE",
              help="Archives that hold the pages (a file or a folder; also several).")  # fmt: skip
@_FORMAT
@click.option("--out", type=FILE, required=True, help=_OUT)
def rebuild(files: tuple[Path, ...], archives: tuple[Path, ...], **options: Any) -> None:
    """Put the text back into a stand-off corpus, from the archives it was made of."""
    from diptych.commands.export import Wanted, rebuild_corpus

    raise SystemExit(FOUND if rebuild_corpus(files, archives, Wanted(**options)) else NOTHING)
