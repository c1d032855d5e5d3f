"""Parse sitemaps (sitemaps.org): index files, URLs with their translations, plain lists.

A regular expression is used instead of an XML parser.  XML parsers reject the many sitemaps that
contain unescaped ampersands or are truncated.  Declared entities are never expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from itertools import islice
from typing import NamedTuple

from diptych.page.body import decompress
from diptych.page.charset import decode

MAX_ENTRIES = 50_000  # sitemaps.org: URLs in one file
MAX_SITEMAP_BYTES = 52_428_800  # sitemaps.org: 50 MB, uncompressed
MAX_ALTERNATES = 500  # per URL; there are about 200 locales
_MAX_URL = 4_096  # characters
_DAY, _TIME_ZONE = 86_400.0, 43_200.0  # seconds; no time zone is more than 12 hours behind UTC
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_SCHEMES = ("http://", "https://")
_GZIP_MAGIC = b"\x1f\x8b"

_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<open>(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|url|sitemap))(?=[\s>])"
    r"|<(?P<loc>(?:[\w.-]{1,40}:)?loc)\s*>(?P<where>[^<]*(?:<!\[CDATA\[[^<\]]*\]\]>)?)"
    r"|<(?:[\w.-]{1,40}:)?link\s(?P<link>[^<>]*)>"
    r"|<(?:[\w.-]{1,40}:)?lastmod\s*>(?P<lastmod>[^<]{0,60})",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class SitemapEntry(NamedTuple):
    """A page and its translations as (hreflang, URL), which usually include the page itself."""

    url: str
    alternates: tuple[tuple[str, str], ...] = ()
    lastmod: float | None = None
    """latest time at which the page can have changed, as the site says; None if it does not"""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The sitemaps and the pages that are listed in one sitemap file."""

    sitemaps: tuple[str, ...] = ()
    entries: tuple[SitemapEntry, ...] = ()


def read_sitemap(body: bytes) -> Sitemap:
    r"""Parse a sitemap in XML or plain text; a damaged file is parsed as far as possible.

    >>> read_sitemap(b"<urlset><url><loc>http://a.org/?a=1&amp;b=2</loc></url></urlset>").entries
    (SitemapEntry(url='http://a.org/?a=1&b=2', alternates=(), lastmod=None),)
    >>> read_sitemap(b"http://a.org/x\nhttp://a.org/y\n").entries[1].url
    'http://a.org/y'
    """
    if body.startswith(_GZIP_MAGIC):
        body, _ = decompress(body, "gzip", limit=MAX_SITEMAP_BYTES)
    text, _ = decode(body[:MAX_SITEMAP_BYTES], "")
    if "<" not in text[:2_000]:
        return Sitemap(entries=tuple(_from_lines(text)))
    return _from_markup(text)


def _from_lines(text: str) -> Iterator[SitemapEntry]:
    urls = (line.strip() for line in text.splitlines())
    found = (url for url in urls if url.startswith(_SCHEMES) and len(url) <= _MAX_URL)
    return map(SitemapEntry, islice(found, MAX_ENTRIES))


def _from_markup(text: str) -> Sitemap:
    sitemaps: list[str] = []
    entries: list[SitemapEntry] = []
    container = prefix = ""
    url, alternates, lastmod = "", list[tuple[str, str]](), None
    for token in _TOKEN.finditer(text):
        if token["open"]:
            if url:
                entries.append(SitemapEntry(url, tuple(alternates), lastmod))
            url, alternates, lastmod = "", [], None
            prefix, _, container = token["open"].lower().rpartition(":")
        elif token["loc"]:
            where = _clean(token["where"])
            # Images and videos also have a location, but in their own namespace.
            if not where or token["loc"].lower().rpartition(":")[0] != prefix:
                continue
            if container.startswith("sitemap"):
                sitemaps.append(where)
            else:
                url = where
        elif token["lastmod"]:
            lastmod = read_lastmod(token["lastmod"])
        else:  # a link, or a comment
            found = _alternate(token["link"] or "")
            alternates.extend(found[: MAX_ALTERNATES - len(alternates)])
        if len(entries) >= MAX_ENTRIES or len(sitemaps) >= MAX_ENTRIES:
            break
    if url and len(entries) < MAX_ENTRIES:
        entries.append(SitemapEntry(url, tuple(alternates), lastmod))
    return Sitemap(tuple(sitemaps), tuple(entries))


def read_lastmod(text: str) -> float | None:
    """The latest time that a W3C date can mean, in seconds since 1970; None if it is invalid.

    A date without a time may mean any moment of that day, in any time zone.

    >>> read_lastmod("2023-11-14T22:13:20+00:00"), read_lastmod("2023-11-14"), read_lastmod("soon")
    (1700000000.0, 1700049600.0, None)
    """
    text = text.strip()
    try:
        time = datetime.fromisoformat(text)
        seconds = time.replace(tzinfo=time.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return None
    if time.tzinfo is None:
        seconds += _TIME_ZONE + (0.0 if "T" in text else _DAY)
    return seconds if 0 <= seconds <= _LATEST else None


def _alternate(attributes: str) -> list[tuple[str, str]]:
    """The language and URL of an `xhtml:link` to a translation; an empty list for other links.

    >>> _alternate("rel='alternate' hreflang='de' href='http://a.org/de'")
    [('de', 'http://a.org/de')]
    """
    own = {
        name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(attributes)
    }
    url = _clean(own.get("href", ""))
    hreflang = own.get("hreflang", "").strip()
    if "alternate" not in own.get("rel", "").lower() or not url or not hreflang:
        return []
    return [(hreflang, url)]


def _clean(raw: str) -> str:
    raw = raw.strip()
    if raw.startswith("<![CDATA["):
        raw = raw[9:-3].strip()
    elif "&" in raw:
        raw = unescape(raw)
    return raw if len(raw) <= _MAX_URL else ""
