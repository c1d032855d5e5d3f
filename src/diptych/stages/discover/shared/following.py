"""Links that discovery policies may follow, and rankings that need no learning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

from diptych.text.urls import site_name
from diptych.types import Lead, Link, Page

_FOLLOWED = ("a", "area", "frame", "refresh")
_MAX_LINKS = 2_000  # maximum links read per page


def page_links(page: Page) -> list[Link]:
    """The links of a page to other pages, without duplicate targets."""
    return _each_once(link for link in page.links if link.rel in _FOLLOWED)


def outgoing_links(page: Page) -> list[Link]:
    """The links of a page to other sites, limited to the first link to each site."""
    own = site_name(page.url)
    first: dict[str, Link] = {}
    for link in page_links(page):
        first.setdefault(site_name(link.url), link)
    first.pop(own, None)
    return list(first.values())


def _each_once(links: Iterable[Link]) -> list[Link]:
    found: dict[str, Link] = {}
    for link in links:
        found.setdefault(link.url, link)
    return list(found.values())[:_MAX_LINKS]


def first_found_first(leads: Sequence[Lead]) -> Sequence[float]:
    """Give all leads the same score, so that those found first are followed first."""
    return [0.5] * len(leads)


def random_order(leads: Sequence[Lead]) -> Sequence[float]:
    """Give each lead a pseudo-random score that depends only on its URL."""
    return [crc32(lead.url.encode()) / 0xFFFFFFFF for lead in leads]
