from __future__ import annotations

from string import ascii_lowercase

import pytest
from support.fakes import FakeSite, paths
from support.timing import processor_seconds

from diptych.stages.pair.langstrip import LangStrip, strip_language


def form(url: str, *langs: str) -> str:
    return strip_language(url, langs or ("en", "fr")).form


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # footnote 11 of Garcia-Romero et al.
        ("http://www.un.org/en/", "http://www.un.org/fr/"),
        ("http://a.org/en/x.html", "http://a.org/fr/x.html"),
        ("http://a.org/x.html", "http://a.org/fr/x.html"),
        ("http://a.org/x_en.html", "http://a.org/x_fr.html"),
        ("http://a.org/x.html", "http://a.org/x.fr.html"),
        ("http://a.org/x-english.html", "http://a.org/x-french.html"),
        ("http://a.org/english/x", "http://a.org/fran%C3%A7ais/x"),
        ("http://a.org/english/x", "http://a.org/francais/x"),
        ("http://a.org/en-US/x", "http://a.org/fr_CA/x"),
        ("http://a.org/eng/x", "http://a.org/fre/x"),
        ("http://a.org/eng/x", "http://a.org/fra/x"),
        ("http://a.org/index-e.html", "http://a.org/index-f.html"),
        ("http://a.org/EN/x", "http://a.org/FR/x"),
        ("http://a.org/x?lang=en&id=12", "http://a.org/x?lang=fr&id=12"),
        ("http://a.org/x?id=12", "http://a.org/x?id=12&lang=fr"),
        ("http://a.org/x?fr", "http://a.org/x?en"),
        ("http://a.org/x?page=en/about", "http://a.org/x?page=fr/about"),
        ("http://en.a.org/x", "http://fr.a.org/x"),
        ("http://www.a.org/x", "http://fr.a.org/x"),
        ("http://a.org/", "http://a.org/fr"),
        ("http://a.org/index.html", "http://a.org/fr/"),
        ("http://a.org/a/en/x", "http://a.org/a/x/fr"),
        ("http://a.org/fr/x_en.html", "http://a.org/x.html"),
    ],
)
def test_translations_have_the_same_form(left: str, right: str) -> None:
    assert form(left) == form(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("http://a.org/en/x", "http://a.org/fr/y"),
        ("http://a.org/island", "http://a.org/land"),  # a code is no part of a word
        ("http://a.org/fresh", "http://a.org/sh"),
        ("http://a.org/x2en", "http://a.org/x2"),
        ("http://a.org/x?id=1&lang=en", "http://a.org/x?id=2&lang=fr"),
        ("http://a.org/de/x", "http://a.org/fr/x"),  # German was not asked for
        ("http://a.org/x?lang=en", "http://a.org/y?lang=fr"),
        ("http://a.org:81/en/x", "http://a.org:82/fr/x"),
    ],
)
def test_other_pages_have_different_forms(left: str, right: str) -> None:
    assert form(left) != form(right)


@pytest.mark.parametrize("mark", ["albanian", "shqip", "alb", "sqi", "sq", "sq-al", "sq-ks"])
def test_marks_of_the_paper_for_albanian(mark: str) -> None:
    assert form(f"http://a.org/{mark}/x", "en", "sq") == "a.org/x"


@pytest.mark.parametrize("mark", ["ja", "jpn", "jp", "japanese", "日本語", "ja-JP"])
def test_marks_in_any_script(mark: str) -> None:
    assert form(f"http://a.org/{mark}/x", "en", "ja") == "a.org/x"


def test_code_of_a_language_goes_before_a_country() -> None:
    assert strip_language("http://a.org/se/x", ("sv", "se")).langs == {"se"}
    assert strip_language("http://a.org/se/x", ("sv", "en")).langs == {"sv"}


