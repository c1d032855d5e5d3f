from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at

from diptych.stages.crawl.hybrid.language_guess import (
    OTHER,
    LanguageGuesser,
    link_features,
    text_languages,
)
from diptych.types import Link

LANGS = ("en", "fr")


def likeliest(guess: dict[str, float]) -> str:
    return max(guess, key=lambda lang: guess[lang])


def features(
    guesser: LanguageGuesser, path: str, anchor: str = "", source: str = "en"
) -> tuple[int, ...]:
    return guesser.feature_ids([*link_features(Link(at(path), anchor=anchor)), f"s:{source}"])


# -- first guesses ---------------------------------------------------------------------------------


def test_declared_language_is_believed_before_anything_else() -> None:
    first = LanguageGuesser(LANGS).first_guess("fr", "en", {"en": 0.99})
    assert likeliest(first) == "fr"


def test_other_language_that_is_declared_is_believed_too() -> None:
    assert likeliest(LanguageGuesser(LANGS).first_guess(OTHER, "en", {})) == OTHER


def test_links_mostly_stay_within_the_language_of_their_page() -> None:
    guesser = LanguageGuesser(LANGS)
    assert likeliest(guesser.first_guess("", "fr", {})) == "fr"
    assert likeliest(guesser.first_guess("", OTHER, {})) == OTHER


def test_without_knowledge_all_languages_are_equally_likely() -> None:
    assert len(set(LanguageGuesser(LANGS).first_guess("", "", {}).values())) == 1


def test_model_counts_by_its_confidence() -> None:
    guesser = LanguageGuesser(LANGS)
    unsure, sure = (guesser.first_guess("", "en", {"fr": share}) for share in (0.4, 0.99))
    assert likeliest(unsure) == "en"
    assert unsure == guesser.first_guess("", "en", {})
    assert likeliest(sure) == "fr"


@given(
    st.sampled_from(["", "en", "fr", OTHER]), st.sampled_from(["", "en", "fr", OTHER]),
    st.dictionaries(st.sampled_from(["en", "fr", OTHER]), st.floats(0, 1), max_size=1),
)  # fmt: skip
def test_first_guess_is_a_distribution_over_all_languages(
    declared: str, source: str, model: dict[str, float]
) -> None:
    first = LanguageGuesser(LANGS).first_guess(declared, source, model)
    assert set(first) == {"en", "fr", OTHER}
    assert all(0 <= rate <= 1 for rate in first.values())
    assert sum(first.values()) <= 1 + 1e-9


# -- what a site teaches ---------------------------------------------------------------------------


def test_language_of_a_folder_is_learned() -> None:
    guesser = LanguageGuesser(LANGS)
    first = guesser.first_guess("", "en", {})
    for number in range(5):
        guesser.learn(features(guesser, f"/doc/x/{number}"), "fr")
        guesser.learn(features(guesser, f"/doc/y/{number}"), "en")
    assert likeliest(guesser.guess(features(guesser, "/doc/x/new"), first).shares) == "fr"
    assert likeliest(guesser.guess(features(guesser, "/doc/y/new"), first).shares) == "en"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("http://a.example.org/{}", "http://b.example.org/{}"),
        ("/{}_e.html", "/{}_f.html"),
        ("/page?id={}&l=x", "/page?id={}&l=y"),
        ("/u-{}.html", "/v-{}.html"),
    ],
)
def test_language_is_learned_from_other_parts_of_a_url(left: str, right: str) -> None:
    guesser = LanguageGuesser(LANGS)
    for number in range(10, 16):
        guesser.learn(features(guesser, left.format(number)), "en")
        guesser.learn(features(guesser, right.format(number)), "fr")
    even = guesser.first_guess("", "", {})
    for form, lang in ((left, "en"), (right, "fr")):
        assert likeliest(guesser.guess(features(guesser, form.format(99)), even).shares) == lang


def test_language_is_learned_from_the_link_text() -> None:
    guesser = LanguageGuesser(LANGS)
    first = guesser.first_guess("", "en", {})
    for number in range(5):
        guesser.learn(features(guesser, f"/{number}", "more"), "en")
        guesser.learn(features(guesser, f"/{number}", "Magyarul"), OTHER)
    assert likeliest(guesser.guess(features(guesser, "/9", "Magyarul"), first).shares) == OTHER
    assert likeliest(guesser.guess(features(guesser, "/9", "more"), first).shares) == "en"


def test_first_guess_that_is_always_wrong_is_corrected() -> None:
    guesser = LanguageGuesser(LANGS)
    first = guesser.first_guess("", "en", {})
    for number in range(9):
        guesser.learn((guesser.feature_ids([f"x:{number}", "s:en"])), "fr")
    assert likeliest(guesser.guess(guesser.feature_ids(["x:new", "s:en"]), first).shares) == "fr"


