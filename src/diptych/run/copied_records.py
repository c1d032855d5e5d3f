"""Copy WARC records from other archives: check a record, and add its origin to its header.

The fields `WARC-Source-URI` and `WARC-Source-Range` name the file that a record was copied from, as
cdx_toolkit does; all other fields, such as the date of the capture, are kept.
"""

from __future__ import annotations

import io
import re
import zlib
from typing import NamedTuple

from isal import igzip

from diptych.errors import ArchiveError
from diptych.reason import Reason
from diptych.run.warc import COMPRESSION, read_at
from diptych.text.digests import body_digest
from diptych.types import Response, Url

MAX_RECORD = 64_000_000  # bytes of a record, decompressed; Common Crawl cuts pages at 5 MB
_END = b"\r\n\r\n"
_TYPE = re.compile(rb"^WARC-Type:[ \t]*response[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_SOURCE = re.compile(rb"^WARC-Source-", re.IGNORECASE | re.MULTILINE)


class Capture(NamedTuple):
    """A page of a crawl in an index of archives, and the place of its record."""

    url: Url
    at: str
    """time of the capture, 14 digits: 20260920103059"""
    lang: str
    """code of its language in the index; empty if unknown"""
    digest: str
    """SHA-1 digest of the body in base 32; empty if unknown"""
    file: str
    """path of the archive"""
    offset: int
    length: int


class CopiedRecord(NamedTuple):
    """A checked record to append to an archive, and the response in it."""

    data: bytes
    response: Response


def copy_record(member: bytes, capture: Capture, source: str) -> CopiedRecord | Reason:
    """Check that bytes are the record of a capture, and add its origin; the reason if they are not.

    `source` is the URL of the archive that the bytes are from.
    """
    raw = _inflated(member)
    if isinstance(raw, Reason):
        return raw
    end = raw.find(_END)
    head = raw[:end]
    length = _LENGTH.search(head)
    if not head.startswith(b"WARC/1.") or not _TYPE.search(head) or _SOURCE.search(head):
        return Reason.NO_RECORD
    if length is None or len(raw) != end + len(_END) + int(length[1]) + len(_END):
        return Reason.UNREADABLE
    last = capture.offset + capture.length - 1
    origin = f"\r\nWARC-Source-URI: {source}\r\nWARC-Source-Range: bytes={capture.offset}-{last}"
    record = head + origin.encode() + raw[end:]
    try:
        response = read_at(io.BytesIO(record), 0)
    except ArchiveError:
        return Reason.UNREADABLE
    if response is None or response.url != capture.url or response.status != 200:
        return Reason.NO_RECORD
    if capture.digest and body_digest(response.body) != f"sha1:{capture.digest}":
        return Reason.OTHER_CONTENT
    data: bytes = igzip.compress(record, COMPRESSION, mtime=0)
    return CopiedRecord(data, response)


def _inflated(member: bytes) -> bytes | Reason:
    """Decompress exactly one gzip member of limited size."""
    inflater = zlib.decompressobj(31)
    try:
        raw = inflater.decompress(member, MAX_RECORD + 1)
    except zlib.error:
        return Reason.UNREADABLE
    if len(raw) > MAX_RECORD:
        return Reason.TOO_LARGE
    return raw if inflater.eof and not inflater.unused_data else Reason.UNREADABLE
