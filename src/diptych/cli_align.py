"""The commands `align` and `lexicon` of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diptych.cli_parts import AS_LINES, FILE, Group

__all__ = ["align", "lexicon"]


@click.command()
@click.argument("left", type=FILE)
@click.argument("right", type=FILE)
@click.option("--langs", required=True, metavar="de,fr", help="The two languages, left one first.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tsv", "ladder", "json"]),
    default="tsv",
    show_default=True,
    help="Texts and score; indices of sentences as in [0, 1]:[0]; or a JSON object a line.",
)
@click.option("--lexicon", type=FILE, metavar="FILE", help="Words you know (see: lexicon import).")
@click.option(
    "--method",
    default="length_lexicon",
    show_default=True,
    metavar="NAME",
    help="Strategy for the align-sentences stage.",
)
@click.option(
    "--trees",
    default="domtree",
    show_default=True,
    metavar="NAME",
    help="Strategy for the align-dom stage, for pages.",
)
@click.option("--unaligned", is_flag=True, help="Also what has no counterpart, with an empty side.")
@click.option("--links", is_flag=True, help="Print the addresses of aligned hyperlinks instead.")
def align(left: Path, right: Path, langs: str, format_: str, **options: Any) -> None:
    """Align two HTML pages, or two text files with one sentence a line.

    Each line of the answer has left, right and score, with tabs between them, and of pages also
    the DOM paths of both.
    """
    from diptych.commands.align import Request, align_files

    raise SystemExit(align_files(Request(left, right, langs, format_, **options)))


@click.group(cls=Group)
def lexicon() -> None:
    """Import and show lexicons: how the words of two languages translate each other."""


@lexicon.command("import")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@click.option("--langs", required=True, metavar="de,fr", help="The two languages, left one first.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["dictd", "dic", "tsv"]),
    help="FreeDict and dictd, hunalign, or left TAB right [TAB probability]; default: by name.",
)
@click.option(
    "--reverse", is_flag=True, help="The files are from the second language to the first."
)
@click.option("--out", type=FILE, metavar="FILE", help="Default: de-fr.lexicon.npz, by the codes.")
def lexicon_import(
    files: tuple[Path, ...], langs: str, format_: str | None, reverse: bool, out: Path | None
) -> None:
    """Make a lexicon of dictionaries.

    Several FILEs become one; one that is named the other way, as in fra-deu, is turned.
    """
    from diptych.commands.lexicon import import_dictionaries

    raise SystemExit(import_dictionaries(files, langs, format_, out, reverse=reverse))


@lexicon.command("show")
@click.argument("file", type=FILE)
@click.argument("words", nargs=-1, metavar="[WORD...]")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, metavar="N",
              help="Translations of a word, at most.")  # fmt: skip
@AS_LINES
def lexicon_show(file: Path, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Print the translations of WORDs, of either language, or of all words.

    FILE is a lexicon, or the folder of a run: what it has learned.

    Each line has left, right, p(right | left) and p(left | right), with tabs between them.
    """
    from diptych.commands.lexicon import show

    raise SystemExit(show(file, words, limit, as_json=as_json))
