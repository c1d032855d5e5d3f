from __future__ import annotations

import pytest
from support.fakes import FakeSite, at, make_page

from diptych.stages.crawl.bfs import Bfs
from diptych.types import Link

KINDS = ("a", "area", "frame", "alternate", "refresh", "canonical", "sitemap")


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_links_rank_one_level_below_their_page(depth: int) -> None:
    page = make_page(
        "/", "en", depth=depth, links=[Link(at("/a")), Link(at("/b"), "alternate", "fr")]
    )
    assert [ranked.priority for ranked in Bfs().rank(page, FakeSite("en", "fr"))] == [
        -depth - 1
    ] * 2


def test_links_to_pages_are_followed_and_others_not() -> None:
    page = make_page("/", "en", links=[Link(at(f"/{kind}"), kind) for kind in KINDS])
    followed = [ranked.link.rel for ranked in Bfs().rank(page, FakeSite("en", "fr"))]
    assert followed == ["a", "area", "frame", "alternate", "refresh", "sitemap"]


def test_language_does_not_matter() -> None:
    page = make_page("/", "de", links=[Link(at("/a"))])
    assert list(Bfs().rank(page, FakeSite("en", "fr")))


def test_crawl_ends_with_its_links() -> None:
    site = FakeSite("en", "fr").page("/", "en").link("/", "/a")
    assert list(Bfs().refill(site)) == []
