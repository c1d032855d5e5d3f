"""Decompress response bodies (gzip, brotli, zstd) and detect HTML.

Decoding never raises an exception; it returns whatever could be decoded, and the name of the
fault.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

_LIMIT = 20_000_000  # bytes; larger documents are data rather than pages
_CHUNK = 65_536  # bytes of compressed input at a time, so that a bomb is noticed early
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
    parts: list[bytes] = []
    room = limit
    while body:
        stream = zlib.decompressobj(window)
        fault = ""
        try:
            parts.append(stream.decompress(body, room + 1))
        except zlib.error:
            # The call failed as a whole: retry in small steps; single bytes would be slow.
            parts.append(_salvage(body, room + 1, window))
            fault = "truncated" if parts[-1] or len(parts) > 1 else "encoding_lies"
        room -= len(parts[-1])
        if room < 0:
            return b"".join(parts)[:limit], "too_large"
        if fault:
            return (body if fault == "encoding_lies" else b"".join(parts)), fault
        if not stream.eof:
            return b"".join(parts), "truncated"
        body = stream.unused_data if stream.unused_data.startswith(_GZIP_MAGIC) else b""
    return b"".join(parts), ""


def _salvage(body: bytes, room: int, window: int) -> bytes:
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
    import brotli

    stream = brotli.Decompressor()
    return _in_chunks(body, limit, stream.process, lambda: bool(stream.is_finished()), brotli.error)


def _zstd(body: bytes, limit: int) -> tuple[bytes, str]:
    import zstandard

    # At most 2**27 bytes of window: a header may request more memory than the machine has.
    stream = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
    return _in_chunks(body, limit, stream.decompress, lambda: stream.eof, zstandard.ZstdError)


def _in_chunks(
    body: bytes,
    limit: int,
    feed: Callable[[bytes], bytes],
    finished: Callable[[], bool],
    error: type[Exception],
) -> tuple[bytes, str]:
    """Feed a body to a decoder chunk by chunk until it finishes, fails or reaches the limit.

    The result is the decoded body and the fault, as in `decompress`.
    """
    # The output of a small piece is bounded, so a bomb is stopped soon after the limit.
    step = min(_CHUNK, max(256, limit // 1000))
    parts: list[bytes] = []
    size = 0
    for start in range(0, len(body), step):
        try:
            parts.append(feed(body[start : start + step]))
        except error:
            return (b"".join(parts), "truncated") if size else (body, "encoding_lies")
        size += len(parts[-1])
        if size > limit:
            return b"".join(parts)[:limit], "too_large"
        if finished():
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
