"""The test by brute force."""

from __future__ import annotations

from diptych.stages.detect.bits import Bits
from diptych.types import LangScore, Link, Page, PageRecord, Url

BASE = "http://www.shop.com"


def page(path: str, lang: str, *targets: str) -> Page:
    links = tuple(Link(Url(BASE + target)) for target in targets)
    scores = (LangScore(lang, 0.99),)
    return Page(PageRecord(Url(BASE + path), lang, scores, "", 0, 10, 3000, path), links)


def test_levels_are_read_one_after_the_other() -> None:
    site_test = Bits(levels=3).new_test(["en", "fr"])
    site_test.read(page("/", "en", "/a", "/b", "/a"))
    assert [link.url for link in site_test.wanted_links()] == [f"{BASE}/a", f"{BASE}/b"]
    site_test.read(page("/a", "en", "/b", "/c"))
    assert site_test.wanted_links() == ()
    site_test.miss(Url(f"{BASE}/b"))
    assert [link.url for link in site_test.wanted_links()] == [f"{BASE}/c"]
    site_test.read(page("/c", "fr", "/d"))
    assert site_test.wanted_links() == ()
    assert site_test.decision().accept
    assert site_test.pages() == [("en", f"{BASE}/"), ("fr", f"{BASE}/c")]


def test_each_language_needs_its_share() -> None:
    site_test = Bits(share=0.4).new_test(["en", "fr"])
    site_test.read(page("/", "en", "/a", "/b"))
    assert len(site_test.wanted_links()) == 2
    site_test.read(page("/a", "en"))
    site_test.read(page("/b", "fr"))
    decision = site_test.decision()
    assert (decision.accept, decision.reason) == (False, "too_few_pages")


def test_number_of_pages_is_limited() -> None:
    site_test = Bits(most=3).new_test(["en", "fr"])
    site_test.read(page("/", "en", *(f"/{number}" for number in range(9))))
    assert len(site_test.wanted_links()) == 2


def test_site_in_one_language_is_rejected() -> None:
    site_test = Bits().new_test(["en", "fr"])
    assert site_test.decision().reason == "not_fetched"
    site_test.read(page("/", "en"))
    assert site_test.wanted_links() == ()
    assert site_test.decision().reason == "one_language"
