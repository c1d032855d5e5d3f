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
    site_test = Triggers().new_test(["en", "zh"])
    site_test.read(page("/", "English Version", "中文"))
    assert site_test.wanted_links() == ()
    assert site_test.decision().accept
    assert site_test.pages() == [("en", f"{BASE}/0"), ("zh", f"{BASE}/1")]


def test_linked_pages_are_searched_until_both_words_are_found() -> None:
    site_test = Triggers().new_test(["en", "fr"])
    site_test.read(page("/", "Français", "Contact", "News"))
    assert not site_test.decision().accept
    assert [link.url for link in site_test.wanted_links()] == [f"{BASE}/0"]
    assert site_test.wanted_links() == ()
    site_test.miss(Url(f"{BASE}/0"))
    assert [link.url for link in site_test.wanted_links()] == [f"{BASE}/1"]
    site_test.read(page("/1", "English"))
    assert site_test.wanted_links() == ()
    assert site_test.decision().accept


def test_words_of_other_languages_and_long_texts_are_no_triggers() -> None:
    site_test = Triggers(most=0).new_test(["en", "fr"])
    site_test.read(page("/", "Deutsch", "The history of the French and the English language", "EN"))
    assert site_test.wanted_links() == ()
    assert (site_test.decision().accept, site_test.decision().reason) == (False, "no_candidate")


def test_images_have_triggers_too() -> None:
    site_test = Triggers(most=0).new_test(["en", "fr"])
    flags = tuple(Link(Url(f"{BASE}/{alt}"), alt=alt) for alt in ("English", "French"))
    site_test.read(Page(page("/").record, flags))
    assert site_test.decision().accept


def test_without_a_page_nothing_is_known() -> None:
    assert Triggers().new_test(["en", "fr"]).decision().reason == "not_fetched"
