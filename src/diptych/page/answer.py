"""Parse one HTTP response into a page, sitemap, robots.txt, redirect or failure.

`read_answer` is a pure function.  It runs in worker processes, so that a hostile page can neither
stop the crawl nor slow it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from diptych.errors import without_password
from diptych.page.body import decompress, is_html
from diptych.page.robots import Robots, retry_after
from diptych.page.sitemaps import MAX_SITEMAP_BYTES, Sitemap, read_sitemap
from diptych.reason import Reason
from diptych.text.urls import resolve
from diptych.types import FOLLOWED, Failure, Kind, Page, Response, Url

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304
SNIFFED = 4096  # bytes of a body that are examined to determine its type
MAX_TEXT_OF_REDIRECT = 400  # characters of text on a page that only points to its new address


class ReadAnswer(NamedTuple):
    """The content of one response: a page, sitemap, robots.txt, redirect or failure."""

    url: Url
    status: int
    size: int
    fetched_at: float
    page: Page | None = None
    sitemap: Sitemap | None = None
    robots: Robots | None = None
    redirect: Url | None = None
    failure: Failure | None = None

    @property
    def target(self) -> Url | None:
        """The target of an HTTP redirect, or of a meta refresh on a page without other content.

        A page with a meta refresh has other content if it is long or links to other pages.
        """
        if self.redirect is not None or self.page is None:
            return self.redirect
        links = [link for link in self.page.links if link.rel in FOLLOWED and link.url != self.url]
        targets = {link.url for link in links}
        is_refreshed = any(link.rel == "refresh" for link in links)
        is_short = self.page.record.text_length <= MAX_TEXT_OF_REDIRECT
        return links[0].url if is_refreshed and is_short and len(targets) == 1 else None


def read_answer(
    kind: Kind,
    response: Response,
    *,
    depth: int = 0,
    langs: Sequence[str] = (),
    with_sketch: bool = False,
) -> ReadAnswer:
    """Parse a response to a request of the given kind.

    `langs` are the requested languages.  If `with_sketch` is True, a page gets a sketch.
    """
    reading = ReadAnswer(response.url, response.status, len(response.body), response.fetched_at)
    if kind is Kind.ROBOTS and response.status < 500 and response.status != 429:
        body, _ = decompress(response.body, response.header("Content-Encoding"))
        return reading._replace(robots=Robots.of(replace(response, body=body)))
    if response.status in REDIRECTS:
        location = _as_utf8(response.header("Location"))
        target = resolve(response.url, location) if location else None
        if target is not None:
            return reading._replace(redirect=target)
        return _failed(reading, Reason.BAD_REDIRECT, without_password(location))
    if response.status != 200:
        wait = retry_after(response)
        failure = Failure(response.url, f"http_{response.status}", retry_after=wait)
        return reading._replace(failure=failure)
    if kind is Kind.SITEMAP:
        encoding = response.header("Content-Encoding")
        body, _ = decompress(response.body, encoding, limit=MAX_SITEMAP_BYTES)
        return reading._replace(sitemap=read_sitemap(body))
    body, fault = decompress(response.body, response.header("Content-Encoding"))
    if failed := _unreadable(reading, response, body, fault):
        return failed
    from diptych.page.read import read_page  # only processes that parse pages need it

    page = read_page(response, body=body, depth=depth, langs=langs, with_sketch=with_sketch)
    return reading._replace(page=page)


def _unreadable(
    reading: ReadAnswer, response: Response, body: bytes, fault: str
) -> ReadAnswer | None:
    """The failure for a response that is not a complete HTML page, or None if it is complete.

    `body` is its decompressed body, and `fault` is the fault that was found on decompression.
    """
    content_type = response.header("Content-Type")
    if response.truncated == "content_type" or not is_html(content_type, body[:SNIFFED]):
        return _failed(reading, Reason.CONTENT_TYPE, content_type)
    if response.truncated == "length" or fault == "too_large":
        return _failed(reading, Reason.TOO_LARGE)
    if response.truncated:
        return _failed(reading, Reason.CUT_OFF)
    if not response.body:
        return _failed(reading, Reason.EMPTY)
    return None


def _failed(reading: ReadAnswer, reason: str, detail: str = "") -> ReadAnswer:
    return reading._replace(failure=Failure(reading.url, reason, detail[:200]))


def _as_utf8(value: str) -> str:
    """Decode a header as UTF-8; HTTP libraries decode headers as Latin-1."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
