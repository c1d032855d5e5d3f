"""Determine a page's character set from its byte order mark, header, declaration or content.

These sources are tried in the same order as in browsers, but wrong declarations are overruled.
"""

from __future__ import annotations

import re

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from diptych.files import shipped_table

_DETECT_BYTES = 20_000  # bytes passed to chardet, which is slow
_FALLBACK = "cp1252"  # browsers assume it for undeclared Western pages
_MAX_BAD = 0.001  # share of bad bytes above which a declared charset is rejected
_MAX_MIXED = 0.25  # unless fewer of the characters beyond ASCII are bad: a page may be a mixture

# Character sets allowed for pages (WHATWG Encoding Standard).  Python has other codecs, such as
# base64 or unicode_escape, that a hostile header must not be able to select.
_KNOWN = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|utf-32(?:-[lb]e)?|cp\d{3,4}|iso8859-\d{1,2}|koi8-[rut]|mac-\w+"
    r"|gb18030|big5|big5hkscs|euc_jp|euc_jis_2004|iso2022_(?:jp|kr)\w*|hz|shift_jis\w*|euc_kr|johab"
    r"|tis-620|kz1048|ptcp154"
)
# Labels of the Encoding Standard that neither Python nor w3lib resolves.
_WEB_ALIASES = dict(shipped_table("diptych.page", "charsets.tsv"))
# Control characters, except tab, line feed, form feed, carriage return, and escape, which some
# multi-byte character sets need.
_CONTROLS = bytes(code for code in range(32) if code not in (9, 10, 12, 13, 27)) + b"\x7f"
_CONTROL_CHARACTERS = dict.fromkeys([*_CONTROLS, 27])
_WIDE = ("utf-16", "utf-32")


def decode(body: bytes, content_type: str) -> tuple[str, str]:
    r"""Decode a body, and return its text and the character set used.

    >>> decode("Müller".encode(), "text/html; charset=utf-8")
    ('Müller', 'utf-8')
    >>> decode("Müller".encode(), "text/html; charset=iso-8859-1")
    ('Müller', 'utf-8')
    >>> decode(b"M\xfcller", "text/html; charset=iso-8859-1")
    ('Müller', 'cp1252')
    """
    marked, mark = read_bom(body)
    if marked is not None and mark is not None:
        return _read(body[len(mark) :], marked), marked
    declared = _declared(body, content_type)
    if declared is None or declared == "utf-8":
        text = _strict(body)
        if text is not None:
            return text, "utf-8"
        if declared is None or _is_broken(_read(body, declared), len(body)):
            charset = _detected(body) or declared or _FALLBACK
            return _read(body, charset), charset
        return _read(body, declared), declared
    if not body.isascii() or declared.startswith(_WIDE):
        overruled = _overruling(body, declared)
        if overruled is not None:
            return overruled, "utf-8"
    return _read(body, declared), declared


def _declared(body: bytes, content_type: str) -> str | None:
    """The codec that the header or the page declares, or None if it is missing or unknown."""
    charset = http_content_type_encoding(content_type) or _alias(content_type)
    if charset is None or not _KNOWN.fullmatch(charset):
        charset = html_body_declared_encoding(body)
        if charset is None and b"charset" in body[:4096]:
            charset = _alias(body[:4096].decode("latin-1"))
        elif charset is not None and charset.startswith(_WIDE):
            charset = "utf-8"  # the declaration was readable as ASCII, so it cannot be true
    return charset if charset and _KNOWN.fullmatch(charset) else None


_CHARSET_LABEL = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


def _alias(declaration: str) -> str | None:
    """The codec for a charset label that w3lib does not know, or None.

    `declaration` is a Content-Type header or the start of a page.

    >>> _alias("text/html; charset=x-cp1251")
    'cp1251'
    """
    found = _CHARSET_LABEL.search(declaration)
    return _WEB_ALIASES.get(found[1].lower()) if found else None


def _strict(body: bytes) -> str | None:
    """Decode a body as UTF-8, or return None if it is not valid UTF-8."""
    try:
        return body.translate(None, _CONTROLS).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _overruling(body: bytes, declared: str) -> str | None:
    """The body decoded as UTF-8 if the declared charset must be wrong, otherwise None.

    A body that is valid UTF-8 with non-ASCII characters is almost never in another charset.  A
    declaration of UTF-16 is also wrong if the body contains no zero bytes.
    """
    if declared.startswith("iso2022") or declared == "hz":
        return None
    text = _strict(body)
    if text is None or (declared.startswith(_WIDE) and b"\0" in body[:4096]):
        return None
    return text


def _read(body: bytes, charset: str) -> str:
    """Decode a body, replacing invalid bytes, and remove control characters."""
    if charset in _WIDE:
        charset += "-le"  # WHATWG: little-endian if there is no byte order mark
    if charset.startswith((*_WIDE, "iso2022", "hz")):
        text = body.decode(charset, "replace")
        return text.translate(_CONTROL_CHARACTERS)
    body = body.translate(None, _CONTROLS)
    if charset == "gb18030":
        return body.decode(charset, "w3lib_gb18030_replace")
    return body.decode(charset, "replace")


_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")  # quotes and dashes in cp125x, controls in ISO
_WINDOWS = {"iso8859-15": "cp1252", "iso8859-2": "cp1250", "iso8859-5": "cp1251"}


def _is_broken(text: str, size: int) -> bool:
    """True if so much of a body of `size` bytes is invalid that it must be in another charset."""
    bad = text.count("\ufffd")
    if bad <= max(1, size * _MAX_BAD):
        return False
    return bad > _MAX_MIXED * (len(text) - len(text.encode("ascii", "ignore")))


def _detected(body: bytes) -> str | None:
    """The charset that chardet detects for a body that is neither ASCII nor UTF-8, or None."""
    import chardet

    # Markup is ASCII in all charsets: start the sample near the first non-ASCII byte.
    first = _NOT_ASCII.search(body)
    start = max(0, first.start() - 200) if first else 0
    sample = body[start : start + _DETECT_BYTES]
    name = chardet.detect(sample).get("encoding")
    charset = resolve_encoding(name) if name else None
    if charset is None or not _KNOWN.fullmatch(charset):
        return None
    if charset.startswith("iso8859") and _WINDOWS_ONLY.search(sample):
        return _WINDOWS.get(charset, charset)
    return charset
