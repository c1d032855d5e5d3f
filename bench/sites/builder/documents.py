"""Pages of packages as the builder reads them: text, language, links, numbers and identifiers."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag

import lxml.html
from lxml import etree

__all__ = ["LINK_ATTRIBUTES", "Document", "Facts", "base_of", "decode", "facts_of", "parse",
           "read_bytes", "resolve", "with_base"]  # fmt: skip

Document = Any
"""an element of lxml, which has no types"""
LINK_ATTRIBUTES = (("a", "href"), ("area", "href"), ("frame", "src"), ("iframe", "src"))
Shares = dict[str, int]
Detector = Callable[[str], tuple[str | None, Shares]]

_XML_ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9_\-]+)""")
_META_ENCODING = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_\-]+)""", re.I)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SPACE = re.compile(r"\s+")
_NO_TEXT = frozenset("script style pre code tt kbd samp noscript head svg nav".split())
"""elements whose text is no language, or is not the page's own"""
_ADDRESS = re.compile(r"https?://\S+|\S+@\S+")
_NUMBER = re.compile(r"[A-Za-z_]*\d[\w.]*")
_NAME = re.compile(r"[a-z]+[_/-][a-z_/-]{3,}")
_MOST_NUMBERS, _MOST_IMAGES, _MOST_NAMES = 400, 60, 300
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
_OTHER_SITE = re.compile(r"[a-z]+:|//")


class Facts(NamedTuple):
    """What is kept of a page."""

    title: str
    length: int
    """of its text, in characters"""
    lang: str | None
    """the language that its text is mostly in, as CLD2 names it"""
    shares: Shares
    """language -> percent of the text"""
    links: list[str]
    digest: str
    tokens: dict[str, int]
    """numbers, identifiers and pictures, which stay the same in a translation -> how often"""


def read_bytes(file: Path) -> bytes:
    """The content of a file, unpacked if it is compressed by gzip."""
    content = file.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def decode(content: bytes) -> tuple[str, str]:
    r"""The text of a page and its encoding: byte order mark, declarations, UTF-8, Latin-1.

    >>> decode(b'<meta charset="iso-8859-2">\xe6')
    ('<meta charset="iso-8859-2">ć', 'iso-8859-2')
    """
    if content[:3] == b"\xef\xbb\xbf":
        return content[3:].decode("utf-8", "replace"), "utf-8"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace"), "utf-16"
    found = (_XML_ENCODING.search(content[:200]), _META_ENCODING.search(content[:4096]))
    declared = [match[1].decode() for match in found if match]
    for errors, encodings in (("strict", [*declared, "utf-8"]), ("replace", declared)):
        for encoding in encodings:
            try:
                return content.decode(encoding, errors), encoding.lower()
            except (LookupError, UnicodeDecodeError):
                continue
    return content.decode("latin-1"), "latin-1"


def parse(text: str) -> Document | None:
    """The tree of a page; None if there is none."""
    cleaned = _CONTROL.sub(" ", _XML_DECLARATION.sub("", text))
    if not cleaned.strip():
        return None
    try:
        return lxml.html.document_fromstring(cleaned)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _text_parts(document: Document) -> Iterator[str]:
    walk = etree.iterwalk(document, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            if element.tag.lower() in _NO_TEXT:
                walk.skip_subtree()
            elif element.text:
                yield element.text
            continue
        if event == "end":
            yield " "
        if element.tail:
            yield element.tail


def _text_of(document: Document) -> str:
    return _SPACE.sub(" ", "".join(_text_parts(document))).strip()


def detect_language(text: str) -> tuple[str | None, Shares]:
    """The main language of a text and the percentage of each, by CLD2."""
    import pycld2

    plain = "".join(char for char in _ADDRESS.sub(" ", text) if char.isprintable())
    try:
        _, _, found = pycld2.detect(
            plain.encode("utf-8", "ignore"), isPlainText=True, bestEffort=True
        )
    except (pycld2.error, ValueError):
        return None, {}
    shares = {code: percent for _, code, percent, _ in found if code != "un"}
    return (found[0][1] if found[0][1] != "un" else None), shares


def facts_of(file: Path, detect: Detector = detect_language) -> Facts:
    """Read one page."""
    document = parse(decode(read_bytes(file))[0])
    if document is None:
        return Facts("", 0, None, {}, [], hashlib.md5(b"").hexdigest(), {})
    text = _text_of(document)
    lang, shares = detect(text)
    title = document.find(".//title")
    named = _SPACE.sub(" ", title.text_content()).strip() if title is not None else ""
    digest = hashlib.md5(text.encode()).hexdigest()
    tokens = dict(Counter(_tokens(document)))
    return Facts(named, len(text), lang, shares, list(_links(document)), digest, tokens)


def _links(document: Document) -> Iterator[str]:
    base = base_of(document)
    for tag, attribute in LINK_ATTRIBUTES:
        for element in document.iter(tag):
            if element.get(attribute):
                yield with_base(base, element.get(attribute).strip())


def _tokens(document: Document) -> Iterator[str]:
    everything = document.text_content()
    yield from _NUMBER.findall(everything)[:_MOST_NUMBERS]
    images = [os.path.basename(image.get("src") or "") for image in document.iter("img")]
    yield from images[:_MOST_IMAGES]
    yield from _NAME.findall(everything)[:_MOST_NAMES]


def base_of(document: Document) -> str:
    """The relative base address that a page declares; nothing if it declares none."""
    element = document.find(".//base")
    base = (element.get("href") if element is not None else "") or ""
    return "" if _OTHER_SITE.match(base) else base


def with_base(base: str, link: str) -> str:
    """A link as it would be without the base address of its page.

    >>> with_base("../x/", "y.html"), with_base("../x/", "/y.html"), with_base("", "y.html")
    ('../x/y.html', '/y.html', 'y.html')
    """
    if not base or link.startswith(("#", "/")) or _SCHEME.match(link):
        return link
    return (base if base.endswith("/") else f"{os.path.dirname(base)}/") + link


def resolve(page: str, link: str) -> tuple[str, str] | None:
    """The path that a link of a page leads to, and its fragment; None for a link to elsewhere.

    >>> resolve("en/a/b.html", "../c.html#d"), resolve("en/b.html", "/x/"), resolve("a", "#b")
    (('en/c.html', 'd'), ('x/', ''), None)
    """
    link = link.strip()
    if not link or link.startswith(("#", "//")) or _SCHEME.match(link):
        return None
    bare, fragment = urldefrag(link)
    path = unquote(bare.split("?")[0])
    slash = "/" if path.endswith("/") else ""
    if path.startswith("/"):
        return os.path.normpath(path).lstrip("/") + slash, fragment
    slash = "/" if path in ("", ".", "..") else slash
    found = os.path.normpath(os.path.join(os.path.dirname(page), path)) + slash
    is_root = found.startswith("../") or found in (".", "./")
    return "" if is_root else found, fragment
