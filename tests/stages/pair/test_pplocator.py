from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, paths

from diptych.stages.pair.pplocator import (
    PPLocator,
    find_pairs,
    guess_language,
    normal_form,
    populate,
)

X = "http://x.org"
PAGES = (
    "research/history",
    "teaching/courses",
    "news/archive",
    "staff/directory",
    "contact/offices",
)


def pairs(site: FakeSite, least: float = 0.85) -> list[tuple[str, str]]:
    return paths(PPLocator(least).pair(site))


def bilingual(*langs: str) -> FakeSite:
    site = FakeSite(*langs)
    for page in PAGES:
        for lang in langs:
            site.page(f"/{lang}/{page}.html", lang)
    return site


def test_pages_in_folders_of_their_languages() -> None:
    found = PPLocator().pair(bilingual("en", "fr"))
    assert sorted(paths(found)) == sorted(
        (f"/en/{page}.html", f"/fr/{page}.html") for page in PAGES
    )
    assert {(pair.left_lang, pair.right_lang, pair.evidence) for pair in found} == {
        ("en", "fr", "pplocator")
    }


def test_one_language_without_a_token() -> None:
    site = FakeSite("en", "fr")
    for page in PAGES:
        site.page(f"/{page}.html", "en").page(f"/fr/{page}.html", "fr")
    assert set(pairs(site)) == {(f"/{page}.html", f"/fr/{page}.html") for page in PAGES}


def test_urls_without_a_token_are_left_out_where_both_languages_have_one() -> None:
    site = bilingual("en", "fr").page("/research/history.html", "en")
    assert not any("/research/history.html" in pair for pair in pairs(site))


def test_no_tokens_no_pairs() -> None:
    site = FakeSite("en", "fr").page("/history-a", "en").page("/history-b", "fr")
    assert pairs(site) == []


def test_unknown_page_languages_are_those_of_the_tokens() -> None:
    site = FakeSite("en", "fr").page("/en/research/history", "").page("/fr/research/history", "")
    assert pairs(site) == [("/en/research/history", "/fr/research/history")]


def test_pages_read_in_another_language_are_dropped() -> None:
    # `lang=EN` on a page in French, which the paper names as its failure.
    site = FakeSite("en", "fr").page("/a?page=history&lang=EN", "fr")
    assert pairs(site.page("/a?page=history&lang=FR", "fr")) == []
    site = FakeSite("en", "fr").page("/en/history", "en").page("/fr/history", "it")
    assert pairs(site) == []


def test_third_languages_are_dropped() -> None:
    site = FakeSite("en", "fr")
    for page in PAGES:
        site.page(f"/{page}.html", "").page(f"/fr/{page}.html", "fr").page(f"/de/{page}.html", "")
    assert set(pairs(site)) == {(f"/{page}.html", f"/fr/{page}.html") for page in PAGES}


def test_three_languages() -> None:
    found = PPLocator().pair(bilingual("en", "fr", "de"))
    assert len(found) == 3 * len(PAGES)
    langs = {(pair.left_lang, pair.right_lang) for pair in found}
    assert langs == {("en", "fr"), ("en", "de"), ("fr", "de")}


def test_regions_are_of_their_language() -> None:
    site = (
        FakeSite("pt-BR", "en")
        .page("/pt-br/research/history", "pt")
        .page("/en/research/history", "en")
    )
    (pair,) = PPLocator(0.8).pair(site)
    assert (pair.left_lang, pair.right_lang) == ("pt-BR", "en")


@given(chance=st.randoms(use_true_random=False))
def test_order_of_pages_does_not_matter(chance: random.Random) -> None:
    site = bilingual("en", "fr")
    order = list(range(len(site.pages)))
    chance.shuffle(order)
    assert PPLocator().pair(site.reordered(order)) == PPLocator().pair(site)


def test_one_page_one_partner() -> None:
    site = FakeSite("en", "fr").page("/fr/research/history-of-art-1", "fr")
    for number in (1, 2, 3):
        site.page(f"/en/research/history-of-art-{number}", "en")
    assert pairs(site) == [("/en/research/history-of-art-1", "/fr/research/history-of-art-1")]


