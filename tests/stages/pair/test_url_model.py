from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import FakeSite, at, paths
from support.tinymodel import tiny_model
from support.urlmodels import FakeLanguages

from diptych.errors import ConfigError
from diptych.learn.url import language as url_lang
from diptych.stages.pair import url_model
from diptych.stages.pair.url_model import UrlModel, site_habits

PAGES = ("water-music-1", "sea-bread-2", "night-house-3", "history-church-4", "market-bridge-5")


@pytest.fixture(scope="module", autouse=True)
def _languages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_lang, "load", lambda folder="": FakeLanguages())
        yield


@pytest.fixture(scope="module")
def pairer(tmp_path_factory: pytest.TempPathFactory) -> UrlModel:
    folder = tmp_path_factory.mktemp("url_pair")
    tiny_model().save(str(folder))
    return UrlModel(model=str(folder))


def bilingual(*langs: str, pages: tuple[str, ...] = PAGES) -> FakeSite:
    site = FakeSite(*langs)
    for page in pages:
        for lang in langs:
            site.page(f"/{lang}/{page}.html", lang)
    return site


EXPECTED = {(f"/en/{page}.html", f"/fr/{page}.html") for page in PAGES}


def test_pairs(pairer: UrlModel) -> None:
    found = pairer.pair(bilingual("en", "fr"))
    assert set(paths(found)) == EXPECTED
    scores = [pair.score for pair in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert {pair.evidence for pair in found} == {"url_model"}


def test_translated_slugs(pairer: UrlModel) -> None:
    site = FakeSite("en", "fr")
    slugs = {"water-music": "eau-musique", "sea-bread": "mer-pain", "night-house": "nuit-maison"}
    for one, other in slugs.items():
        site.page(f"/en/{one}.html", "en").page(f"/fr/{other}.html", "fr")
    expected = {(f"/en/{one}.html", f"/fr/{other}.html") for one, other in slugs.items()}
    assert set(paths(pairer.pair(site))) == expected


def test_one_page_one_partner(pairer: UrlModel) -> None:
    site = (
        bilingual("en", "fr")
        .page("/en/water-music-1.htm", "en")
        .page("/fr/old/water-music-1.html", "fr")
    )
    found = paths(UrlModel(pairer.model, least=0.001).pair(site))
    assert len({left for left, _ in found}) == len({right for _, right in found}) == len(found)


def test_three_languages(pairer: UrlModel) -> None:
    found = pairer.pair(bilingual("en", "fr", "de"))
    assert set(paths(found)) >= EXPECTED
    assert {(pair.left_lang, pair.right_lang) for pair in found} == {
        ("en", "fr"), ("en", "de"), ("fr", "de")
    }  # fmt: skip


def test_pages_in_third_languages_are_no_candidates(pairer: UrlModel) -> None:
    site = bilingual("en", "fr")
    for page in PAGES:
        site.page(f"/de/{page}.html", "de")
    assert set(paths(pairer.pair(site))) == EXPECTED


def test_pages_of_unknown_language_may_be_in_either(pairer: UrlModel) -> None:
    site = FakeSite("en", "fr")
    for number, page in enumerate(PAGES):
        site.page(f"/en/{page}.html", "" if number == 0 else "en")
        site.page(f"/fr/{page}.html", "" if number == 1 else "fr")
    found = pairer.pair(site)
    assert set(paths(found)) == EXPECTED
    assert {(pair.left_lang, pair.right_lang) for pair in found} == {("en", "fr")}
    unread = FakeSite("en", "fr")
    for page in PAGES:
        unread.page(f"/en/{page}.html").page(f"/fr/{page}.html")
    assert {frozenset(pair) for pair in paths(pairer.pair(unread))} == set(map(frozenset, EXPECTED))


@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=examples(10))
def test_order_of_pages_does_not_matter(pairer: UrlModel, chance: random.Random) -> None:
    site = bilingual("en", "fr", "de")
    order = list(range(len(site.pages)))
    chance.shuffle(order)
    assert pairer.pair(site.reordered(order)) == pairer.pair(site)


