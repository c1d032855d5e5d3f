"""WARC records: compose them for writing, read one at an offset, scan a whole file.

Records are read with FastWARC but composed here, from headers and a block.  Composing a record
directly takes 0.18 ms instead of the library's 0.44 ms (`docs/decisions/0002`).
"""

from __future__ import annotations

import io
import re
import uuid
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, NamedTuple

import zstandard
from fastwarc.stream_io import ChunkedReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import igzip

from diptych._version import VERSION
from diptych.errors import ArchiveError
from diptych.files import parser_errors, reading, reason_of
from diptych.run import wacz
from diptych.text.digests import body_digest
from diptych.text.urls import normalise
from diptych.types import Response, Url

COMPRESSION = 2  # ISA-L: a fifth of zlib's time at the same size
_TRUNCATED = {"content_type": "unspecified"}  # WARC 1.1: length, time, disconnect, unspecified
_HOP_HEADERS = frozenset({"transfer-encoding", "connection", "keep-alive"})


_COMPRESSED_AS_A_WHOLE = (
    "it is compressed as a whole, not record by record; repair it with: warcio recompress OLD NEW"
)
_WITH_DICTIONARY = (
    "it is compressed with a dictionary of zstd; compress each record with gzip, or with zstd"
    " without a dictionary"
)
_KINDS = (WarcRecordType.response, WarcRecordType.resource)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # IIPC's zstd for WARC: the frame before the first record
_CHUNK = 65_536  # bytes read at a time
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()  # the latest date that can be written
_LINE_BREAKS = re.compile(r"[\r\n\0]+[ \t]*")
_LATIN_1 = re.compile(r"[\0-\xff]*\Z")


class Pointer(NamedTuple):
    """Location of a WARC record: the file's id in the store, and the offset and length in bytes."""

    warc: int
    offset: int
    length: int


class ArchivedResponse(NamedTuple):
    """A response in a scanned archive, and its offset."""

    offset: int
    response: Response


class Checked(NamedTuple):
    """A record of an HTTP response, and whether its content has the digest that it states."""

    offset: int
    url: str
    is_whole: bool


class Origin(NamedTuple):
    """The archive from which a record was copied, and its offset there."""

    url: str
    offset: int


def compose(response: Response, origin: Origin | None = None) -> bytes:
    """Encode a response as one compressed `response` record with digests.

    `origin` is stored in the header that `cdx_toolkit` uses for copies too.
    """
    fields = {
        "WARC-Type": "response",
        "WARC-Date": _date(response.fetched_at),
        "WARC-Target-URI": response.url,
        "WARC-Payload-Digest": body_digest(response.body),
        "Content-Type": "application/http; msgtype=response",
    }
    if response.ip:
        fields["WARC-IP-Address"] = response.ip
    if response.truncated:
        fields["WARC-Truncated"] = _TRUNCATED.get(response.truncated, response.truncated)
    if origin is not None:
        fields["WARC-Source-URI"] = _LINE_BREAKS.sub(" ", origin.url)
        fields["WARC-Source-Range"] = f"bytes={origin.offset}-"
    return _compose(fields, _http_head(response) + response.body)


def compose_revisit(response: Response, refers_to: float) -> bytes:
    """Encode a response without a body (304) as a `revisit` record (WARC 1.1, 6.7.3).

    `refers_to` is the time of the response that the server says is still valid.
    """
    fields = {
        "WARC-Type": "revisit",
        "WARC-Date": _date(response.fetched_at),
        "WARC-Target-URI": response.url,
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        "WARC-Refers-To-Target-URI": response.url,
        "WARC-Refers-To-Date": _date(refers_to),
        "Content-Type": "application/http; msgtype=response",
    }
    if response.ip:
        fields["WARC-IP-Address"] = response.ip
    return _compose(fields, _http_head(response))


