from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from support.fakes import FakeSite, at, make_page

from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.stages.crawl.pplocator import PPLocatorCrawl, collect
from diptych.stages.pair.pplocator import PPLocator
from diptych.types import Link, PagePair, Ranked

KINDS = ("a", "area", "frame", "alternate", "refresh", "canonical", "sitemap")


@dataclass(frozen=True)
class FixedPairs:
    """A pairer that finds what it was told, if it is there."""

    pairs: tuple[tuple[str, str, float], ...]

    def pair(self, site: SiteView) -> list[PagePair]:
        assert all(not record.lang for record in site.pages.values())
        return [
            PagePair(at(left), at(right), "en", "fr", score, "told")
            for left, right, score in self.pairs
            if {at(left), at(right)} <= site.pages.keys()
        ]


def ranked_paths(ranked: Iterable[Ranked]) -> list[tuple[str, float]]:
    return [(each.link.url.removeprefix(at("/")[:-1]), each.priority) for each in ranked]


def policy_of(*pairs: tuple[str, str, float], levels: int = 3) -> PPLocatorCrawl:
    return PPLocatorCrawl(levels, FixedPairs(pairs))


@pytest.mark.parametrize(("levels", "followed"), [(1, 0), (2, 0), (3, 1), (4, 2), (6, 4)])
def test_links_are_followed_down_to_the_level_before_the_last(levels: int, followed: int) -> None:
    site = FakeSite("en", "fr")
    for depth in range(6):
        page = make_page("/", "en", depth=depth, links=[Link(at("/a"))])
        ranked = list(PPLocatorCrawl(levels).rank(page, site))
        assert ranked == (list(Bfs().rank(page, site)) if depth < followed else [])


def test_languages_of_pages_do_not_matter() -> None:
    page = make_page("/", "de", depth=0, links=[Link(at("/a"))])
    assert len(PPLocatorCrawl().rank(page, FakeSite("en", "fr"))) == 1


def test_sitemap_adds_no_level() -> None:
    links = [Link(at("/a"), "sitemap"), Link(at("/b"), "alternate", "fr")]
    assert PPLocatorCrawl().rank(make_page("/sitemap.xml", links=links, depth=0), FakeSite()) == []


def two_levels() -> FakeSite:
    """A start page, two pages below it, and the URLs that those link to."""
    site = FakeSite("en", "fr")
    site.page("/", "en", depth=0).page("/en/", "en").page("/fr/", "fr")
    site.link("/", "/en/").link("/", "/fr/")
    for name in "abc":
        site.link("/en/", f"/en/{name}")
    return site.link("/fr/", "/fr/a").link("/fr/", "/fr/b")


def test_missing_halves_of_pairs_are_requested_together() -> None:
    policy = policy_of(("/en/a", "/fr/a", 0.9), ("/en/b", "/fr/b", 0.95), ("/en/", "/fr/", 1.0))
    assert ranked_paths(policy.refill(two_levels())) == [
        ("/en/a", 0.9), ("/fr/a", 0.9), ("/en/b", 0.95), ("/fr/b", 0.95),
    ]  # fmt: skip


def test_fetched_half_is_not_requested_again() -> None:
    site = two_levels().page("/en/a", "en", depth=1)
    assert ranked_paths(policy_of(("/en/a", "/fr/a", 0.9)).refill(site)) == [("/fr/a", 0.9)]
    site.redirect("/fr/a", "/fr/")
    assert ranked_paths(policy_of(("/en/a", "/fr/a", 0.9)).refill(site)) == []


def test_without_a_pairer_nothing_is_requested() -> None:
    assert list(PPLocatorCrawl().refill(two_levels())) == []


def test_links_of_the_last_level_are_not_collected() -> None:
    # What a refill asks for has a depth of 1, whatever its level.
    site = two_levels().page("/en/a", "en", depth=1).page("/fr/a", "fr", depth=1)
    site.link("/en/a", "/en/deep").link("/fr/a", "/fr/deep")
    pairs = ("/en/deep", "/fr/deep", 0.9)
    assert list(policy_of(pairs).refill(site)) == []
    assert ranked_paths(policy_of(pairs, levels=4).refill(site)) == [
        ("/en/deep", 0.9), ("/fr/deep", 0.9),
    ]  # fmt: skip


def test_refill_requests_halves_that_are_still_missing() -> None:
    policy = policy_of(("/en/a", "/fr/a", 0.9), ("/en/b", "/fr/b", 0.8))
    site = two_levels()
    before = list(policy.refill(site))
    site.page("/en/a", "en", depth=1).page("/fr/a", "fr", depth=1)
    assert list(policy.refill(site)) == before[2:]


@pytest.mark.parametrize("kind", KINDS)
def test_only_links_to_pages_are_collected(kind: str) -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0).link("/", "/a", rel=kind)
    assert (at("/a") in collect(site, 3)) is (kind not in ("canonical", "sitemap"))


def test_only_internal_links_are_collected() -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0)
    site.link("/", "http://fr.example.org/a").link("/", "http://example.com/a")
    assert list(collect(site, 3)) == [at("/"), at("http://fr.example.org/a")]


def test_links_are_resolved_to_their_pages() -> None:
    site = FakeSite("en", "fr").page("/home", "en", depth=0).page("/fr/", "fr")
    site.redirect("/", "/home").redirect("/old", "/fr/")
    site.link("/home", "/old").link("/fr/", "/fr/a")
    assert list(collect(site, 3)) == [at("/fr/"), at("/fr/a"), at("/home")]


@pytest.mark.parametrize(("levels", "count"), [(1, 1), (2, 2), (3, 3), (9, 5)])
def test_levels_are_counted_along_links(levels: int, count: int) -> None:
    site = FakeSite("en", "fr")
    for depth in range(5):
        site.page(f"/{depth}" if depth else "/", "en", depth=0)
    for depth in range(1, 5):
        site.link(f"/{depth - 1}" if depth > 1 else "/", f"/{depth}")
    assert len(collect(site, levels)) == count


def test_circular_links_end() -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0).page("/a", "fr")
    site.link("/", "/a").link("/a", "/").link("/a", "/a")
    assert list(collect(site, 50)) == [at("/"), at("/a")]


def test_pairer_of_the_paper_fits() -> None:
    policy = PPLocatorCrawl(pair=PPLocator())
    wanted = {path for path, _ in ranked_paths(policy.refill(two_levels()))}
    assert wanted == {"/en/a", "/fr/a", "/en/b", "/fr/b"}
