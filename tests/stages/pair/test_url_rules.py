from __future__ import annotations

import pytest
from support.fakes import FakeSite, paths

from diptych.stages.pair.url_rules import UrlRules, language_words, mark_removed, mark_replaced


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("http://a.org/en/x.html", "http://a.org/fr/x.html"),
        ("http://a.org/x/en", "http://a.org/x/fr"),
        ("http://a.org/x/en?id=2", "http://a.org/x/fr?id=2"),
        ("http://a.org/x_en.html", "http://a.org/x_fr.html"),
        ("http://a.org/x-en.html", "http://a.org/x-fr.html"),
        ("http://a.org/x.en.html", "http://a.org/x.fr.html"),
        ("http://a.org/x.html.en", "http://a.org/x.html.fr"),
        ("http://a.org/x-en/y", "http://a.org/x-fr/y"),
        ("http://a.org/en_x.html", "http://a.org/fr_x.html"),
        ("http://a.org/en-x.html", "http://a.org/fr-x.html"),
        ("http://a.org/en.html", "http://a.org/fr.html"),
        ("http://a.org/x?lang=en", "http://a.org/x?lang=fr"),
        ("http://a.org/x?lang=en&id=2", "http://a.org/x?lang=fr&id=2"),
        ("http://en.a.org/x", "http://fr.a.org/x"),
        ("http://a.org/eng/x", "http://a.org/fre/x"),
        ("http://a.org/english/x", "http://a.org/french/x"),
        ("http://a.org/english/x", "http://a.org/francais/x"),
        ("http://a.org/english/x", "http://a.org/fran%C3%A7ais/x"),
        ("http://a.org/EN/x", "http://a.org/FR/x"),
        ("http://a.org/English/x", "http://a.org/French/x"),
    ],
)
def test_one_mark_is_replaced(left: str, right: str) -> None:
    assert right in mark_replaced(left, "en", "fr")


@pytest.mark.parametrize(
    "url",
    [
        "http://a.org/men/x",  # a mark must stand alone
        "http://a.org/enx.html",
        "http://a.en/x",  # the end of a host says where it is, not what it speaks
        "http://a.org/de/x",
    ],
)
def test_other_words_are_not_replaced(url: str) -> None:
    assert mark_replaced(url, "en", "fr") == []


def test_a_code_is_not_replaced_by_a_name() -> None:
    assert mark_replaced("http://a.org/en/x", "en", "fr") == ["http://a.org/fr/x"]
    # ...and one mark only: two are for other pairers.
    assert "http://a.org/fr/x_fr" not in mark_replaced("http://a.org/en/x_en", "en", "fr")


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("http://a.org/fr/x.html", "http://a.org/x.html"),
        ("http://a.org/fr/", "http://a.org/"),
        ("http://a.org/x_fr.html", "http://a.org/x.html"),
        ("http://a.org/x-fr.html", "http://a.org/x.html"),
        ("http://a.org/x.fr.html", "http://a.org/x.html"),
        ("http://fr.a.org/x", "http://a.org/x"),
        ("http://fr.a.org/x", "http://www.a.org/x"),
        ("http://a.org/francais/x", "http://a.org/x"),
    ],
)
def test_one_language_may_have_no_mark(url: str, bare: str) -> None:
    assert bare in mark_removed(url, "fr")


def test_both_marked_is_stronger_than_one_marked() -> None:
    site = FakeSite("en", "fr").page("/en/a", "en").page("/a", "en").page("/fr/a", "fr")
    (pair,) = UrlRules().pair(site)
    assert paths([pair]) == [("/en/a", "/fr/a")]
    assert (pair.score, pair.evidence) == (0.9, "url_rules")


def test_the_language_without_a_mark_may_be_either() -> None:
    site = FakeSite("en", "fr").page("/a", "fr").page("/en/a", "en").page("/b", "en")
    site.page("/fr/b", "fr")
    assert paths(UrlRules().pair(site)) == [("/b", "/fr/b"), ("/en/a", "/a")]


def test_pages_must_be_in_their_languages() -> None:
    assert UrlRules().pair(FakeSite("en", "fr").page("/en/a", "en").page("/fr/a", "en")) == []
    assert UrlRules().pair(FakeSite("en", "fr").page("/en/a", "fr").page("/fr/a", "en")) == []


def test_any_languages_have_words() -> None:
    codes, codes3, names = language_words("de")
    assert (codes, codes3) == (("de",), ("deu", "ger"))
    assert set(names) == {"german", "deutsch"}
    assert language_words("zh-TW")[0] == ("zh", "zh-tw")
    assert "http://a.org/kab/x" in mark_replaced("http://a.org/fra/x", "fr", "kab")
