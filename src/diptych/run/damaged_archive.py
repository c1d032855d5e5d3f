"""Find the record after a damaged one in a WARC file.

The end of a record is read from its gzip member or zstd frame, or from its `Content-Length`.  If
they are damaged, the file is searched for bytes that begin a record.  The content of a record that
tells its end is never searched: a page may contain bytes that look like records of other sites.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from diptych.run.warc import MAX_HEAD

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_WARC = b"WARC/"
_CHUNK = 1 << 20  # bytes searched at a time
_MAX_LOST = 1 << 26  # bytes in which the first intact record of a file is searched
_STEP = 256  # bytes of compressed input at a time; in zstd, they may stand for 8 MB
_MAX_FIRST = {GZIP: 1 << 12, ZSTD: 1 << 18}  # bytes read at a mark; zstd unpacks blocks of 128 kB
_MARK = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd|WARC/[01]\.")
_MARK_LENGTH = 16  # bytes that parts of a search have in common, so that no mark is cut
_BEGINNING = re.compile(rb"[\r\n]*WARC/[01]\.\d{1,3}\r?\n[\w-]+:")
_FILLING = b"\r\n\0"


@dataclass(slots=True)
class Budget:
    """The work that all searches in an archive may cost together."""

    left: int = 1 << 29
    """bytes that may still be read and unpacked at marks"""


def magic(head: bytes) -> bytes:
    r"""The first bytes of a compressed record; empty if it is not compressed.

    >>> magic(b"\x1f\x8b\x08\x00"), magic(b"WARC/1.1")
    (b'\x1f\x8b', b'')
    """
    return next((magic for magic in (GZIP, ZSTD) if head.startswith(magic)), b"")


def next_record(stream: BinaryIO, start: int, end: int, budget: Budget) -> int | None:
    """The offset of the record after the one at `start`, but before `end`; None if there is none.

    The record at `start` may be damaged.  Nothing is found once the budget is used up.
    """
    behind = end_of_record(stream, start, end)
    if behind is None:
        return _search(stream, start + 1, end, _kind(stream, start), budget)
    if _is_filling(stream, behind, end):
        return None
    if _begins_record(stream, behind, end, budget):
        return behind
    return _search(stream, behind, end, _kind(stream, start), budget)


def end_of_record(stream: BinaryIO, start: int, end: int) -> int | None:
    """The end of the record at `start`, as the record tells it; None if it does not."""
    kind = _kind(stream, start)
    stream.seek(start)
    if kind == _WARC:
        return _stated_end(stream, end)
    return _unpacked_end(stream, end, kind) if kind else None


def has_record(stream: BinaryIO) -> bool:
    """True if a record, not necessarily an intact one, begins in the first part of a file."""
    budget = Budget()
    if _begins_record(stream, 0, _MAX_LOST, budget):
        return True
    return _search(stream, 1, _MAX_LOST, b"", budget) is not None


def _kind(stream: BinaryIO, offset: int) -> bytes:
    """The first bytes of the record at an offset; empty if it begins like no record."""
    stream.seek(offset)
    head = stream.read(len(_WARC))
    return _WARC if head == _WARC else magic(head)


def _unpacked_end(stream: BinaryIO, end: int, kind: bytes) -> int | None:
    """The end of the gzip member or zstd frame that begins at the position of a stream."""
    decoder = _decoder(kind)
    try:
        while chunk := stream.read(max(min(_STEP, end - stream.tell()), 0)):
            decoder.decompress(chunk)
            if decoder.eof:
                return stream.tell() - len(decoder.unused_data)
    except (zlib.error, zstandard.ZstdError):
        pass
    return None


def _decoder(kind: bytes) -> zlib._Decompress | zstandard.ZstdDecompressionObj:
    if kind == GZIP:
        return zlib.decompressobj(31)
    return zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()


def _stated_end(stream: BinaryIO, end: int) -> int | None:
    """The end of the uncompressed record that begins at the position of a stream.

    None if its length is missing, or leads to a place that is not between two records.
    """
    room, length = MAX_HEAD, -1
    while (line := stream.readline(max(min(room, end - stream.tell()), 0))).strip():
        room -= len(line)
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value[:20])
    behind = stream.tell() + length
    if length < 0 or not line or behind > end:
        return None
    stream.seek(behind)
    return behind if stream.read(min(2, end - behind)) in (b"\r\n", b"") else None


def _is_filling(stream: BinaryIO, start: int, end: int) -> bool:
    """True if a range has no bytes but those that may stand between records."""
    stream.seek(start)
    while chunk := stream.read(max(min(_CHUNK, end - stream.tell()), 0)):
        if chunk.strip(_FILLING):
            return False
    return True


def _begins_record(stream: BinaryIO, offset: int, end: int, budget: Budget) -> bool:
    """True if the bytes at an offset begin a record, which may be compressed."""
    stream.seek(offset)
    head = stream.read(max(min(_STEP, end - offset), 0))
    budget.left -= _STEP
    if kind := magic(head):
        stream.seek(offset)
        head = _first_bytes(stream, min(offset + _MAX_FIRST[kind], end), kind, budget)
    return _BEGINNING.match(head) is not None


def _first_bytes(stream: BinaryIO, end: int, kind: bytes, budget: Budget) -> bytes:
    """The first bytes that the gzip member or zstd frame at the position of a stream contains."""
    found = b""
    with suppress(zlib.error, zstandard.ZstdError):
        if kind == GZIP:
            packed = stream.read(max(end - stream.tell(), 0))
            budget.left -= len(packed)
            return zlib.decompressobj(31).decompress(packed, _STEP)
        decoder = _decoder(kind)
        while len(found) < _STEP and not decoder.eof:
            if not (chunk := stream.read(max(min(_STEP, end - stream.tell()), 0))):
                break
            found += decoder.decompress(chunk)
            budget.left -= len(chunk) + len(found)
    return found


def _search(stream: BinaryIO, start: int, end: int, kind: bytes, budget: Budget) -> int | None:
    """The first offset in a range at which a record begins that is compressed as `kind` says.

    If `kind` is empty, the record may be compressed in any way, or not at all.
    """
    while start < end:
        stream.seek(start)
        chunk = stream.read(min(_CHUNK, end - start))
        for found in _MARK.finditer(chunk):
            if budget.left <= 0:
                return None
            place = start + found.start()
            if found[0].startswith(kind) and _begins_record(stream, place, end, budget):
                return place
        if len(chunk) <= _MARK_LENGTH:
            break
        start += len(chunk) - _MARK_LENGTH
    return None
