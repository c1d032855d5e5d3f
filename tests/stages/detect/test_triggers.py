"""The test by trigger words."""

from __future__ import annotations

from diptych.stages.detect.triggers import Triggers
from diptych.types import Link, Page, PageRecord, Url

BASE = "http://www.shop.com"


def page(path: str, *anchors: str) -> Page:
    links = [
        Link(Url(f"{BASE}/{number}{path.strip('/')}"), anchor=text)
        for number, text in enumerate(anchors)
    ]
    return Page(PageRecord(Url(BASE + path), "", (), "", 0, 10, 0, path), tuple(links))


def test_both_words_on_the_root_page_are_enough() -> None:
    inquiry = Triggers().inquire(["en", "zh"])
    inquiry.read(page("/", "English Version", "中文"))
    assert inquiry.ask() == ()
    assert inquiry.decision().accept
    assert inquiry.pages() == [("en", f"{BASE}/0"), ("zh", f"{BASE}/1")]


def test_pages_it_links_to_are_looked_at_until_both_are_found() -> None:
    inquiry = Triggers().inquire(["en", "fr"])
    inquiry.read(page("/", "Français", "Contact", "News"))
    assert not inquiry.decision().accept
    assert [link.url for link in inquiry.ask()] == [f"{BASE}/0"]
    assert inquiry.ask() == ()
    inquiry.miss(Url(f"{BASE}/0"))
    assert [link.url for link in inquiry.ask()] == [f"{BASE}/1"]
    inquiry.read(page("/1", "English"))
    assert inquiry.ask() == ()
    assert inquiry.decision().accept


def test_words_of_other_languages_and_long_texts_are_no_triggers() -> None:
    inquiry = Triggers(most=0).inquire(["en", "fr"])
    inquiry.read(page("/", "Deutsch", "The history of the French and the English language", "EN"))
    assert inquiry.ask() == ()
    assert (inquiry.decision().accept, inquiry.decision().reason) == (False, "no_candidate")


def test_images_have_triggers_too() -> None:
    inquiry = Triggers(most=0).inquire(["en", "fr"])
    flags = tuple(Link(Url(f"{BASE}/{alt}"), alt=alt) for alt in ("English", "French"))
    inquiry.read(Page(page("/").record, flags))
    assert inquiry.decision().accept


def test_without_a_page_nothing_is_known() -> None:
    assert Triggers().inquire(["en", "fr"]).decision().reason == "not_fetched"
