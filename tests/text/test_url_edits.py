from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.pair.keys.strategy import pair_urls
from diptych.text.url_edits import EditRules, Prediction, UrlPair, learn_rules

NAMES = ("harbour", "tides", "storm-1953", "lens", "keeper", "a/b/fog", "rock_2", "log")


def learn_keys(urls: list[tuple[str, str]], langs: list[str]) -> EditRules:
    return learn_rules(pair_urls(urls, langs))


def pages(*patterns: tuple[str, str], names: tuple[str, ...] = NAMES) -> list[tuple[str, str]]:
    return [
        (f"http://{pattern.replace('*', name)}", lang)
        for lang, pattern in patterns
        for name in names
    ]


SCHEMES = [
    ("x.org/en/*.html", "x.org/fr/*.html"),
    ("x.org/*.html", "x.org/fr/*.html"),
    ("x.org/*_en.html", "x.org/*_fr.html"),
    ("x.org/*.html", "x.org/*_fr.html"),
    ("x.org/*.html", "x.org/*.fr.html"),
    ("x.org/?lang=en&id=*", "x.org/?lang=fr&id=*"),
    ("x.org/?id=*", "x.org/?id=*&lang=fr"),
    ("en.x.org/*", "fr.x.org/*"),
    ("x.org/*", "fr.x.org/*"),
    ("x.org/*", "x.fr/*"),
    ("x.org/en/*_en.html", "x.org/fr/*_fr.html"),
    ("x.org/*.en.html", "x.org/fr/*.fr.html"),
    ("x.org/en_US/*", "x.org/fr_FR/*"),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(("left", "right"), SCHEMES)
def test_counterpart_of_a_new_page_is_predicted(left: str, right: str, known: bool) -> None:
    rows = pages(("en", left), ("fr", right))
    book = learn_keys([(url, lang if known else "") for url, lang in rows], ["en", "fr"])
    for name in ("new", "quite-new", "deep/down/new_3"):
        one, two = (f"http://{pattern.replace('*', name)}" for pattern in (left, right))
        there, back = book.predict(one, "en"), book.predict(two, "fr")
        assert (there[0].url, there[0].lang) == (two, "fr")
        assert (back[0].url, back[0].lang) == (one, "en")
        assert there[0].confidence > 0.5


@pytest.mark.parametrize(("left", "right"), SCHEMES)
def test_position_of_an_edit_is_learned_from_similar_pages(left: str, right: str) -> None:
    book = learn_keys(
        pages(("en", left), ("fr", right), names=("tides", "storm", "lens", "log")), ["en", "fr"]
    )
    one, two = (f"http://{pattern.replace('*', 'quite-new')}" for pattern in (left, right))
    assert book.predict(one, "en")[0].url == two
    assert book.predict(two, "fr")[0].url == one


def test_all_other_languages_are_predicted() -> None:
    rows = pages(("en", "x.org/*"), ("fr", "x.org/fr/*"), ("de", "x.org/de/*"))
    book = learn_keys(rows, ["en", "fr", "de"])
    assert {(made.url, made.lang) for made in book.predict("http://x.org/new", "en")} == {
        ("http://x.org/fr/new", "fr"),
        ("http://x.org/de/new", "de"),
    }
    assert {made.url for made in book.predict("http://x.org/fr/new")} == {
        "http://x.org/new",
        "http://x.org/de/new",
    }


def test_letters_at_the_end_of_a_word_are_predicted() -> None:
    names = ("region", "vismap", "06", "07", "wind")
    book = learn_keys(
        pages(("en", "x.hk/*e.htm"), ("zh", "x.hk/*c.htm"), names=names), ["en", "zh"]
    )
    assert book.predict("http://x.hk/12e.htm", "en")[0].url == "http://x.hk/12c.htm"


def test_confidence_is_the_success_rate_of_a_rule() -> None:
    pairs = [
        UrlPair(
            f"http://x.org/en/{n}",
            f"http://x.org/{'fr' if n < 8 else 'f'}/{n}",
            "en",
            "fr",
            0.9,
            "k",
        )
        for n in range(10)
    ]
    book = learn_rules(pairs)
    assert book.predict("http://x.org/en/99", "en") == [
        Prediction("http://x.org/fr/99", 9 / 12, "fr"),
        Prediction("http://x.org/f/99", 3 / 12, "fr"),
    ]


def test_confidence_grows_with_the_number_of_pages() -> None:
    few = learn_keys(
        pages(("en", "x.org/en/*"), ("fr", "x.org/fr/*"), names=NAMES[:2]), ["en", "fr"]
    )
    many = learn_keys(pages(("en", "x.org/en/*"), ("fr", "x.org/fr/*")), ["en", "fr"])
    one, two = (book.predict("http://x.org/en/new", "en")[0] for book in (few, many))
    assert one.url == two.url
    assert one.confidence < two.confidence < 1


def test_no_pairs_give_no_rules() -> None:
    assert learn_keys([], ["en", "fr"]) == EditRules()
    assert EditRules().predict("http://x.org/en/a", "en") == []
    book = learn_keys(pages(("en", "x.org/en/*"), ("fr", "x.org/fr/*")), ["en", "fr"])
    assert book.predict("http://x.org/en/a", "ja") == []
    assert book.predict("http://y.org/other", "en") == []


@given(st.text() | st.text().map("http://x.org/en/".__add__))
def test_any_text_can_be_predicted_from(url: str) -> None:
    book = learn_keys(
        pages(("en", "x.org/*"), ("fr", "x.org/fr/*"), ("de", "x.org/*_de")), ["en", "fr", "de"]
    )
    for lang in ("", "en", "fr"):
        for made in book.predict(url, lang):
            assert made.url not in ("", url)
            assert 0 < made.confidence < 1


def test_rules_do_not_depend_on_the_order_of_pages() -> None:
    rows = pages(("en", "x.org/*"), ("fr", "x.org/fr/*"), ("de", "x.org/de/*"))
    assert learn_keys(rows, ["en", "fr", "de"]) == learn_keys(rows[::-1], ["en", "fr", "de"])
