"""`diptych align`: two HTML pages, or two files with a sentence a line, down to sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import orjson

from diptych.api import align, known_words, page_of, two_languages
from diptych.cascade import Sentence, align_sentences
from diptych.errors import ConfigError
from diptych.learn.lexicon import Lexicon
from diptych.learn.lexicon_file import read_lexicon
from diptych.registry import make
from diptych.text.charset import decode
from diptych.text.content import is_html

__all__ = ["Request", "align_files"]

FOUND, NOTHING = 0, 1
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
    rows = (_of_pages if are_pages[0] else _of_lines)(left, right, request, lexicon)
    pairs = 0
    for row in rows:
        is_pair = bool(row.left and row.right)
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
    ours, theirs = _lines(left), _lines(right)
    for bead in align(ours, theirs, request.langs, lexicon=lexicon, method=request.method):
        yield Row(
            bead.left, bead.right, _joined(ours, bead.left), _joined(theirs, bead.right), bead.score
        )


def _lines(data: bytes) -> list[str]:
    """Only line feeds end a line: other separators are part of a sentence."""
    text = decode(data, "text/plain")[0].removesuffix("\n")
    return [line.strip() for line in text.split("\n")] if text else []


def _joined(sentences: Sequence[str], indices: Sequence[int]) -> str:
    return " ".join(sentences[index] for index in indices)


def _of_pages(
    left: bytes, right: bytes, request: Request, lexicon: Lexicon | None
) -> Iterator[Row]:
    langs = two_languages(request.langs)
    for found in align_sentences(
        page_of(left, "left"), page_of(right, "right"), langs,
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
    return " ".join(dict.fromkeys(sentence.path for sentence in sentences))


def _spelled(row: Row, format: str) -> str:
    if format == "ladder":
        return f"{list(row.left)}:{list(row.right)}"
    if format == "json":
        return orjson.dumps(row._asdict()).decode()
    fields = [_field(row.left_text), _field(row.right_text), f"{row.score:.3f}"]
    paths = [row.left_path, row.right_path] if row.left_path or row.right_path else []
    return "\t".join([*fields, *paths])


def _field(text: str) -> str:
    """A text without what would end its field or its line."""
    return " ".join(text.split())
