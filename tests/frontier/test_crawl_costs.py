"""The downloads that a guided crawl may spend on small sites, each with one of the web's troubles.

The most that is allowed is a tenth above what is needed today: a crawl that becomes dearer fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from support import troubles
from support.replayed import ALL, Site, crawl

from diptych.reason import SiteEnd


class Allowed(NamedTuple):
    """The maximum number of downloads of a site."""

    site: Callable[[], Site]
    at_enough: int
    """until 95% of the pairs were fetched"""
    downloads: int
    """until the crawl ends by itself"""
    wasted: int = 0
    """redirects, missing pages and copies"""


ALLOWED = [
    Allowed(troubles.slashes, 48, 53, 6),
    Allowed(troubles.index_files, 49, 53, 6),
    Allowed(troubles.shares, 47, 53, 6),
    Allowed(troubles.two_schemes, 52, 56, 6),
    Allowed(troubles.moved_scheme, 52, 56, 6),
    Allowed(troubles.telling_parameter, 48, 61, 13),
    Allowed(troubles.parts, 66, 80, 23),
    Allowed(troubles.dead_folder, 47, 86, 38),
    Allowed(troubles.no_status, 49, 88, 38),
    Allowed(troubles.login, 46, 79, 29),
    Allowed(troubles.dead_sitemap, 45, 74, 27),
    Allowed(troubles.wrong_canonical, 44, 49),
    Allowed(troubles.english_canonical, 44, 49),
    Allowed(troubles.wrong_alternates, 44, 49),
    Allowed(troubles.small_language, 39, 94),
    Allowed(troubles.third_language, 48, 68),
    Allowed(troubles.untranslated, 47, 72),
    Allowed(troubles.tag_pages, 46, 82),
    Allowed(troubles.behind_lists, 59, 64),
    Allowed(troubles.refreshed, 79, 83, 62),
    Allowed(troubles.empty_pages, 45, 61),
    Allowed(troubles.foreign_dialog, 44, 48),
]


@pytest.mark.parametrize("allowed", ALLOWED, ids=[each.site.__name__ for each in ALLOWED])
def test_site_costs_no_more_than_it_may(allowed: Allowed) -> None:
    site = allowed.site()
    guided, plain = crawl(site), crawl(site, "bfs", ALL)
    assert guided.found >= 0.95
    assert guided.estimate >= 0.95
    assert guided.end in (SiteEnd.ENOUGH, SiteEnd.NOTHING_LEFT)
    assert guided.at_enough <= min(allowed.at_enough, plain.at_enough)
    assert guided.downloads <= allowed.downloads
    assert guided.wasted <= allowed.wasted


def test_document_with_a_thousand_dead_alternates_costs_a_few_requests() -> None:
    cost = crawl(troubles.dead_alternates(troubles.USUAL.path(3, "en")))
    assert cost.found == 1.0
    assert cost.count(404) <= 35


def test_home_page_with_a_thousand_dead_alternates_costs_a_few_requests() -> None:
    cost = crawl(troubles.dead_alternates())
    assert cost.found == 1.0
    assert cost.count(404) <= 35