def site(*urls: str) -> FakeSite:
    """Pages given as `lang url`."""
    built = FakeSite("en", "fr")
    for entry in urls:
        lang, url = entry.split()
        built.page(url, lang)
    return built


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ("/en/x", "/fr/x", 0.9),
        ("/x", "/fr/x", 0.8),
        ("/en/x", "/x", 0.8),
        ("/fr/x", "/en/x", 0.3),
        ("/en/x", "/en-GB/x", 0.3),
    ],
)
def test_marks_that_agree_with_the_pages_are_stronger(left: str, right: str, score: float) -> None:
    (pair,) = LangStrip().pair(site(f"en {left}", f"fr {right}"))
    assert (pair.evidence, pair.score) == ("langstrip", score)
    assert (pair.left_lang, *paths([pair])[0]) == ("en", left, right)


def test_marks_of_the_host_count_only_without_others() -> None:
    assert strip_language("http://a.de/en/x", ("en", "de")).langs == {"en"}
    assert strip_language("http://a.de/x", ("en", "de")).langs == {"de"}


def test_pages_of_one_language_are_no_pair() -> None:
    assert LangStrip().pair(site("en /en/x", "en /fr/x")) == []


def test_page_of_unknown_language_is_no_pair() -> None:
    built = FakeSite("en", "fr").page("/en/x", "en").page("/fr/x", "").page("/de/x", "de")
    assert LangStrip().pair(built) == []


def test_marks_in_the_same_places_go_together() -> None:
    pairs = LangStrip().pair(site("en /a/en/x", "en /en/a/x", "fr /a/fr/x", "fr /fr/a/x"))
    assert paths(pairs) == [("/a/en/x", "/a/fr/x"), ("/en/a/x", "/fr/a/x")]
    assert [pair.score for pair in pairs] == [0.9, 0.9]


def test_choice_between_several_pages_is_weaker() -> None:
    pairs = LangStrip().pair(site("en /en-GB/x", "en /en-US/x", "fr /fr/x", "en /en/y", "fr /fr/y"))
    assert paths(pairs) == [("/en/y", "/fr/y"), ("/en-GB/x", "/fr/x")]
    assert [pair.score for pair in pairs] == [0.9, 0.45]


def test_rightly_marked_page_is_chosen_first() -> None:
    pairs = LangStrip().pair(site("en /x", "fr /en/x", "fr /fr/x"))
    assert paths(pairs) == [("/x", "/fr/x")]
    pairs = LangStrip().pair(site("fr /x", "en /fr/x", "en /gb/x"))
    assert paths(pairs) == [("/gb/x", "/x")]


def test_three_languages_are_paired_with_each_other() -> None:
    built = FakeSite("de", "en", "fr").page("/de/x", "de").page("/en/x", "en").page("/fr/x", "fr")
    assert sorted(paths(LangStrip().pair(built))) == [
        ("/de/x", "/en/x"),
        ("/de/x", "/fr/x"),
        ("/en/x", "/fr/x"),
    ]


def test_codes_of_the_user_are_kept() -> None:
    built = FakeSite("en-US", "pt-BR").page("/en/x", "en").page("/pt-br/x", "pt")
    (pair,) = LangStrip().pair(built)
    assert (pair.left_lang, pair.right_lang, pair.score) == ("en-US", "pt-BR", 0.9)


def test_large_site_is_near_linear() -> None:
    built = FakeSite("en", "fr")
    for number in range(5_000):
        built.page(f"/en/{number}", "en").page(f"/fr/{number}", "fr")
    with processor_seconds():
        assert len(LangStrip().pair(built)) == 5_000


def test_pages_of_one_form_are_paired_once_each() -> None:
    regions = [first + second for first in ascii_lowercase for second in ascii_lowercase]
    built = FakeSite("en", "fr")
    for region in regions:
        built.page(f"/en-{region}/x", "en").page(f"/fr-{region}/x", "fr")
    pairs = LangStrip().pair(built)
    assert paths(pairs) == [(f"/en-{region}/x", f"/fr-{region}/x") for region in sorted(regions)]
    assert {pair.score for pair in pairs} == {0.9 / len(regions)}


def test_a_dotless_i_is_no_mark() -> None:
    url = "http://x.org/l\u0131/a"
    assert strip_language(url, ("li", "en")).langs == frozenset()
