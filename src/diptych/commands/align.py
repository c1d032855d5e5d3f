"""`diptych align`: aligns two HTML pages, or two files with one sentence per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from diptych.api.align import METHOD, TREES
from diptych.api.declare import argument, option
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING, two_langs_option
from diptych.errors import ConfigError
from diptych.files import read_file

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.steps.align_pages import Sentence

_MAX_BYTES = 200_000_000
_HTML = (".html", ".htm", ".xhtml", ".xht")
_HEAD = 4_096


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """Options of `diptych align`."""

    left: Path = argument()
    right: Path = argument()
    langs: str = two_langs_option()
    format: str = option(
        "Output format: texts and scores, sentence indices such as [0, 1]:[0], or JSON Lines.",
        default="tsv", choices=("tsv", "ladder", "json"),
    )  # fmt: skip
    lexicon: Path | None = option("Lexicon made with diptych lexicon import.", metavar="FILE")
    method: str = option("Strategy for the align-sentences stage.", default=METHOD, metavar="NAME")
    trees: str = option(
        "Strategy for the align-dom stage (pages only).", default=TREES, metavar="NAME"
    )
    unaligned: bool = option(
        "Also print sentences without a counterpart, with one side empty.", default=False
    )
    links: bool = option("Print the URLs of aligned hyperlinks instead of texts.", default=False)


class Row(NamedTuple):
    """One line of output: a bead with the indices and texts of its sentences."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    left_text: str
    right_text: str
    score: float
    left_path: str = ""
    right_path: str = ""


@command(AlignOptions)
def align(asked: AlignOptions) -> int:
    """Align two HTML pages, or two text files with one sentence per line.

    Each output line has tab-separated columns: the left text, the right text and a score.  For
    pages, the DOM paths of both texts follow.
    """
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.learn.libraries import require_libraries_of
    from diptych.registry import make

    left, right = map(_read, (asked.left, asked.right))
    lexicon = read_lexicon(asked.lexicon) if asked.lexicon else None
    are_pages = _is_page(asked.left, left), _is_page(asked.right, right)
    if are_pages[0] != are_pages[1]:
        page, text = (asked.left, asked.right)[:: 1 if are_pages[0] else -1]
        raise ConfigError(
            f"{page} is an HTML page and {text} is a text file; specify two files of the same kind"
        )
    # Both are made even if only one is used, so that an unknown name is always reported.
    make("align_dom", {"use": asked.trees})
    aligner = make("align_sentences", {"use": asked.method})
    require_libraries_of(aligner, f"align_sentences strategy '{asked.method}'")
    if asked.links:
        if not are_pages[0]:
            raise ConfigError("--links requires two HTML pages; these are text files")
        return _print_links(left, right, asked, lexicon)
    rows = (_of_pages if are_pages[0] else _of_lines)(left, right, asked, lexicon)
    pairs = 0
    for row in rows:
        is_pair = bool(row.left_text and row.right_text)
        pairs += is_pair
        if is_pair or asked.unaligned or asked.format == "ladder":
            click.echo(_spelled(row, asked.format))
    if not pairs:
        click.echo(f"no sentence in {asked.left} corresponds to one in {asked.right}", err=True)
    return FOUND if pairs else NOTHING


def _read(path: Path) -> bytes:
    """Read a file as bytes; raise `ConfigError` if it is neither an HTML page nor a text file."""
    from diptych.page.file_type import unreadable_type

    data = read_file(path, _MAX_BYTES)
    if name := unreadable_type(data):
        raise ConfigError(
            f"{path} is {name}; specify HTML pages, or text files with one sentence per line"
        )
    return data


def _is_page(path: Path, data: bytes) -> bool:
    if path.suffix.lower() in _HTML:
        return True
    from diptych.page.body import is_html

    return path.suffix.lower() != ".txt" and is_html("", data[:_HEAD])


