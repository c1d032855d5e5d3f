"""Reads exported corpora (JSONL, Parquet), which may be untrusted files.

Memory use is bounded for any file, and error messages name the invalid line or row.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

from diptych.corpus.files import format_of, split_compression
from diptych.errors import CorpusError, in_one_line
from diptych.files import parser_errors, reason_of
from diptych.stages.export.shared.columns import PAIR_COLUMNS, is_lang
from diptych.text.urls import normalise
from diptych.types import Url
from diptych.units import Side, Unit

MAX_LINE = 1 << 26  # bytes
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_MAX_COPIES = 1 << 53  # larger integers are not exact as doubles, which JSON readers may use
_BATCH_ROWS = 1_000  # rows of a table read at a time
_READ_BYTES = 1 << 10  # bytes read at a time: zstd may expand them 32,000 times
_MAX_WINDOW = 1 << 27  # bytes: a zstd header may request more memory than the machine has
_FETCHED = tuple(place for place, name in enumerate(PAIR_COLUMNS) if name.endswith("_fetched"))
_SEEN = tuple(place for place, name in enumerate(PAIR_COLUMNS) if name.endswith("_seen"))
_ADDED = tuple(PAIR_COLUMNS[place] for place in _SEEN)  # exports of earlier versions lack them
_FLAGS = PAIR_COLUMNS.index("flags")
_NUMBERS = {"score": float, "alignment": float, "verified": float, "copies": int} | {
    f"{side}_offset": int for side in ("left", "right")
}
_KINDS: tuple[type, ...] = tuple(_NUMBERS.get(name, str) for name in PAIR_COLUMNS)
_N_WAY_ERROR = "{} has rows with more than two languages: export language pairs instead"
_values = itemgetter(*PAIR_COLUMNS)


def read_units(path: Path) -> Iterator[Unit]:
    """Yield the units of a two-language export in JSONL or Parquet format."""
    readers = {"jsonl": _jsonl_rows, "parquet": _parquet_rows}
    format = format_of(path)
    if format not in readers or (format == "parquet" and split_compression(str(path))[1]):
        raise CorpusError(
            f"cannot read {path}: it must be an export whose name ends in .jsonl, .jsonl.gz,"
            " .jsonl.zst or .parquet"
        )
    return _units(path, readers[format](path))


def _units(path: Path, rows: Iterator[tuple[str, Sequence[Any]]]) -> Iterator[Unit]:
    for place, row in rows:
        unit = _unit(row)
        if fault := _impossible(unit):
            raise CorpusError(f"{path}, {place}: {fault}")
        yield unit


def _unit(row: Sequence[Any]) -> Unit:
    """Make a unit from a row of values in the order of `PAIR_COLUMNS`.

    Times must be in seconds, and flags must be a tuple.
    """
    left, right, score, left_url, right_url, _, left_lang, right_lang, *found = row
    places, common = found[:12], found[12:]  # left and right alternate
    alignment, verified, evidence, flags, copies, run, first_seen, last_seen = common
    return Unit(
        (
            Side(left_lang, left, Url(left_url), *places[::2]),
            Side(right_lang, right, Url(right_url), *places[1::2]),
        ),
        score, alignment, verified, evidence, flags, copies, run, first_seen, last_seen,
    )  # fmt: skip


def _impossible(unit: Unit) -> str:
    """Describe the first invalid value in a unit; return "" if all values are valid."""
    left, right = unit.sides
    if not (is_lang(left.lang) and is_lang(right.lang) and left.lang != right.lang):
        return (
            f"{in_one_line(left.lang)[:40]!r} and {in_one_line(right.lang)[:40]!r} are not"
            " two different languages"
        )
    if not (left.text and right.text):
        return "a side has no text"
    if not all(0 <= score <= 1 for score in (unit.score, unit.alignment, unit.verified)):
        return "a score is not a number from 0 to 1"
    if normalise(left.url) is None or normalise(right.url) is None:
        return "a URL is not an HTTP URL"
    times = left.fetched_at, right.fetched_at, unit.first_seen, unit.last_seen
    if not all(0 <= time <= _LATEST for time in times):
        return "a fetch time is out of range"
    is_there = all(0 <= offset < 1 << 63 for offset in (left.offset, right.offset))
    if not (is_there and 1 <= unit.copies <= _MAX_COPIES):
        return "offset or copies is out of range"
    return ""


def _jsonl_rows(path: Path) -> Iterator[tuple[str, Sequence[Any]]]:
    import orjson

    for number, line in lines(path):
        place = f"line {number:,}"
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            fault = "is not JSON" if line.endswith(b"\n") else "is truncated: export it again"
            raise CorpusError(f"{path}, {place} {fault}") from error
        row = list(_checked(path, place, found))
        try:
            for at in _FETCHED:
                row[at] = _seconds(row[at])
            for at in _SEEN:
                row[at] = _seconds(row[at]) if row[at] else 0.0
        except ValueError as error:
            raise CorpusError(f"{path}, {place}: a fetch time is invalid") from error
        row[_FLAGS] = tuple(row[_FLAGS].split())
        yield place, row


def _checked(path: Path, place: str, found: Any) -> Sequence[Any]:
    """Check a line of JSON, and return its values in the order of `PAIR_COLUMNS`.

    `found` is the decoded line.  Raises `CorpusError` if a field is missing or has the wrong type;
    the message states the `path` and the `place`, which is a line number.
    """
    if not isinstance(found, dict):
        raise CorpusError(f"{path}, {place} is not an object")
    if "texts" in found:
        raise CorpusError(_N_WAY_ERROR.format(path))
    if _ADDED[0] not in found:
        found = {**dict.fromkeys(_ADDED, ""), **found}
    try:
        row: Sequence[Any] = _values(found)
    except KeyError as error:
        raise CorpusError(
            f"{path}, {place} has no field {error.args[0]!r}: was it exported by Diptych?"
        ) from error
    if tuple(map(type, row)) == _KINDS:
        return row
    for name, kind, value in zip(PAIR_COLUMNS, _KINDS, row, strict=True):
        # JSON does not distinguish 1 from 1.0.
        if type(value) is not kind and not (kind is float and type(value) is int):
            wanted = {str: "text", int: "a whole number", float: "a number"}[kind]
            raise CorpusError(f"{path}, {place}: {name} is not {wanted}")
    return [
        float(value) if kind is float else value for kind, value in zip(_KINDS, row, strict=True)
    ]


@lru_cache(maxsize=4096)
def _seconds(text: str) -> float:
    """Convert a time in the format of exports to seconds since 1970.

    >>> _seconds("2023-11-14T22:13:20Z")
    1700000000.0
    """
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=time.tzinfo or UTC).timestamp()


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the non-blank lines of a file, with their line numbers."""
    number = 0
    try:
        with _reader(path) as stream:
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise CorpusError(f"{path}, line {number:,} is longer than {MAX_LINE >> 20} MB")
                if not line.isspace():
                    yield number, line
    except EOFError as error:
        raise CorpusError(
            f"{path} is truncated after line {number:,}: copy or export it again"
        ) from error
    except parser_errors() as error:
        reason = reason_of(error)
        raise CorpusError(f"cannot read {path} after line {number:,}: {reason}") from error


