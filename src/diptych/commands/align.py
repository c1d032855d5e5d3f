"""`diptych align`: two HTML pages, or two files with a sentence a line, down to sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import orjson

from diptych.api import align, known_words, page_of, two_languages
from diptych.cli_parts import FOUND, NOTHING
from diptych.errors import ConfigError
from diptych.learn.lexicon.file import read_lexicon
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.blocks import MAX_BLOCKS
from diptych.page.body import is_html
from diptych.page.charset import decode
from diptych.protocols import LinkAligner
from diptych.registry import make
from diptych.steps.align_pages import Sentence, align_sentences

__all__ = ["Request", "align_files"]

_MAX_BYTES = 200_000_000
_HTML = (".html", ".htm", ".xhtml", ".xht")
_HEAD = 4_096


class Request(NamedTuple):
    """What the user asked for."""

    left: Path
    right: Path
    langs: str
    format: str
    lexicon: Path | None
    method: str
    trees: str
    unaligned: bool
    links: bool = False


class Row(NamedTuple):
    """One bead: indices and texts of both sides."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    left_text: str
    right_text: str
    score: float
    left_path: str = ""
    right_path: str = ""


def align_files(request: Request) -> int:
    """Print the alignment of two files; the exit code."""
    left, right = _read(request.left), _read(request.right)
    lexicon = read_lexicon(request.lexicon) if request.lexicon else None
    are_pages = _is_page(request.left, left), _is_page(request.right, right)
    if are_pages[0] != are_pages[1]:
        page = request.left if are_pages[0] else request.right
        raise ConfigError(f"{page} is an HTML page and the other file is not; give two of a kind")
    # Also where only one of them is used: a wrong name is a mistake.
    make("align_dom", {"use": request.trees})
    make("align_sentences", {"use": request.method})
    if request.links:
        if not are_pages[0]:
            raise ConfigError("--links is for two HTML pages; these are texts")
        return _print_links(left, right, request, lexicon)
    rows = (_of_pages if are_pages[0] else _of_lines)(left, right, request, lexicon)
    pairs = 0
    for row in rows:
        is_pair = bool(row.left_text and row.right_text)
        pairs += is_pair
        if is_pair or request.unaligned or request.format == "ladder":
            click.echo(_spelled(row, request.format))
    if not pairs:
        click.echo(f"nothing in {request.left} corresponds to {request.right}", err=True)
    return FOUND if pairs else NOTHING


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(
                f"{path} is larger than {_MAX_BYTES // 1_000_000} MB; cut it in parts"
            )
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error


def _is_page(path: Path, data: bytes) -> bool:
    if path.suffix.lower() in _HTML:
        return True
    return path.suffix.lower() != ".txt" and is_html("", data[:_HEAD])


def _of_lines(
    left: bytes, right: bytes, request: Request, lexicon: Lexicon | None
) -> Iterator[Row]:
    """Blank lines are no sentences: they keep their numbers, and stand alone at the end."""
    ours, theirs = _lines(left), _lines(right)
    kept, others = ([place for place, line in enumerate(side) if line] for side in (ours, theirs))
    beads = align(
        [ours[place] for place in kept], [theirs[place] for place in others], request.langs,
        lexicon=lexicon, method=request.method,
    )  # fmt: skip
    for bead in beads:
        here, there = tuple(kept[at] for at in bead.left), tuple(others[at] for at in bead.right)
        yield Row(here, there, _joined(ours, here), _joined(theirs, there), bead.score)
    for place in sorted({*range(len(ours))} - {*kept}):
        yield Row((place,), (), "", "", 0.0)
    for place in sorted({*range(len(theirs))} - {*others}):
        yield Row((), (place,), "", "", 0.0)


def _lines(data: bytes) -> list[str]:
    """Only line feeds end a line: other separators are part of a sentence."""
    text = decode(data, "text/plain")[0].removesuffix("\n")
    return [line.strip() for line in text.split("\n")] if text else []


def _print_links(left: bytes, right: bytes, request: Request, lexicon: Lexicon | None) -> int:
    """The addresses of aligned hyperlinks, if the strategy finds them."""
    trees: Any = make("align_dom", {"use": request.trees})
    if not isinstance(trees, LinkAligner):
        raise ConfigError(f"--trees {request.trees} aligns no links; take domtree")
    langs = two_languages(request.langs)
    pages = page_of(left, "left"), page_of(right, "right")
    _, found = trees.align_with_links(*pages, known_words(langs, lexicon))
    for ours, theirs, score in found:
        click.echo(f"{ours}\t{theirs}\t{score:.3f}")
    return FOUND if found else NOTHING


def _joined(sentences: Sequence[str], indices: Sequence[int]) -> str:
    return " ".join(sentences[index] for index in indices)


def _of_pages(
    left: bytes, right: bytes, request: Request, lexicon: Lexicon | None
) -> Iterator[Row]:
    langs = two_languages(request.langs)
    pages = page_of(left, "left"), page_of(right, "right")
    for page, path in zip(pages, (request.left, request.right), strict=True):
        if len(page.blocks) >= MAX_BLOCKS:
            click.echo(
                f"{path} has more than {MAX_BLOCKS:,} blocks: the rest is left out", err=True
            )
    for found in align_sentences(
        *pages, langs,
        make("align_dom", {"use": request.trees}),
        make("align_sentences", {"use": request.method}),
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
        return orjson.dumps(row._asdict()).decode()
    fields = [_field(row.left_text), _field(row.right_text), f"{row.score:.3f}"]
    paths = [row.left_path, row.right_path] if row.left_path or row.right_path else []
    return "\t".join([*fields, *paths])


def _field(text: str) -> str:
    """A text without what would end its field or its line, or command a terminal."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