@pytest.mark.parametrize("langs", [(), ("en",), ("en", "fr")])
def test_sites_without_pairs(pairer: UrlModel, langs: tuple[str, ...]) -> None:
    assert pairer.pair(FakeSite(*langs)) == []
    assert pairer.pair(FakeSite(*langs).page("/", "en")) == []


def test_least_probability(pairer: UrlModel) -> None:
    site = bilingual("en", "fr")
    assert UrlModel(pairer.model, least=1.0).pair(site) == []
    every = UrlModel(pairer.model, least=0.0).pair(site)
    assert len(every) >= len(PAGES)


def test_no_model() -> None:
    with pytest.raises(ConfigError, match="train the model again"):
        UrlModel(model="nowhere").pair(bilingual("en", "fr"))


def test_large_sites(pairer: UrlModel) -> None:
    pages = tuple(f"water-music-{number}" for number in range(1000, 1210))
    found = set(paths(pairer.pair(bilingual("en", "fr", pages=pages))))
    expected = {(f"/en/{page}.html", f"/fr/{page}.html") for page in pages}
    assert len(found & expected) > 0.95 * len(expected)


X = at("/").rstrip("/")


def by_habit(scores: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    return url_model._with_habits(
        {(X + one, X + other): score for (one, other), score in scores.items()}
    )


SURE = {(f"/en/p{n}/a", f"/fr/q{n}/a"): 0.9 for n in range(6)}


def test_habits_of_the_site_raise_probabilities() -> None:
    doubtful = {("/en/x", "/fr/y"): 0.4, ("/en/z", "/de/z"): 0.4}
    found = by_habit(SURE | doubtful)
    assert found[f"{X}/en/x", f"{X}/fr/y"] > 0.4 > found[f"{X}/en/z", f"{X}/de/z"]


def test_folders_translated_elsewhere_on_the_site_count() -> None:
    doubtful = {("/en/p0/b", "/fr/q0/b"): 0.4, ("/en/p0/c", "/fr/q1/c"): 0.4}
    found = by_habit(SURE | doubtful)
    assert found[f"{X}/en/p0/b", f"{X}/fr/q0/b"] > found[f"{X}/en/p0/c", f"{X}/fr/q1/c"]


def test_few_sure_pairs_are_no_habit() -> None:
    few = dict(list(SURE.items())[:2]) | {("/en/x", "/fr/y"): 0.4}
    assert list(by_habit(few).values()) == list(few.values())


def test_strong_pairs_that_lose_to_stronger_ones_are_no_habit() -> None:
    # Likely, but not the likeliest of its pages, and unlike anything the site is sure of.
    rival = {("/en/p0/a", "/x?lang=7"): 0.8}
    found = by_habit(SURE | rival)
    assert found[f"{X}/en/p0/a", f"{X}/x?lang=7"] < 0.8
    assert all(0 < score < 1 for score in found.values())


@given(
    scores=st.dictionaries(
        st.tuples(
            *[st.sampled_from(["/en/a", "/en/b", "/fr/a", "/fr/b", "/a?lang=1", "/", "/x/y/z"])] * 2
        ),
        st.floats(0, 1, width=32),
    )
)
def test_habits_give_probabilities(scores: dict[tuple[str, str], float]) -> None:
    found = by_habit(scores)
    assert len(found) == len(scores)
    assert all(0 <= score <= 1 for score in found.values())


def test_pair_is_no_evidence_for_itself() -> None:
    odd = {("/en/odd", "/x/odd_7"): 0.9}
    found = by_habit(SURE | odd)
    assert found[f"{X}/en/odd", f"{X}/x/odd_7"] < 0.9


def test_habits_are_counted() -> None:
    habits = site_habits((f"{X}/en/news/{n}", f"{X}/fr/infos/{n}") for n in range(3))
    assert habits[b"news", b"infos"] == 3
    assert sorted(habits.values()) == [3, 3]


def test_without_habits_scores_are_the_models(pairer: UrlModel) -> None:
    site = bilingual("en", "fr")
    for pair in UrlModel(pairer.model, habits=False).pair(site):
        assert pair.score == pytest.approx(
            float(tiny_model().probabilities([pair.left], [pair.right])[0])
        )