def test_similarity_decides() -> None:
    site = FakeSite("en", "fr").page("/en/a", "en").page("/fr/a", "fr")
    assert pairs(site, 0.875) == [("/en/a", "/fr/a")]  # two of sixteen letters differ
    assert pairs(site, 0.876) == []


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://www.x.org/", "x.org"),
        ("https://x.org", "x.org"),
        ("HTTP://WWW.X.org/A", "x.org/a"),
        ("http://x.org/a/index.php", "x.org/a"),
        ("http://x.org/a/default.aspx", "x.org/a"),
        ("http://x.org/index/", "x.org"),
        ("http://x.org/indexes", "x.org/indexes"),
        ("http://x.org/a/index-eng.asp", "x.org/a/index-eng.asp"),
        ("http://x.org/index.php?a=b", "x.org/index.php?a=b"),
        ("http://wwwx.org/a", "wwwx.org/a"),
        ("", ""),
    ],
)
def test_normal_forms(url: str, form: str) -> None:
    assert normal_form(url) == form
    assert normal_form(form) == form


@pytest.mark.parametrize(
    ("url", "lang"),
    [
        (f"{X}/en/a", "en"),
        (f"{X}/us/Info.aspx", "en"),
        ("http://eng.x.org/index.php", "en"),
        (f"{X}/a_fr.htm", "fr"),
        (f"{X}/a?lang=FR", "fr"),
        (f"{X}/fr-ca/a", "fr"),
        (f"{X}/fran%C3%A7ais/a", "fr"),
        (f"{X}/a", ""),
        ("http://www.fr.org/a", ""),  # the name of a site says nothing
        ("http://x.fr/a", ""),
        (f"{X}/de/a", "*"),
        (f"{X}/a?lang=deu", "*"),
        (f"{X}/deutsch", "*"),
        (f"{X}/espa%C3%B1ol/a", "*"),
        ("http://de.x.org/a", "*"),
        ("http://de.com/a", ""),
        (f"{X}/cc-cg/a", ""),  # Congo speaks French, but countries say little
        (f"{X}/f_continue/a?lang=EN", "en"),  # a code says more than a habit
        (f"{X}/it-is-so/no-news", ""),
        (f"{X}/de/a_en.html", "en"),  # a token of a language asked for is enough
        (f"{X}/fr/en/a", "fr"),
    ],
)
def test_guesses(url: str, lang: str) -> None:
    assert guess_language(url, "en", "fr") == lang


def test_lists() -> None:
    guessed = [("a", "en"), ("b", "fr"), ("c", ""), ("d", "*")]
    assert populate(guessed, "en", "fr") == (["a"], ["b"])
    assert populate(guessed[1:], "en", "fr") == (["c"], ["b"])
    assert populate([guessed[0], *guessed[2:]], "en", "fr") == (["a"], ["c"])
    assert populate(guessed[2:], "en", "fr") == ([], [])
    assert populate([], "en", "fr") == ([], [])


def test_the_most_similar_is_taken() -> None:
    found = find_pairs([f"{X}/en/abcdef1"], [f"{X}/fr/abcdef{n}" for n in range(4)], 0.5)
    assert [pair[:2] for pair in found] == [(f"{X}/en/abcdef1", f"{X}/fr/abcdef1")]
    # Of equally similar ones the first, whatever their order.
    tied = [f"{X}/fr/abcdef3", f"{X}/fr/abcdef2"]
    assert find_pairs([f"{X}/en/abcdef1"], tied, 0.5)[0][1] == f"{X}/fr/abcdef2"


def test_scores_are_similarities() -> None:
    ((_, _, score),) = find_pairs(["http://x.org/en/a"], ["http://x.org/fr/a"], 0.1)
    assert score == pytest.approx(1 - 2 / 10)


def test_large_sites_are_paired_too() -> None:
    site = FakeSite("en", "fr")
    for page in range(250):
        for lang in ("en", "fr"):
            site.page(f"/{lang}/departments/section{page % 7}/page{page * 37}.html", lang)
    assert len(pairs(site)) == 250
