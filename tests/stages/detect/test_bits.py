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
    inquiry = Bits(levels=3).inquire(["en", "fr"])
    inquiry.read(page("/", "en", "/a", "/b", "/a"))
    assert [link.url for link in inquiry.ask()] == [f"{BASE}/a", f"{BASE}/b"]
    inquiry.read(page("/a", "en", "/b", "/c"))
    assert inquiry.ask() == ()
    inquiry.miss(Url(f"{BASE}/b"))
    assert [link.url for link in inquiry.ask()] == [f"{BASE}/c"]
    inquiry.read(page("/c", "fr", "/d"))
    assert inquiry.ask() == ()
    assert inquiry.decision().accept
    assert inquiry.pages() == [("en", f"{BASE}/"), ("fr", f"{BASE}/c")]


def test_each_language_needs_its_share() -> None:
    inquiry = Bits(share=0.4).inquire(["en", "fr"])
    inquiry.read(page("/", "en", "/a", "/b"))
    assert len(inquiry.ask()) == 2
    inquiry.read(page("/a", "en"))
    inquiry.read(page("/b", "fr"))
    decision = inquiry.decision()
    assert (decision.accept, decision.reason) == (False, "too_few_pages")


def test_there_is_a_limit() -> None:
    inquiry = Bits(most=3).inquire(["en", "fr"])
    inquiry.read(page("/", "en", *(f"/{number}" for number in range(9))))
    assert len(inquiry.ask()) == 2


def test_one_language_is_not_two() -> None:
    inquiry = Bits().inquire(["en", "fr"])
    assert inquiry.decision().reason == "not_fetched"
    inquiry.read(page("/", "en"))
    assert inquiry.ask() == ()
    assert inquiry.decision().reason == "one_language"
