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
    """The most downloads of a site."""

    site: Callable[[], Site]
    at_enough: int
    """until 95% of the pairs were fetched"""
    downloads: int
    """until the crawl ends by itself"""
    wasted: int = 0
    """redirects, missing pages and copies"""


ALLOWED = [
    Allowed(troubles.slashes, 48, 55, 6),
    Allowed(troubles.index_files, 50, 55, 6),
    Allowed(troubles.shares, 51, 57, 8),
    Allowed(troubles.two_schemes, 54, 60, 10),
    Allowed(troubles.moved_scheme, 52, 57, 6),
    Allowed(troubles.telling_parameter, 48, 61, 13),
    Allowed(troubles.parts, 66, 80, 23),
    Allowed(troubles.dead_folder, 47, 82, 33),
    Allowed(troubles.no_status, 50, 96, 46),
    Allowed(troubles.login, 54, 66, 16),
    Allowed(troubles.dead_sitemap, 47, 66, 18),
    Allowed(troubles.wrong_canonical, 44, 49),
    Allowed(troubles.english_canonical, 44, 49),
    Allowed(troubles.wrong_alternates, 44, 49),
    Allowed(troubles.small_language, 42, 93),
    Allowed(troubles.third_language, 50, 63),
    Allowed(troubles.untranslated, 54, 70),
    Allowed(troubles.tag_pages, 47, 78),
    Allowed(troubles.behind_lists, 59, 64),
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
