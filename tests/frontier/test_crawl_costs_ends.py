"""Ends of guided crawls of small sites: the reason, the pairs found, and the cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import troubles
from support.replayed import ALL, DEFAULT, Limits, Plan, Site, both, crawl

from diptych.reason import SiteEnd


@pytest.mark.parametrize(
    "made",
    [troubles.monolingual, troubles.look_alike, troubles.missing_translations],
    ids=lambda made: made.__name__,
)
def test_site_without_pairs_is_given_up(made: Callable[[], Site]) -> None:
    cost = crawl(made())
    assert cost.end is SiteEnd.NO_PAIRS
    assert 30 <= cost.downloads <= 45


def test_dead_declarations_are_soon_left_alone() -> None:
    assert crawl(troubles.missing_translations()).count(404) <= 6


def test_small_site_without_pairs_is_fetched_whole() -> None:
    cost = crawl(troubles.monolingual(20))
    assert cost.end is SiteEnd.NOTHING_LEFT


@pytest.mark.parametrize(
    "made", [troubles.monolingual, troubles.third_language], ids=lambda made: made.__name__
)
def test_without_a_share_all_is_fetched(made: Callable[[], Site]) -> None:
    site = made()
    cost = crawl(site, limits=ALL)
    assert cost.end is SiteEnd.NOTHING_LEFT
    assert set(cost.served) - {None} == {name for name, _, _ in site.answers.values()}


def test_smaller_share_ends_earlier() -> None:
    site = troubles.small_language()
    costs = [crawl(site, limits=Limits(share=share)) for share in (0.8, 0.9)]
    few, more = (cost.downloads for cost in costs)
    assert few < more < len(site.answers)
    for cost, share in zip(costs, (0.8, 0.9), strict=True):
        assert cost.end is SiteEnd.ENOUGH
        assert share <= cost.estimate < 0.99
        assert cost.found >= share


def test_no_site_ends_while_one_more_pair_is_likely() -> None:
    cost = crawl(troubles.third_language(), limits=Limits(share=0.2))
    assert cost.end is SiteEnd.ENOUGH
    assert cost.found >= 0.95


def test_patience_is_a_cap() -> None:
    capped = crawl(troubles.small_language(), limits=Limits(share=0.97, patience=8))
    assert capped.end is SiteEnd.UNLIKELY
    assert capped.found >= 0.95
    assert capped.downloads < 75


def test_pairs_behind_lists_are_not_given_up() -> None:
    """A site where each list page leads to a few pairs and to the next list page."""
    cost = crawl(Plan(both(24), per_list=2, is_chained=False).build(), limits=DEFAULT)
    assert cost.found == 1.0


def test_site_with_a_switcher_to_stubs_is_given_up() -> None:
    cost = crawl(troubles.stubs())
    assert cost.end is SiteEnd.NO_PAIRS
    assert cost.downloads <= 60
