"""Scan WARC and WACZ files: all their responses, in order, but those of damaged records."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from diptych.errors import ArchiveError
from diptych.files import parser_errors, reading, reason_of
from diptych.run import wacz
from diptych.run.damaged_archive import ZSTD, Budget, end_of_record, has_record, magic, next_record
from diptych.run.warc import KINDS, MAX_HEAD, response_of
from diptych.text.urls import normalise
from diptych.types import Response

_COMPRESSED_AS_A_WHOLE = (
    "it is compressed as a whole, not record by record; repair it with: warcio recompress OLD NEW"
)
_WITH_DICTIONARY = (
    "it is compressed with a dictionary of zstd; compress each record with gzip, or with zstd"
    " without a dictionary"
)
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # IIPC's zstd for WARC: the frame before the first record
_DIGEST = re.compile(
    r"(?i:md5):([A-Z2-7]{26}={6}|[\da-fA-F]{32})\Z|(?i:sha1):([A-Z2-7]{32}|[\da-fA-F]{40})\Z"
    r"|(?i:sha256):([A-Z2-7]{52}={4}|[\da-fA-F]{64})\Z"
    r"|(?i:sha512):([A-Z2-7]{103}=|[\da-fA-F]{128})\Z",
    re.ASCII,
)  # in base 32, or hexadecimal
_CHUNK = 65_536  # bytes read at a time
_MAX_DAMAGES = 10_000  # damaged places in an archive, after which it is read no further


class ArchivedResponse(NamedTuple):
    """A response in a scanned archive, and its offset."""

    offset: int
    response: Response


class Checked(NamedTuple):
    """A record of an HTTP response, and whether its content has the digest that it states."""

    offset: int
    url: str
    is_whole: bool


def check_archive(path: Path) -> None:
    """Raise ArchiveError if a file does not begin like a WARC file, and is not a WACZ file.

    The first records may be damaged.
    """
    with reading(path, error=ArchiveError), path.open("rb") as stream:
        head = stream.read(_CHUNK)
        is_warc = has_record(stream)
    if not head:
        raise ArchiveError(f"{path} is empty")
    if head.startswith(wacz.SIGNATURE):
        with reading(path, "WACZ file", error=ArchiveError):
            wacz.members(path)
        return
    if head.startswith(_DICTIONARY):
        raise ArchiveError(f"cannot read {path}: {_WITH_DICTIONARY}")
    if not is_warc:
        raise ArchiveError(f"{path} is not a WARC file")


def scan(path: Path) -> Iterator[ArchivedResponse]:
    """Yield all HTTP responses in a WARC or WACZ file, in order.

    If records are damaged, raise an ArchiveError after yielding all others.
    """
    state = _Progress()
    try:
        with path.open("rb") as stream:
            is_zip = stream.read(len(wacz.SIGNATURE)) == wacz.SIGNATURE
            size = stream.seek(0, 2)
            parts = wacz.members(path) if is_zip else [wacz.Member("", 0, size)]
            for part in parts:
                yield from _scan(stream, part.start, part.end, state)
    except parser_errors() as error:
        state.damage(error)
    if state.reason:
        raise ArchiveError(f"{path} is {state.said()}")


def records(path: Path, size: int) -> Iterator[Checked]:
    """Yield all records of HTTP responses in the first `size` bytes of a WARC file.

    If records are damaged, raise an ArchiveError after yielding all others.
    """
    state = _Progress()
    with reading(path, error=ArchiveError), path.open("rb") as stream:
        position: int | None = 0
        while position is not None:
            state.last = position
            try:
                yield from _checked(stream, position, size, state)
                break
            except parser_errors() as error:
                state.damage(error)
            position = next_record(stream, state.last, size, state.budget)
    if state.reason:
        raise ArchiveError(f"{path} is {state.said()}")


def _checked(stream: BinaryIO, start: int, end: int, state: _Progress) -> Iterator[Checked]:
    """Yield all records of HTTP responses in a range of a WARC file."""
    window = wacz.Window(stream, start, end)
    for record in ArchiveIterator(window, max_header_len=MAX_HEAD):
        state.last = record.stream_pos
        if record.record_type in (WarcRecordType.response, WarcRecordType.revisit):
            url = normalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
            yield Checked(record.stream_pos, url or "", _has_its_digest(record))
        state.found += 1


@dataclass(slots=True)
class _Progress:
    """The number of records that have been read from an archive, and its damage."""

    found: int = 0
    last: int = -1
    """offset of the last record whose head has been read"""
    damages: int = 0
    """number of places where records could not be read"""
    found_before: int = 0
    """number of records that were read before the first of them"""
    reason: str = ""
    budget: Budget = field(default_factory=Budget)

    def damage(self, error: Exception) -> None:
        """Count a damaged place."""
        if not self.damages:
            self.found_before, self.reason = self.found, reason_of(error)
        self.damages += 1

    def said(self) -> str:
        """What is wrong with the archive."""
        if not self.found:
            return f"not a readable WARC file: {self.reason}"
        places = f"in {self.damages:,} places, first " if self.damages > 1 else ""
        return f"damaged or truncated {places}after record {self.found_before:,}: {self.reason}"


class _UnusableError(ValueError):
    """Raised for an archive whose records cannot be found again by their offsets."""


def _scan(stream: BinaryIO, start: int, end: int, state: _Progress) -> Iterator[ArchivedResponse]:
    """Yield the intact responses in the WARC file that begins at `start` and ends before `end`."""
    position: int | None = start
    while position is not None:
        ready: ArchivedResponse | None = None
        error: Exception | None = None
        state.last = position
        try:
            for each in _read(stream, position, end, state):
                if ready is not None:
                    yield ready
                ready = each
        except parser_errors() as fault:
            error = fault
        # A record is known to be whole once the next one has been read, or the end of the file.
        if ready is not None and (error is None or _is_whole(stream, ready.offset, end)):
            yield ready
        if error is None:
            break
        if isinstance(error, _UnusableError) or state.damages == _MAX_DAMAGES:
            raise error
        state.damage(error)
        position = next_record(stream, state.last, end, state.budget)


def _read(
    stream: BinaryIO, start: int, end: int, state: _Progress
) -> Iterator[ArchivedResponse | None]:
    """Yield each record from `start` on: the response, or None if it has none."""
    first, last = state.found, -1
    for record in ArchiveIterator(wacz.Window(stream, start, end), max_header_len=MAX_HEAD):
        place = state.last = record.stream_pos
        is_second = state.found == first + 1
        if place == last or (is_second and _is_inside_a_member(stream, start, place)):
            raise _UnusableError(_COMPRESSED_AS_A_WHOLE)
        response = response_of(record) if record.record_type in KINDS else None
        state.found, last = state.found + 1, place
        yield None if response is None else ArchivedResponse(place, response)
    if state.found == first:
        raise EOFError("it contains no records")
    if _has_more(stream, last, end):
        raise EOFError("the last record is truncated")


def _is_whole(stream: BinaryIO, offset: int, end: int) -> bool:
    """True if the record at an offset tells its end, and its digest does not refute it.

    The digest of an uncompressed record is enough.
    """
    tells_end = end_of_record(stream, offset, end) is not None
    stream.seek(offset)
    if magic(stream.read(4)) and not tells_end:
        return False
    window = wacz.Window(stream, offset, end)
    with suppress(*parser_errors()):
        for record in ArchiveIterator(window, max_header_len=MAX_HEAD):
            return (tells_end or _states_digest(record)) and _has_its_digest(record)
    return False


def _has_its_digest(record: WarcRecord) -> bool:
    """True if the content of a record has the digest that it states, or if it states none."""
    return not _states_digest(record) or bool(record.verify_payload_digest(consume=True))


def _states_digest(record: WarcRecord) -> bool:
    """True if a record states a digest in a form that FastWARC can verify."""
    return _DIGEST.match(record.headers.get("WARC-Payload-Digest") or "") is not None


def _is_inside_a_member(stream: BinaryIO, start: int, offset: int) -> bool:
    """True if an archive is compressed, but no gzip member or zstd frame starts at this offset."""
    position = stream.tell()
    stream.seek(start)
    kind = magic(stream.read(4))
    stream.seek(offset)
    own = magic(stream.read(4))
    stream.seek(position)
    return bool(kind) and own != kind


def _has_more(stream: BinaryIO, last: int, end: int) -> bool:
    """True if data follows the last record that was read, or if that record is incomplete."""
    stream.seek(last)
    kind = magic(stream.read(4))
    stream.seek(last)
    if kind == ZSTD:
        return False  # FastWARC raises an error for an incomplete frame
    if kind:
        inflater = zlib.decompressobj(31)
        while not inflater.eof and (chunk := stream.read(min(_CHUNK, end - stream.tell()))):
            inflater.decompress(chunk)
        rest = inflater.unused_data + stream.read(min(64, end - stream.tell()))
        return not inflater.eof or bool(rest.strip(b"\0"))
    length = -1
    while (line := stream.readline(min(_CHUNK, end - stream.tell()))).strip():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    if length < 0 or not line:
        return True  # cut off within the head
    stream.seek(length, 1)
    return bool(stream.read(max(min(64, end - stream.tell()), 0)).strip(b"\r\n\0"))