def test_unseen_features_change_nothing() -> None:
    guesser = LanguageGuesser(LANGS)
    first = guesser.first_guess("", "fr", {})
    assert guesser.guess(features(guesser, "/a/b/c", "d"), first).shares == first
    assert guesser.guess((), first).shares == first


def test_guess_that_was_made_before_does_not_outlive_the_next_page() -> None:
    asked, fresh = LanguageGuesser(LANGS), LanguageGuesser(LANGS)
    for number in range(6):
        lang = "fr" if number % 3 else "en"
        for guesser in (asked, fresh):
            guesser.learn(features(guesser, f"/{lang}/{number}"), lang)
            features(guesser, "/fr/new")
        first = asked.first_guess("", "en", {})
        asked.guess(features(asked, "/fr/new"), first)
    asked.uncount("en")
    fresh.uncount("en")
    one, other = (each.guess(features(each, "/fr/new"), first) for each in (asked, fresh))
    assert one == other
    assert one.likeliest == one.asked == "fr"
    assert one.wanted == pytest.approx(one.shares["en"] + one.shares["fr"])


def test_guess_from_a_feature_follows_the_pages_without_it() -> None:
    asked, fresh = LanguageGuesser(LANGS), LanguageGuesser(LANGS)
    found = []
    for guesser in (asked, fresh):
        ids = guesser.feature_ids(["x", "s:"])
        guesser.learn(ids[:1], "fr")
        first = guesser.first_guess("", "", {})
        if guesser is asked:
            found.append(guesser.guess(ids, first))
        for _ in range(9):
            guesser.learn(guesser.feature_ids(["y"]), "en")
        found.append(guesser.guess(ids, first))
    before, one, other = found
    assert one == other
    assert one.shares["en"] > before.shares["en"]


def test_first_guesses_with_the_same_features_are_told_apart() -> None:
    guesser = LanguageGuesser(LANGS)
    guesser.learn(features(guesser, "/x"), "en")
    ids = guesser.feature_ids(["s:fr"])
    found = [guesser.guess(ids, guesser.first_guess(lang, "", {})).likeliest for lang in LANGS]
    assert found == list(LANGS)


def test_features_have_the_same_numbers_each_time() -> None:
    guesser = LanguageGuesser(LANGS)
    assert guesser.feature_ids(["a", "b"]) == guesser.feature_ids(["a", "b"])
    assert guesser.feature_ids(["b", "c"])[0] == guesser.feature_ids(["a", "b"])[1]


@given(st.lists(st.tuples(st.sampled_from(["/en/a", "/fr/b?l=1", "/c", "/"]),
                          st.sampled_from(["en", "fr", OTHER])), max_size=30),
       st.sampled_from(["/en/a", "/fr/x", "/y"]))  # fmt: skip
def test_guess_is_always_a_probability(seen: list[tuple[str, str]], path: str) -> None:
    guesser = LanguageGuesser(LANGS)
    for other, lang in seen:
        guesser.learn(features(guesser, other), lang)
    guess = guesser.guess(features(guesser, path), guesser.first_guess("", "en", {})).shares
    assert sum(guess.values()) == pytest.approx(1.0)
    assert all(0 <= rate <= 1 for rate in guess.values())


# -- features --------------------------------------------------------------------------------------


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_link_has_features(path: str, anchor: str) -> None:
    found = link_features(Link("http://example.org/" + path, anchor=anchor))  # type: ignore[arg-type]
    assert found
    assert all(len(feature) <= len(path) + 40 for feature in found)


def test_long_texts_and_numbers_are_no_features() -> None:
    short, long = (
        link_features(Link(at("/a"), anchor="x")),
        link_features(Link(at("/a"), anchor="x" * 99)),
    )
    assert len(short) == len(long) + 1
    assert link_features(Link(at("/a?id=7"))) == link_features(Link(at("/a?id=8")))


# -- texts -----------------------------------------------------------------------------------------

ENGLISH, FRENCH = "The opening hours of our library in winter", "Les horaires de la bibliothèque"


def test_text_of_a_link_counts_before_the_words_of_its_url() -> None:
    words = FRENCH.lower().replace(" ", "-")
    links = [
        Link(at(f"/{words}"), anchor=ENGLISH),
        Link(at(f"/{words}/?page=2"), anchor="Home"),
        Link(at("/a7"), anchor="Home"),
        Link(at("/b7"), anchor=FRENCH),
    ]
    assert text_languages(links, LANGS) == ["en", "fr", "", "fr"]
    assert [text_languages([link], LANGS)[0] for link in links] == ["en", "fr", "", "fr"]
    assert text_languages([], LANGS) == []
