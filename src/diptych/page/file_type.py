"""Recognise files that are neither HTML nor text by their first bytes."""

from __future__ import annotations

import codecs

_HEAD = 4_096
_MAX_CONTROLS = 0.05  # share of control characters in a text; compressed data has 0.1
_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"BM", "an image"),
    (b"II*\0", "an image"),
    (b"MM\0*", "an image"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"{\\rtf", "an RTF document"),
    (b"WARC/", "a WARC archive"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"\x7fELF", "a program"),
)
_UNICODE = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_CONTROLS = bytes({*range(32)} - set(b"\t\n\v\f\r\x1b"))


def unreadable_type(data: bytes) -> str:
    r"""The type of a file without readable text, such as "a PDF"; empty for text and HTML.

    >>> unreadable_type(b"%PDF-1.7 ..."), unreadable_type(b"\0\1\2"), unreadable_type(b" \n")
    ('a PDF', 'a binary file', 'an empty file')
    >>> unreadable_type(b"<p>Text</p>"), unreadable_type("BMW fährt".encode("utf-16"))
    ('', '')
    """
    head = data[:_HEAD]
    if not data.strip():
        return "an empty file"
    if head.startswith(_UNICODE):
        return ""
    controls = sum(map(head.count, (bytes([byte]) for byte in _CONTROLS)))
    is_binary = controls > _MAX_CONTROLS * len(head)
    for mark, name in _MARKS:
        if head.startswith(mark) and (is_binary or len(mark) > 2):
            return name
    return "a binary file" if is_binary else ""
