from __future__ import annotations

import pytest
from support.fakes import FakeSite, at, make_page

from diptych.stages.crawl.bfs import Bfs
from diptych.stages.crawl.bfs_langs import BfsLangs
from diptych.types import Link

KINDS = ("a", "area", "frame", "alternate", "refresh", "canonical", "sitemap")


@pytest.mark.parametrize(
    ("lang", "followed"),
    [("en", True), ("fr", True), ("fr-CA", True), ("eng", True), ("de", False), ("", True)],
)
def test_pages_of_other_languages_lead_nowhere(lang: str, followed: bool) -> None:
    page = make_page("/", lang, links=[Link(at("/a")), Link(at("/b"), "alternate", "fr")])
    assert bool(list(BfsLangs().rank(page, FakeSite("en", "fr")))) is followed


@pytest.mark.parametrize("depth", [0, 3])
def test_pages_of_the_languages_rank_as_breadth_first(depth: int) -> None:
    links = [Link(at(f"/{kind}"), kind) for kind in KINDS]
    page = make_page("/", "fr", depth=depth, links=links)
    site = FakeSite("en", "fr")
    assert list(BfsLangs().rank(page, site)) == list(Bfs().rank(page, site))


def test_crawl_ends_with_its_links() -> None:
    site = FakeSite("en", "fr").page("/", "en").link("/", "/a")
    assert list(BfsLangs().refill(site)) == []
