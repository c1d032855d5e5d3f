"""Input and output of commands that process URLs line by line.

Lines are processed in batches to limit memory use.  Each non-empty input line produces one output
line, in the same order.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import click
import orjson

from diptych.commands.options import UrlModelOptions
from diptych.errors import ConfigError, in_one_line
from diptych.files import reading
from diptych.learn.url.data import open_bytes
from diptych.text.urls import normalise
from diptych.types import Url

NO_URL = "without an http or https URL"
BATCH_LINES = 4096  # maximum lines of a batch
BATCH_BYTES = 1 << 22  # size at which a batch is complete
MAX_LINE = 1 << 21  # bytes; the rest of a longer line is discarded
_SHOWN = 5  # line numbers listed in a message
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
# Control characters, and the surrogates that replace invalid UTF-8 bytes.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Line(NamedTuple):
    """A line with its number and columns; invalid UTF-8 bytes are kept as surrogates."""

    number: int
    columns: tuple[str, ...]

    def column(self, place: int) -> str:
        """The text of the column with the index `place`; "" if the line has fewer columns."""
        return self.columns[place].strip() if place < len(self.columns) else ""


@dataclass(slots=True)
class Skipped:
    """The number of skipped lines, and the line numbers of the first ones."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Count a skipped line."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(line.number)

    def in_words(self, what: str) -> str:
        """The message about the skipped lines; `what` says what is wrong with them.

        >>> Skipped(7, [1, 2, 3, 4, 5]).in_words("without a URL")
        'skipped 7 lines without a URL: lines 1, 2, 3, 4, 5, ...'
        """
        shown = ", ".join(map(str, self.first)) + (", ..." if self.count > len(self.first) else "")
        s = "s" * (self.count > 1)
        return f"skipped {self.count:,} line{s} {what}: line{s} {shown}"


def read_lines(path: Path | None) -> Iterator[Line]:
    """The non-empty lines of a file, or of standard input if the path is None or `-`."""
    if path is not None and str(path) != "-":
        with reading(path), open_bytes(path) as stream:
            yield from split_lines(stream)
        return
    stdin: BinaryIO = sys.stdin.buffer
    with reading("standard input"):
        if getattr(stdin, "peek", lambda size: b"")(2)[:2] == b"\x1f\x8b":
            stdin = cast(BinaryIO, gzip.GzipFile(fileobj=stdin))
        yield from split_lines(stdin)


def split_lines(stream: BinaryIO) -> Iterator[Line]:
    """The non-empty lines of a stream with their numbers, split into columns."""
    for number, raw in enumerate(iter(lambda: stream.readline(MAX_LINE), b""), 1):
        if not raw.endswith(b"\n") and len(raw) == MAX_LINE:
            _pass_over(stream)
        text = raw.decode("utf-8", "surrogateescape").rstrip("\r\n")
        text = text.removeprefix("\ufeff") if number == 1 else text
        if text.strip():
            yield Line(number, tuple(text.split("\t")))


def _pass_over(stream: BinaryIO) -> None:
    """Skip the rest of a line that is too long."""
    while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
        pass


def batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Group lines into batches with a limited number of lines and bytes."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += sum(map(len, line.columns))
        if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def as_url(text: str) -> Url | None:
    """The URL in a column, normalised; None if the text cannot be the URL of a page.

    >>> as_url("www.example.org/fr"), as_url("mailto:a@example.org"), as_url("nonsense")
    ('http://www.example.org/fr', None, None)
    """
    url = askable(text)
    return normalise(url) if url else None


def askable(text: str) -> str:
    """The URL in a column, with a scheme added if it has none; "" if the text is not a URL.

    >>> askable("http://example.org/#!/fr"), askable("example.org"), askable("data:,x")
    ('http://example.org/#!/fr', 'http://example.org', '')
    """
    if _UNFIT.search(text):
        return ""
    if "://" not in text:
        if _SCHEME.match(text) or "." not in text.partition("/")[0]:
            return ""
        text = "http://" + text
    return text if normalise(text) is not None else ""


def write(out: BinaryIO, rows: Iterable[str]) -> None:
    """Write lines and flush; invalid UTF-8 bytes are written as they were read.

    A terminal gets no control characters but tabs.
    """
    if out.isatty():
        rows = ("\t".join(map(in_one_line, row.split("\t"))) for row in rows)
    text = "".join(f"{row}\n" for row in rows)
    try:
        out.write(text.encode("utf-8", "surrogateescape"))
        out.flush()
    except BrokenPipeError:  # the reader has closed the pipe; the command ends silently
        raise
    except OSError as error:
        raise ConfigError(f"cannot write the output: {error.strerror}") from error


def answer_lines(
    asked: UrlModelOptions,
    names: tuple[str, ...],
    answer: Callable[[Sequence[Line]], list[dict[str, Any] | None]],
    nothing: dict[str, Any],
    what: str,
) -> int:
    """Write one output line per input line, batch by batch, and return the exit code.

    `names` are the names of the input columns.  `answer` takes a batch, and returns for each line
    its output columns, or None if the line must be skipped.  The output columns of a skipped line
    are `nothing`; `what` says what is wrong with skipped lines.
    """
    out = sys.stdout.buffer
    skipped, count = Skipped(), 0
    for batch in batches(read_lines(asked.file)):
        rows: list[str] = []
        for line, values in zip(batch, answer(batch), strict=True):
            if values is None:
                skipped.add(line)
            given = {name: line.column(place) for place, name in enumerate(names)}
            rows.append(spell(given | (values or nothing), as_json=asked.as_json))
        count += len(batch)
        write(out, rows)
    return report_skipped(skipped, count - skipped.count, what)


def report_skipped(skipped: Skipped, answered: int, what: str) -> int:
    """Report skipped lines or empty input, and return the exit code.

    `answered` is the number of lines that were not skipped; `what` says what is wrong with the
    others.
    """
    if skipped.count:
        click.echo(skipped.in_words(what), err=True)
    elif not answered:
        click.echo("nothing found: the input is empty", err=True)
    return 0 if answered else 1


def spell(row: dict[str, Any], *, as_json: bool) -> str:
    """Format a row as a line: tab-separated values, or a JSON object."""
    if as_json:
        clean = {
            name: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if isinstance(value, str)
            else value
            for name, value in row.items()
        }
        return orjson.dumps(clean).decode()
    return "\t".join(
        f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()
    )
