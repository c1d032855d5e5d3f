"""Prepare URLs for the language model: decode and lower-case them, and pack them into one array."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

import numpy as np

from diptych.kernels.tables import ends_of
from diptych.kernels.url_lang import Packed

MAX_LENGTH = 2048  # characters of a URL that are read; see text.urls


def pack(urls: Sequence[str]) -> Packed:
    """Clean and concatenate URLs for the language model."""
    cleaned = [
        url
        if url.isascii() and "%" not in url and "xn--" not in url and len(url) <= MAX_LENGTH
        else clean(url)
        for url in urls
    ]
    text = "".join(cleaned).encode("utf-8")
    lengths = list(map(len, cleaned))
    if len(text) != sum(lengths):
        lengths = [len(url.encode("utf-8")) for url in cleaned]
    offsets = ends_of(np.array(lengths, np.int64))
    return Packed(np.frombuffer(text + b"\0", np.uint8), offsets)  # never an empty array


def clean(url: str) -> str:
    """Truncate a URL, decode its escapes and punycode, and convert it to lower case.

    >>> clean("http://xn--bcher-kva.example/Gr%C3%B6%C3%9Fe/100%")
    'http://bücher.example/größe/100%'
    >>> clean("http://example.org/%E9t%E9")
    'http://example.org/été'
    """
    url = url[:MAX_LENGTH]
    if "%" in url:
        raw = unquote_to_bytes(url.encode("utf-8", "replace"))
        try:
            url = raw.decode("utf-8")
        except UnicodeDecodeError:
            url = raw.decode("latin-1")  # common in escapes before UTF-8
    if "xn--" in url:
        scheme, separator, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        url = f"{scheme}{separator}{'.'.join(map(_readable, host.split('.')))}{slash}{path}"
    lowered = unicodedata.normalize("NFC", url.lower())
    return lowered.encode("utf-8", "replace").decode("utf-8")


def _readable(label: str) -> str:
    r"""Decode a host label in punycode; any other label is returned unchanged.

    >>> _readable("xn--bcher-kva"), _readable("xn--\\x00"), _readable("www")
    ('bücher', 'xn--\\x00', 'www')
    """
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode") or label
    except (UnicodeError, OverflowError):
        return label
