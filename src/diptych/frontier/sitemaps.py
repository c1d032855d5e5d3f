"""Process sitemaps in parts, so that large sitemaps do not delay the crawl."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from diptych.frontier.hosts import Hosts, SiteInfo
from diptych.frontier.queue import Claim, Frontier
from diptych.page.answer import read_answer
from diptych.page.sitemaps import Sitemap
from diptych.run.guide_memory import OpenSitemaps
from diptych.run.store import Store
from diptych.text.urls import normalise
from diptych.types import Kind, Link, Page, PageRecord, Url

SITEMAP_PART = 30  # sitemap entries ranked at a time, so that the crawl is not delayed
_MAX_PART_LINKS = 4 * SITEMAP_PART  # including links to translations


class SitemapPart(NamedTuple):
    """A sitemap being processed; `start` is the index of the first entry in its next part."""

    claim: Claim
    site: SiteInfo
    sitemap: Sitemap | None
    """None if an earlier process fetched the sitemap, and it has not been read again yet"""
    status: int
    start: int = 0

    @property
    def url(self) -> Url:
        """The URL of the sitemap."""
        return self.claim.url


class SitemapQueue:
    """A queue of partly processed sitemaps, which take turns: one part of each at a time.

    The claim of a sitemap ends when its last part has been processed.  A crawl that was killed
    resumes with the next part.
    """

    def __init__(self, store: Store, frontier: Frontier, hosts: Hosts) -> None:
        self._store = store
        self._frontier = frontier
        self._hosts = hosts
        self._open = OpenSitemaps(store)
        self._parts: deque[SitemapPart] = deque()

    def __bool__(self) -> bool:
        return bool(self._parts)

    def restore(self) -> None:
        """Restore the partly processed sitemaps of an earlier invocation."""
        for key, start in self._open.starts().items():
            claim = self._frontier.claim_again(key)
            if claim is not None:
                site = self._hosts[claim.host].site
                self._parts.append(SitemapPart(claim, site, None, 200, start))

    def add(self, claim: Claim, site: SiteInfo, sitemap: Sitemap, status: int) -> None:
        """Add a fetched sitemap to the queue."""
        self._open.save(claim.url, 0)
        self._parts.append(SitemapPart(claim, site, sitemap, status))

    def take(self, now: float, use: Callable[[SitemapPart, Sitemap], None]) -> None:
        """Process one part of the first sitemap in the queue by passing the part to `use`."""
        if not self._parts:
            return
        part = self._parts.popleft()
        sitemap = part.sitemap or read_again(self._store, part.url)
        if sitemap is None:  # its bytes are lost: fetch it again
            self._open.close(part.url)
            self._frontier.give_back(part.claim, now)
            return
        use(part, sitemap)
        end = end_of_part(sitemap, part.start)
        if end < len(sitemap.entries):
            self._open.save(part.url, end)
            self._parts.append(part._replace(sitemap=sitemap, start=end))
        else:
            self._open.close(part.url)
            self._frontier.complete(part.claim, now, status=part.status)


def read_again(store: Store, url: Url) -> Sitemap | None:
    """Read a fetched sitemap again from the archive; None if the response is not available."""
    response = store.good_answer(url)
    return read_answer(Kind.SITEMAP, response).sitemap if response else None


def end_of_part(sitemap: Sitemap, start: int) -> int:
    """The end index of the part of a sitemap that begins at entry `start`.

    >>> from diptych.page.sitemaps import SitemapEntry
    >>> end_of_part(Sitemap(entries=(SitemapEntry("http://a.org/"),) * 50), 30)
    50
    """
    end, links = start, 0
    while end < min(len(sitemap.entries), start + SITEMAP_PART) and links < _MAX_PART_LINKS:
        links += 1 + len(sitemap.entries[end].alternates)
        end += 1
    return end


def alternates_of(sitemap: Sitemap) -> list[tuple[Url, Link]]:
    """The translations that a sitemap announces, as (URL of a page, link to its translation)."""
    return [
        (url, Link(target, rel="alternate", hreflang=hreflang))
        for item in sitemap.entries
        if (url := normalise(item.url)) is not None
        for hreflang, other in item.alternates
        if (target := normalise(other)) is not None
    ]


def page_of_part(url: Url, sitemap: Sitemap, start: int) -> Page:
    """Represent a part of a sitemap as a page without text, whose links are the listed URLs.

    The link to each URL is followed by links to its translations.
    """
    links: list[Link] = []
    for item in sitemap.entries[start : end_of_part(sitemap, start)]:
        target = normalise(item.url)
        if target is not None:
            links.append(Link(target, rel="sitemap"))
            links.extend(link for _, link in alternates_of(Sitemap(entries=(item,))))
    return page_of_links(url, tuple(links))


def page_of_links(url: Url, links: tuple[Link, ...]) -> Page:
    """Represent the links in a sitemap as a page without text."""
    return Page(PageRecord(url, "", (), "", 0, 0, 0, ""), links, ())
