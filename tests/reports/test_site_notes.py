from __future__ import annotations

import pytest

from diptych.page.declarations import Checked, Declares
from diptych.reports.site_notes import (
    aliases_in_words,
    declarations_in_words,
    scripted_in_words,
)

HOME, PAGE = "http://a.org/", "http://a.org/page"


@pytest.mark.parametrize(
    ("checked", "words"),
    [
        (Checked(Declares.CANONICAL, 266, 266, HOME),
         "the canonical links of 266 pages all point to the home page"),
        (Checked(Declares.CANONICAL, 3, 3, PAGE),
         "the canonical links of 3 pages all point to http://a.org/page"),
        (Checked(Declares.CANONICAL, 40, 12),
         "12 of 40 canonical links point to a page with different text"),
        (Checked(Declares.CANONICAL, 40, 12, HOME),
         "12 of 40 canonical links point to the home page with different text"),
        (Checked(Declares.CANONICAL, 1, 1, HOME),
         "1 of 1 canonical link points to the home page with different text"),
        (Checked(Declares.CANONICAL, 7, 1),
         "1 of 7 canonical links points to a page with different text"),
        (Checked(Declares.HTML_LANG, 20, 5, "en", "fr"),
         "html lang says en on 20 pages, but 5 of them are in fr"),
        (Checked(Declares.HREFLANG, 1_200, 1_000, "fr", "en de"),
         "hreflang says fr for 1,200 pages, but 1,000 of them are in en or de"),
        (Checked(Declares.TRANSLATION, 9, 8, HOME),
         "8 of 9 hreflang links declare the home page as the translation of many pages"),
    ],
)  # fmt: skip
def test_text_for_each_kind_of_wrong_declaration(checked: Checked, words: str) -> None:
    assert declarations_in_words([("a.org", checked)]) == [f"a.org: {words}: ignored"]


@pytest.mark.parametrize(
    "checked",
    [
        Checked(Declares.CANONICAL, 40, 0),
        Checked(Declares.HTML_LANG, 4, 4, "en", "fr"),  # may be mistakes of ours
        Checked(Declares.HREFLANG, 100, 19, "en", "fr"),
    ],
)
def test_correct_declarations_give_no_note(checked: Checked) -> None:
    assert declarations_in_words([("a.org", checked)]) == []


def test_many_sites_are_one_line() -> None:
    declared = [
        (f"{name}.org", Checked(kind, 9, 9, HOME)) for kind in Declares for name in "abcdef"
    ]
    assert declarations_in_words(declared) == [
        "canonical links on 6 sites point to pages with different text: ignored",
        "html lang is wrong on 6 sites: ignored",
        "hreflang declares wrong languages on 6 sites: ignored",
        "hreflang links on 6 sites declare one page as the translation of many: ignored",
    ]


def test_sites_whose_text_is_made_by_scripts_are_named() -> None:
    assert scripted_in_words([("a.org", 1, 1), ("b.org", 20, 100), ("c.org", 19, 100)]) == [
        "a.org: 1 of 1 page has no text in the HTML, because scripts generate it",
        "b.org: 20 of 100 pages have no text in the HTML, because scripts generate it",
    ]
    assert scripted_in_words([("a.org", 1, 5)]) == [
        "a.org: 1 of 5 pages has no text in the HTML, because scripts generate it"
    ]
    assert scripted_in_words([(f"{name}.org", 300, 500) for name in "abcdef"]) == [
        "6 sites: 1,800 of 3,000 pages have no text in the HTML, because scripts generate it"
    ]


def test_aliases_are_counted_by_rule() -> None:
    assert aliases_in_words([]) == []
    many = [(f"alias without ?p{number}", 2_000 - number) for number in range(7)]
    assert aliases_in_words(many) == [
        "13,979 duplicate URLs were not fetched (without ?p0 2,000, without ?p1"
        " 1,999, without ?p2 1,998, without ?p3 1,997, without ?p4 1,996, other rules 3,989)"
    ]
    assert aliases_in_words([("alias https + slash", 3)]) == [
        "3 duplicate URLs were not fetched (https and trailing slash 3)"
    ]
    assert aliases_in_words([("alias slash", 1)]) == [
        "1 duplicate URL was not fetched (trailing slash 1)"
    ]
