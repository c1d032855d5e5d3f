"""Decompress response bodies (gzip, brotli, zstd) and detect HTML.

Decoding never raises an exception; it returns whatever could be decoded, and the name of the
fault.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

_LIMIT = 20_000_000  # bytes; larger documents are data rather than pages
_CHUNK = 16_384  # bytes of a gzip stream at a time
_PIECE = 65_536  # bytes of output at a time
_ZSTD_STEP = 256  # bytes of input at a time: 4 bytes may stand for a block of 128 kB
_MAX_ENCODINGS = 4  # a server that compresses five times is an attack
_GZIP_MAGIC = b"\x1f\x8b"

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_UNTOLD_TYPES = frozenset(
    {"", "*/*", "application/octet-stream", "application/xml", "text/plain", "text/xml"}
)
_HTML_START = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|frameset|div|table|p|h1)\b",
    re.IGNORECASE | re.DOTALL,
)

# Images, documents, fonts, sound, programs and compressed files that are served as pages.
_OTHER_FILES = (
    b"\x89PNG", b"GIF8", b"\xff\xd8", b"RIFF", b"%PDF-", b"{\\rtf", b"\xd0\xcf\x11\xe0", b"wOFF",
    b"wOF2", b"ID3", b"OggS", b"\x7fELF", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh",
    b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!",
)  # fmt: skip

_Decoder = Callable[[bytes, int], tuple[bytes, str]]


def decompress(body: bytes, content_encoding: str, *, limit: int = _LIMIT) -> tuple[bytes, str]:
    """Decode a body according to its Content-Encoding header, and return the body and the fault.

    The fault is empty, `encoding_lies` (the body does not have that encoding and is returned
    unchanged), `truncated`, `too_large` or `unknown_encoding`.

    >>> import gzip
    >>> decompress(gzip.compress(b"Bonjour"), "gzip")
    (b'Bonjour', '')
    >>> decompress(b"Bonjour", "gzip")
    (b'Bonjour', 'encoding_lies')
    """
    if not content_encoding:
        return (body, "") if len(body) <= limit else (body[:limit], "too_large")
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name and name not in ("identity", "none")]
    if len(names) > _MAX_ENCODINGS:
        return body[:limit], "unknown_encoding"
    first_fault = ""
    for name in reversed(names):
        fault = ""
        if name not in _DECODERS:
            fault = "unknown_encoding"
        elif body:
            body, fault = _DECODERS[name](body, limit)
        first_fault = first_fault or fault
    if len(body) > limit:
        return body[:limit], first_fault or "too_large"
    return body, first_fault


def _gunzip(body: bytes, limit: int) -> tuple[bytes, str]:
    if not body.startswith(_GZIP_MAGIC):
        return body, "encoding_lies"
    return _inflate(body, limit, window=zlib.MAX_WBITS | 16)


def _deflate(body: bytes, limit: int) -> tuple[bytes, str]:
    """Inflate a zlib stream, or the raw deflate stream that some servers send."""
    if body.startswith(_GZIP_MAGIC):
        return _gunzip(body, limit)
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        data, fault = _inflate(body, limit, window=window)
        if fault != "encoding_lies":
            return data, fault
    return body, "encoding_lies"


def _inflate(body: bytes, limit: int, *, window: int) -> tuple[bytes, str]:
    """Inflate a stream of one or more gzip members, ignoring data after the last member."""
    view, parts = memoryview(body), list[bytes]()
    room, start = limit, 0
    while start < len(body):
        data, fault, length = _member(view[start:], room + 1, window)
        parts.append(data)
        room -= len(data)
        if room < 0:
            return b"".join(parts)[:limit], "too_large"
        if fault == "encoding_lies" and start == 0:
            return body, fault
        if fault:
            return b"".join(parts), "truncated"
        start += length
        if not body.startswith(_GZIP_MAGIC, start):
            break
    return b"".join(parts), ""


def _member(body: memoryview, room: int, window: int) -> tuple[bytes, str, int]:
    """Inflate one gzip member to at most `room` bytes; return them, the fault and its length.

    It is read piece by piece: zlib copies all that follows a member, and a million members may
    follow.
    """
    stream = zlib.decompressobj(window)
    parts: list[bytes] = []
    left, end = room, 0
    try:
        while not stream.eof and left > 0 and (piece := body[end : end + _CHUNK]):
            parts.append(stream.decompress(piece, left))
            left -= len(parts[-1])
            end += len(piece)
    except zlib.error:
        # The call failed as a whole: retry in small steps; single bytes would be slow.
        data = _salvage(body, room, window)
        return data, "truncated" if data else "encoding_lies", len(body)
    return b"".join(parts), "" if stream.eof else "truncated", end - len(stream.unused_data)


def _salvage(body: memoryview, room: int, window: int) -> bytes:
    """Decompress a damaged stream up to the damage, but not more than `room` bytes.

    `window` is the `wbits` argument of zlib.
    """
    stream = zlib.decompressobj(window)
    parts: list[bytes] = []
    try:
        for start in range(0, len(body), 256):
            parts.append(stream.decompress(body[start : start + 256], room))
            room -= len(parts[-1])
            if room <= 0 or stream.eof:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _brotli(body: bytes, limit: int) -> tuple[bytes, str]:
    """Decode a brotli stream in small pieces of output: a kilobyte may become gigabytes."""
    import brotli

    stream = brotli.Decompressor()
    parts: list[bytes] = []
    room = limit + 1
    try:
        while room > 0 and (part := stream.process(body, output_buffer_limit=min(_PIECE, room))):
            parts.append(part)
            room -= len(part)
            body = b""  # the stream holds the rest
    except brotli.error:
        return (b"".join(parts), "truncated") if parts else (body, "encoding_lies")
    fault = "" if stream.is_finished() else "truncated"
    return b"".join(parts)[:limit], "too_large" if room <= 0 else fault


def _zstd(body: bytes, limit: int) -> tuple[bytes, str]:
    """Decode a zstd frame in small pieces of input, each of which becomes 8 MB at most."""
    import zstandard

    # At most 2**27 bytes of window: a header may request more memory than the machine has.
    stream = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
    parts: list[bytes] = []
    room = limit
    for start in range(0, len(body), _ZSTD_STEP):
        try:
            parts.append(stream.decompress(body[start : start + _ZSTD_STEP]))
        except zstandard.ZstdError:
            return (b"".join(parts), "truncated") if room < limit else (body, "encoding_lies")
        room -= len(parts[-1])
        if room < 0:
            return b"".join(parts)[:limit], "too_large"
        if stream.eof:
            return b"".join(parts), ""
    return b"".join(parts), "truncated"


_DECODERS: dict[str, _Decoder] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def is_html(content_type: str, body_start: bytes) -> bool:
    """True if a body is HTML by its declared type or, if that is generic, by its first bytes.

    >>> is_html("text/html; charset=utf-8", b""), is_html("", b"<!DOCTYPE html>")
    (True, True)
    >>> is_html("application/pdf", b"<html>")
    False
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind in _HTML_TYPES:
        return not body_start.startswith(_OTHER_FILES)
    return kind in _UNTOLD_TYPES and _HTML_START.match(body_start[:4096]) is not None