def compose_info(*, agent: str, name: str, now: float) -> bytes:
    """Compose the `warcinfo` record at the start of a file."""
    about = (
        f"software: diptych/{VERSION}\r\nformat: WARC File Format 1.1\r\n"
        f"http-header-user-agent: {agent}\r\n"
    )
    fields = {
        "WARC-Type": "warcinfo",
        "WARC-Date": _date(now),
        "WARC-Filename": name,
        "WARC-Block-Digest": body_digest(about.encode()),
        "Content-Type": "application/warc-fields",
    }
    return _compose(fields, about.encode())


def _compose(fields: dict[str, str], block: bytes) -> bytes:
    fields["WARC-Record-ID"] = f"<urn:uuid:{uuid.uuid4()}>"
    fields["Content-Length"] = str(len(block))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    record = b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"
    compressed: bytes = igzip.compress(record, COMPRESSION, mtime=0)
    return compressed


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _http_head(response: Response) -> bytes:
    """The HTTP status line and headers to store for a response, without hop-by-hop headers."""
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {response.status} {phrase}"]
    has_length = False
    for name, value in response.headers:
        lower = name.lower()
        has_length = has_length or lower == "content-length"
        if lower not in _HOP_HEADERS:
            lines.append(f"{name}: {_LINE_BREAKS.sub(' ', value)}")
    if not has_length and not response.truncated:
        lines.append(f"Content-Length: {len(response.body)}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    # Headers are passed around as Latin-1, so their bytes are restored exactly.
    return head.encode("latin-1" if _LATIN_1.match(head) else "utf-8", "surrogateescape")


def check_archive(path: Path) -> None:
    """Raise ArchiveError if a file does not begin like a WARC file, and is not a WACZ file."""
    with reading(path, error=ArchiveError), path.open("rb") as stream:
        head = stream.read(_CHUNK)
    if not head:
        raise ArchiveError(f"{path} is empty")
    if head.startswith(wacz.SIGNATURE):
        with reading(path, "WACZ file", error=ArchiveError):
            wacz.members(path)
        return
    if head.startswith(_DICTIONARY):
        raise ArchiveError(f"cannot read {path}: {_WITH_DICTIONARY}")
    if head.startswith(_GZIP):
        with suppress(zlib.error):
            head = zlib.decompressobj(31).decompress(head, _CHUNK)
    if head.startswith(_ZSTD):
        with suppress(zstandard.ZstdError):
            head = zstandard.ZstdDecompressor().stream_reader(head).read(_CHUNK)
    if not head.lstrip().startswith(b"WARC/"):
        raise ArchiveError(f"{path} is not a WARC file")


def read_at(stream: BinaryIO, offset: int) -> Response | None:
    """The response whose record starts at an offset; None if there is no such record."""
    place = f"the record at byte {offset:,} of {getattr(stream, 'name', 'an archive')}"
    with reading(place, error=ArchiveError):
        stream.seek(offset)
        for record in ArchiveIterator(stream, _KINDS[0] | _KINDS[1], strict_mode=False):
            return _response(record)
    return None


def scan(path: Path) -> Iterator[ArchivedResponse]:
    """Yield all HTTP responses in a WARC or WACZ file, in order.

    If the archive is truncated, raise an ArchiveError after yielding everything before that point.
    """
    state = _Progress()
    try:
        with path.open("rb") as stream:
            is_zip = stream.read(len(wacz.SIGNATURE)) == wacz.SIGNATURE
            size = stream.seek(0, 2)
            parts = wacz.members(path) if is_zip else [wacz.Member("", 0, size)]
            for part in parts:
                stream.seek(part.start)
                end = part.end if is_zip else None
                yield from _scan(stream, part.start, end, state)
    except parser_errors() as error:
        said = (
            f"damaged or truncated after record {state.found:,}"
            if state.found
            else "not a readable WARC file"
        )
        raise ArchiveError(f"{path} is {said}: {reason_of(error)}") from error


def records(path: Path, size: int) -> Iterator[Checked]:
    """Yield all records of HTTP responses in the first `size` bytes of a WARC file."""
    kinds = WarcRecordType.response | WarcRecordType.revisit
    with reading(path, error=ArchiveError), path.open("rb") as stream:
        for record in ArchiveIterator(wacz.Window(stream, 0, size), kinds):
            url = normalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
            has_digest = "WARC-Payload-Digest" in record.headers
            is_whole = not has_digest or record.verify_payload_digest(consume=True)
            yield Checked(record.stream_pos, url or "", is_whole)


@dataclass(slots=True)
class _Progress:
    """The number of records that have been read from an archive."""

    found: int = 0


def _scan(
    stream: BinaryIO, start: int, end: int | None, state: _Progress
) -> Iterator[ArchivedResponse]:
    """Yield the responses in the WARC file that begins at `start` and ends before `end`."""
    first, last = state.found, -1
    source = stream if end is None else wacz.Window(stream, start, end)
    for record in ArchiveIterator(source, strict_mode=False):
        place = record.stream_pos
        is_second = state.found == first + 1
        if place == last or (is_second and _is_inside_a_member(stream, start, place)):
            raise ValueError(_COMPRESSED_AS_A_WHOLE)
        if record.record_type in _KINDS:
            response = _response(record)
            if response is not None:
                yield ArchivedResponse(place, response)
        state.found, last = state.found + 1, place
    if state.found == first:
        raise EOFError("it contains no records")
    if _has_more(stream, last, end):
        raise EOFError("the last record is truncated")


def _is_inside_a_member(stream: BinaryIO, start: int, offset: int) -> bool:
    """True if an archive is compressed, but no gzip member or zstd frame starts at this offset."""
    position = stream.tell()
    stream.seek(start)
    magic = _magic(stream.read(4))
    stream.seek(offset)
    own = _magic(stream.read(4))
    stream.seek(position)
    return bool(magic) and own != magic


def _magic(head: bytes) -> bytes:
    """The first bytes of a compressed record; empty if it is not compressed."""
    return next((magic for magic in (_GZIP, _ZSTD) if head.startswith(magic)), b"")


def _has_more(stream: BinaryIO, last: int, end: int | None) -> bool:
    """True if data follows the last record that was read, or if that record is incomplete.

    `end` is where the archive ends; None means with the stream.
    """
    end = stream.seek(0, 2) if end is None else end
    stream.seek(last)
    magic = _magic(stream.read(4))
    stream.seek(last)
    if magic == _ZSTD:
        return False  # FastWARC raises an error for an incomplete frame
    if magic:
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


def _response(record: WarcRecord) -> Response | None:
    """Convert a record to a response with a normalised URL; None if the URL is not HTTP."""
    url = normalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
    if url is None:
        return None
    body = record.reader.read()
    declared = record.headers.get("Content-Length") or ""
    if not declared.strip().isdigit() or len(body) < record.content_length:
        raise EOFError(f"the record for {url} is truncated")
    headers = _headers(record)
    if any(
        name.lower() == "transfer-encoding" and "chunked" in value.lower()
        for name, value in headers
    ):
        body = _unchunked(body)
    status = record.http_headers.status_code if record.http_headers else 200
    return Response(
        url=Url(url),
        status=status or 200,
        headers=headers,
        body=body,
        fetched_at=_seconds(record.record_date),
        ip=record.headers.get("WARC-IP-Address") or "",
        truncated=record.headers.get("WARC-Truncated") or "",
    )


def _seconds(date: datetime | None) -> float:
    """The Unix time of a record; 0 if its date is missing or out of range."""
    seconds = date.timestamp() if date else 0.0
    return seconds if 0 <= seconds <= _LATEST else 0.0


def _unchunked(body: bytes) -> bytes:
    """Decode a body with chunked encoding; other bodies are returned unchanged."""
    try:
        return ChunkedReader(io.BytesIO(body)).read()
    except (ValueError, OSError):
        return body


def _headers(record: WarcRecord) -> tuple[tuple[str, str], ...]:
    if record.http_headers:
        return tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in record.http_headers.items_bytes()
        )
    return (("Content-Type", record.headers.get("Content-Type") or ""),)
