"""Links of a page with their contexts (Barbosa et al. 2011), and what language they lead to.

The language of a target is taken from wherever sites write it: `hreflang`, `lang`, and the class
names that language switchers of content systems put on the link or the list item around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from diptych.text.urls import resolve
from diptych.types import Link, Url

__all__ = [
    "AROUND",
    "Attributes",
    "OpenLink",
    "fold",
    "header_links",
    "last_words",
    "link_element",
    "meta_refresh",
    "switcher_lang",
]

Attributes = Mapping[str, str | None]

_FEEDS = re.compile(r"rss|atom|\bxml\b|json|oembed", re.IGNORECASE)
# Polylang: lang-item lang-item-54 lang-item-fr; WPML: wpml-ls-item wpml-ls-item-fr
_SWITCHER_CLASS = re.compile(
    r"(?:^|\s)(?:lang-item|wpml-ls-item)-([a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8})*)(?=\s|$)"
)
_NOT_A_LANG = frozenset({"legacy", "first", "last", "current"})
_REFRESH = re.compile(r"""^\s*[\d.]*\s*[;,]?\s*(?:url\s*=)\s*(['"]?)(.+?)\1\s*$""", re.IGNORECASE)
_HEADER_LINK = re.compile(
    r"""<([^<>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)"""
)
_HEADER_PARAMETER = re.compile(
    r""";\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?"""
)
_MAX_HEADER = 20_000  # characters; Google accepts some hundred alternates in a header
AROUND = 70  # characters on each side: some ten words
_MAX_CONTEXT = 300  # characters of anchor, alt and src; whole cards are wrapped in links


class OpenLink:
    """A link whose contexts are still being read: offsets into the text of the run it is in."""

    __slots__ = ("alts", "end", "hreflang", "path", "pieces", "sources", "start", "url")

    def __init__(self, url: Url, hreflang: str, path: str, start: int) -> None:
        self.url = url
        self.hreflang = hreflang
        self.path = path
        self.start = start
        self.end = start
        self.pieces = ""  # of runs that ended inside the link
        self.alts = ""
        self.sources = ""

    def break_run(self, parts: list[str]) -> None:
        """A run of text ended inside the link: keep its part, and go on at the next."""
        if len(self.pieces) < _MAX_CONTEXT:
            self.pieces += "".join(parts[self.start :])[:_MAX_CONTEXT] + " "
        self.start = 0

    def add_image(self, alt: str, source: str) -> None:
        """An image inside the link."""
        if alt and len(self.alts) < _MAX_CONTEXT:
            self.alts = f"{self.alts} {alt}" if self.alts else alt
        if source and not source.startswith("data:") and len(self.sources) < _MAX_CONTEXT:
            self.sources = f"{self.sources} {source.strip()}" if self.sources else source.strip()

    def around(self, parts: list[str]) -> str:
        """The text before and after the link in the run that it ended in."""
        start, end = self.start, self.end + 1
        before = last_words("".join(parts[max(0, start - 4) : start])) if start else ""
        after = _first_words("".join(parts[end : end + 4])) if end < len(parts) else ""
        return f"{before} {after}" if before and after else before or after

    def finished(self, parts: list[str], around: str) -> Link:
        """The link with its contexts."""
        anchor = self.pieces + "".join(parts[self.start : self.end])[: 4 * _MAX_CONTEXT]
        return Link(
            self.url,
            "a",
            self.hreflang,
            " ".join(anchor.split())[:_MAX_CONTEXT],
            around,
            self.alts[:_MAX_CONTEXT],
            self.sources[:_MAX_CONTEXT],
            self.path,
        )


def last_words(text: str) -> str:
    """The end of a text, from a whole word on.

    >>> last_words("It was the best of times, it was the worst of times, it was the age of wisdom")
    'the best of times, it was the worst of times, it was the age of wisdom'
    """
    if len(text) <= AROUND:
        return " ".join(text.split())
    words = text[-AROUND:].split()
    return " ".join(words if text[-AROUND - 1].isspace() else words[1:] or words)


def _first_words(text: str) -> str:
    if len(text) <= AROUND:
        return " ".join(text.split())
    words = text[:AROUND].split()
    return " ".join(words if text[AROUND].isspace() else words[:-1] or words)


def fold(text: str) -> str:
    """White space folded to single spaces.

    >>> fold("  a\\n\\xa0 b ")
    'a b'
    """
    return " ".join(text.split())


def switcher_lang(own: Attributes, around: Attributes) -> str:
    """The language an `a` element says its target has, from itself or the item around it.

    Items of class `no-translation` (Polylang, WPML) lead to the home page: no language.

    >>> switcher_lang({"href": "/fr/"}, {"class": "lang-item lang-item-7 lang-item-fr"})
    'fr'
    >>> switcher_lang({"hreflang": "fr"}, {"class": "lang-item no-translation"})
    ''
    """
    told = own.get("hreflang") or own.get("lang") or around.get("hreflang") or ""
    classes = own.get("class") or ""
    if "class" in around:
        classes = f"{classes} {around['class']}"
    if not told and "lang" not in classes and "wpml" not in classes:
        return ""
    if "no-translation" in classes:
        return ""
    if told.strip():
        return told.strip()
    named = _SWITCHER_CLASS.findall(classes)
    return next((lang for lang in named if lang not in _NOT_A_LANG), "")


def link_element(base: str, own: Attributes, path: str) -> Link | None:
    """A `link` element that leads to a page: translation, canonical, next or previous.

    >>> link_element("http://a.org/", {"rel": "alternate", "hreflang": "fr", "href": "fr"}, "").url
    'http://a.org/fr'
    """
    href = own.get("href")
    relations = (own.get("rel") or "").lower().split()
    if not href or not relations or "stylesheet" in relations:
        return None
    hreflang = (own.get("hreflang") or own.get("lang") or "").strip()
    if "canonical" in relations:
        rel, hreflang = "canonical", ""
    elif "alternate" in relations:
        if not hreflang or _FEEDS.search(own.get("type") or ""):
            return None
        rel = "alternate"
    elif "next" in relations or "prev" in relations or "previous" in relations:
        rel = "a"
    else:
        return None
    url = resolve(base, href)
    return Link(url, rel, hreflang, path=path) if url else None


def meta_refresh(base: str, content: str, path: str = "") -> Link | None:
    """The target of a refresh instruction, in a meta element or a header.

    >>> meta_refresh("http://a.org/", "0; URL='fr/index.html'").url
    'http://a.org/fr/index.html'
    """
    found = _REFRESH.match(content[:4096])
    url: Url | None = resolve(base, found[2]) if found else None
    return Link(url, "refresh", path=path) if url else None


def header_links(base: str, value: str) -> Iterator[Link]:
    """Translations and canonical page from an HTTP `Link` header (RFC 8288).

    >>> [link.hreflang for link in header_links("http://a.org/",
    ...     '</fr>; rel="alternate"; hreflang="fr", </a,b>; rel=alternate; hreflang=de')]
    ['fr', 'de']
    """
    for found in _HEADER_LINK.finditer(value[:_MAX_HEADER]):
        told: dict[str, str | None] = {"href": found[1]}
        for name, quoted, token in _HEADER_PARAMETER.findall(found[2]):
            told.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or token)
        link = link_element(base, told, "")
        if link is not None and link.rel in ("alternate", "canonical"):
            yield link