def _reader(path: Path) -> BinaryIO:
    compression = split_compression(path.name)[1]
    if not compression:
        return path.open("rb")
    if path.stat().st_size == 0:
        raise EOFError
    if compression == ".gz":
        from isal import igzip

        return cast(BinaryIO, igzip.open(path))
    return io.BufferedReader(_ZstdReader(path.open("rb")), 1 << 20)


class _ZstdReader(io.RawIOBase):
    """Reads a zstd file; unlike the library, raises `EOFError` if the file is truncated."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.decoder: Any = None
        self.packed = self.text = b""
        """compressed bytes still to decode, and decoded bytes still to read"""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self.text:
            self.packed = self.packed or self.stream.read(_READ_BYTES)
            if not self.packed and self.decoder is not None:
                raise EOFError
            if not self.packed:
                return 0
            self._decode()
        size = min(len(buffer), len(self.text))
        buffer[:size], self.text = self.text[:size], self.text[size:]
        return size

    def _decode(self) -> None:
        import zstandard

        if self.decoder is None:
            self.decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        self.text, self.packed = self.decoder.decompress(self.packed), b""
        if self.decoder.eof:
            self.packed, self.decoder = self.decoder.unused_data, None

    def close(self) -> None:
        self.stream.close()
        super().close()


def _parquet_rows(path: Path) -> Iterator[tuple[str, Sequence[Any]]]:
    from diptych.stages.export.parquet import arrow, pair_schema

    pa, pq = arrow()
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            _require_columns(path, file.schema_arrow.names)
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(PAIR_COLUMNS)):
                table = _with_added(pa.Table.from_batches([batch]), pa)
                table = table.select(PAIR_COLUMNS).cast(pair_schema(pa))
                table.validate(full=True)  # texts may be invalid UTF-8
                for row in _table_rows(path, table, pa):
                    number += 1
                    yield f"row {number:,}", row
    except parser_errors() as error:
        reason = reason_of(error)
        raise CorpusError(f"cannot read {path} after row {number:,}: {reason}") from error


def _require_columns(path: Path, names: Sequence[str]) -> None:
    if "texts" in names:
        raise CorpusError(_N_WAY_ERROR.format(path))
    for name in PAIR_COLUMNS:
        if names.count(name) != 1 and not (name in _ADDED and name not in names):
            raise CorpusError(f"{path} has no column {name!r}: was it exported by Diptych?")


def _with_added(table: Any, pa: Any) -> Any:
    """Add the columns that exports of earlier versions lack, without values."""
    for name in _ADDED:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.timestamp("ms", "UTC")))
    return table


def _table_rows(path: Path, table: Any, pa: Any) -> Iterator[Sequence[Any]]:
    """The rows of a table, with times in seconds; raises `CorpusError` if a value is missing.

    `pa` is the module pyarrow; `path` is used in error messages.
    """
    for name in PAIR_COLUMNS:
        if name in _ADDED:
            continue
        if table[name].null_count or (name == "flags" and _has_nulls(table[name])):
            raise CorpusError(f"{path}: {name} is missing from some rows")
    for place in (*_FETCHED, *_SEEN):
        times = table.column(place).cast(pa.int64())  # a number may be too large for a time
        table = table.set_column(place, PAIR_COLUMNS[place], times)
    columns = [column.to_pylist() for column in table.columns]
    for place in (*_FETCHED, *_SEEN):
        columns[place] = [(milliseconds or 0) / 1000 for milliseconds in columns[place]]
    columns[_FLAGS] = [tuple(flags) for flags in columns[_FLAGS]]
    return zip(*columns, strict=True)


def _has_nulls(flags: Any) -> bool:
    return any(chunk.flatten().null_count for chunk in flags.chunks)
