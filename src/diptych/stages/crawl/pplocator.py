"""Crawls all pages above the last level; on the last level, crawls only pages of possible pairs.

Vieira & Moreira 2012, Algorithm 1.  The start page of the crawl is level 1.  The recipe's pairer
decides from the URLs alone which pages may form a pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diptych.page.url_list import UrlList
from diptych.protocols import Pairer, SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.text.urls import site_name
from diptych.types import FOLLOWED, LangScore, Link, Page, Ranked, Url

_FOLLOWED = FOLLOWED - {"sitemap"}


@dataclass(frozen=True, slots=True)
class PPLocatorCrawl:
    """Crawls breadth-first; on the last level, fetches only URLs that may form pairs."""

    levels: int = 3
    """number of levels; the start page is level 1, and the pages that it links to are level 2"""
    pair: Pairer | None = None
    """pairer that decides which URLs may form a pair; by default, the pairer of the recipe"""

    def rank(self, page: Page, site: SiteView) -> list[Ranked]:
        """Rank the page's links unless they lead to the last level, which `refill` ranks."""
        # The level of a page is its depth + 1, so that of its links is its depth + 2.
        if page.record.depth + 2 >= self.levels or _is_sitemap(page):
            return []
        return list(Bfs().rank(page, site))

    def refill(self, site: SiteView) -> Iterator[Ranked]:
        """Rank the URLs on the last level that may form pairs, keeping both halves together."""
        if self.pair is None:
            return
        links = collect(site, self.levels)
        # Content and language of a page are ignored, even if known.
        urls = [(url, LangScore("", 0.0)) for url in links]
        for pair in self.pair.pair(UrlList.of(site.site.name, urls, site.langs)):
            for url in (pair.left, pair.right):
                if site.resolve(url) is None:
                    yield Ranked(links[url], pair.score)


def _is_sitemap(page: Page) -> bool:
    # The paper does not use sitemaps, which would put the whole site one level below the start.
    return any(link.rel == "sitemap" for link in page.links)


def collect(site: SiteView, levels: int) -> dict[Url, Link]:
    """Map each URL on the first `levels` levels to a link to it (`listOfUrls` in the paper).

    Levels are computed from the links between pages.  The depths recorded in the crawl cannot be
    used, because `refill` queues the pages on the last level.
    """
    links = _internal_links(site)
    level = sorted({page for seed in site.site.seeds if (page := site.resolve(seed)) is not None})
    found = {url: Link(url) for url in level}
    for _ in range(levels - 1):
        below = {link.url: link for source in level for link in links.get(source, ())}
        # Links are resolved to the page that represents their URL.
        pages = {url: page for url in below if (page := site.resolve(url)) is not None}
        level = sorted(set(pages.values()) - found.keys())
        found |= {page: Link(page) for page in level}
        found |= {url: link for url, link in below.items() if url not in found and url not in pages}
    return dict(sorted(found.items()))


def _internal_links(site: SiteView) -> dict[Url, list[Link]]:
    """Map each page to its links to pages of the same site."""
    internal = {site_name(url) for url in (*site.site.seeds, *site.pages)}
    first: dict[Url, Link] = {}  # one per URL: pages share most of their links
    links: dict[Url, list[Link]] = {}
    for source, link in site.links():
        if link.rel in _FOLLOWED and (link.url in first or site_name(link.url) in internal):
            links.setdefault(source, []).append(first.setdefault(link.url, link))
    return links