def _of_lines(
    left: bytes, right: bytes, asked: AlignOptions, lexicon: Lexicon | None
) -> Iterator[Row]:
    """Align the lines of two texts; blank lines are returned last, as unaligned rows."""
    from diptych.api.align import align

    ours, theirs = _lines(left), _lines(right)
    kept, others = ([place for place, line in enumerate(side) if line] for side in (ours, theirs))
    beads = align(
        [ours[place] for place in kept], [theirs[place] for place in others], asked.langs,
        lexicon=lexicon, method=asked.method,
    )  # fmt: skip
    for bead in beads:
        here, there = tuple(kept[at] for at in bead.left), tuple(others[at] for at in bead.right)
        yield Row(here, there, _joined(ours, here), _joined(theirs, there), bead.score)
    for place in sorted({*range(len(ours))} - {*kept}):
        yield Row((place,), (), "", "", 0.0)
    for place in sorted({*range(len(theirs))} - {*others}):
        yield Row((), (place,), "", "", 0.0)


def _lines(data: bytes) -> list[str]:
    """Split a text into lines at line feeds only; sentences may contain other separators."""
    from diptych.page.charset import decode

    text = decode(data, "text/plain")[0].removesuffix("\n")
    return [line.strip() for line in text.split("\n")] if text else []


def _print_links(left: bytes, right: bytes, asked: AlignOptions, lexicon: Lexicon | None) -> int:
    """Print the URLs of aligned hyperlinks, and return the exit code."""
    from diptych.api.align import known_words, page_of, two_languages
    from diptych.protocols import LinkAligner
    from diptych.registry import make

    trees: Any = make("align_dom", {"use": asked.trees})
    if not isinstance(trees, LinkAligner):
        raise ConfigError(f"--trees {asked.trees} does not align links; use domtree")
    langs = two_languages(asked.langs)
    pages = page_of(left, "left"), page_of(right, "right")
    _, found = trees.align_with_links(*pages, known_words(langs, lexicon))
    for ours, theirs, score in found:
        click.echo(f"{ours}\t{theirs}\t{score:.3f}")
    return FOUND if found else NOTHING


def _joined(sentences: Sequence[str], indices: Sequence[int]) -> str:
    return " ".join(sentences[index] for index in indices)


def _of_pages(
    left: bytes, right: bytes, asked: AlignOptions, lexicon: Lexicon | None
) -> Iterator[Row]:
    from diptych.api.align import known_words, page_of, two_languages
    from diptych.page.blocks import MAX_BLOCKS
    from diptych.registry import make
    from diptych.steps.align_pages import align_sentences

    langs = two_languages(asked.langs)
    pages = page_of(left, "left"), page_of(right, "right")
    for page, path in zip(pages, (asked.left, asked.right), strict=True):
        if len(page.blocks) >= MAX_BLOCKS:
            click.echo(f"{path} has more than {MAX_BLOCKS:,} blocks; the rest is ignored", err=True)
    for found in align_sentences(
        *pages, langs,
        make("align_dom", {"use": asked.trees}),
        make("align_sentences", {"use": asked.method}),
        known_words(langs, lexicon),
    ):  # fmt: skip
        yield Row(
            tuple(sentence.place for sentence in found.left),
            tuple(sentence.place for sentence in found.right),
            " ".join(sentence.text for sentence in found.left),
            " ".join(sentence.text for sentence in found.right),
            found.score,
            _paths(found.left),
            _paths(found.right),
        )


def _paths(sentences: Sequence[Sentence]) -> str:
    return " ".join(dict.fromkeys(sentence.block.path for sentence in sentences))


def _spelled(row: Row, format: str) -> str:
    if format == "ladder":
        return f"{list(row.left)}:{list(row.right)}"
    if format == "json":
        import orjson

        return orjson.dumps(row._asdict()).decode()
    fields = [_field(row.left_text), _field(row.right_text), f"{row.score:.3f}"]
    paths = [row.left_path, row.right_path] if row.left_path or row.right_path else []
    return "\t".join([*fields, *paths])


def _field(text: str) -> str:
    """Remove control characters from a text, and replace tabs and line breaks with spaces."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
