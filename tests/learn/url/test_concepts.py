"""Words that mean the same: learned from phrases, looked up by fingerprint or first letters."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.url.concepts import (
    PREFIX,
    SENSES,
    Concepts,
    Phrase,
    fingerprint,
    learn_concepts,
    slug_letters,
    slug_words,
    stem,
    word_pairs,
)

FRENCH = [
    ("red wine", "vin rouge"),
    ("red house", "maison rouge"),
    ("white house", "maison blanche"),
    ("white wine", "vin blanc"),
    ("the house", "la maison"),
    ("opening hours", "heures d’ouverture"),
    ("opening", "ouverture"),
    ("accommodation", "hébergement"),
    ("small companies", "petites entreprises"),
    ("company", "entreprise"),
]
GERMAN = [
    ("red wine", "roter Wein"),
    ("wine", "Wein"),
    ("overview", "Übersicht"),
    ("small", "klein"),
]
RUSSIAN = [("accommodation", "проживание"), ("overview", "обзор"), ("company", "компания")]
USED = {
    word: 10.0 - place / 10
    for place, word in enumerate(
        "red white wine house the opening hours hour accommodation small company companies"
        " overview".split()
    )
}


@pytest.fixture(scope="module")
def concepts() -> Concepts:
    return learn_concepts(phrases(), USED)


def phrases() -> list[Phrase]:
    return [
        Phrase(lang, english, other)
        for lang, pairs in (("fr", FRENCH), ("de", GERMAN), ("ru", RUSSIAN))
        for english, other in pairs
    ]


def likeness(concepts: Concepts, one: str, other: str) -> float:
    return concepts.similarity(one.encode(), other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("red", "rouge"),
        ("wine", "vin"),
        ("house", "maison"),
        ("accommodation", "hebergement"),
        ("wine", "wein"),
        ("vin", "wein"),  # neither is English
        ("overview", "uebersicht"),  # umlauts are spelled in two ways
        ("overview", "ubersicht"),
        ("accommodation", "prozhivanie"),  # Russian in Latin letters, as slugs write it
        ("hebergement", "prozhivanie"),
    ],
)
def test_words_that_mean_the_same_are_found(concepts: Concepts, one: str, other: str) -> None:
    assert likeness(concepts, one, other) > 0.5
    assert likeness(concepts, one, other) == likeness(concepts, other, one)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(("red", "rouge"), ("red", "vin")), (("house", "maison"), ("house", "rouge"))],
)
def test_words_of_one_phrase_are_told_apart(
    concepts: Concepts, right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    assert likeness(concepts, *right) > 1.5 * likeness(concepts, *wrong)


def test_an_english_word_means_itself(concepts: Concepts) -> None:
    for word in USED:
        assert likeness(concepts, word, word) == 1


def test_english_plurals_share_their_concept(concepts: Concepts) -> None:
    assert likeness(concepts, "hours", "hour") == 1
    assert likeness(concepts, "companies", "company") == 1
    assert likeness(concepts, "companies", "entreprise") > 0.5


@pytest.mark.parametrize(
    ("word", "alike"),
    [
        ("hebergements", "accommodation"),
        ("entrepreneur", "company"),
        ("prozhivaniya", "accommodation"),
    ],
)
def test_unknown_words_are_looked_up_by_their_first_letters(
    concepts: Concepts, word: str, alike: str
) -> None:
    assert likeness(concepts, word, alike) > 0.3


def test_first_letters_must_be_five_and_more_must_follow(concepts: Concepts) -> None:
    assert concepts.senses(b"prozhit")
    assert not concepts.senses(b"prozit")
    assert not concepts.senses(b"prozh")


@pytest.mark.parametrize("word", ["", "zzz", "hebe", "xhebergement", "*", "heb*"])
def test_unknown_words_have_no_sense(concepts: Concepts, word: str) -> None:
    assert concepts.senses(word.encode()) == {}
    assert likeness(concepts, word, "house") == 0
    assert likeness(concepts, word, word) == 0


def test_shapes_and_order(concepts: Concepts) -> None:
    assert concepts.keys.dtype == np.uint32
    assert (np.diff(concepts.keys.astype(np.int64)) > 0).all()
    assert concepts.ids.shape == concepts.scores.shape == (len(concepts.keys), SENSES)
    assert (concepts.ids.dtype, concepts.scores.dtype) == (np.uint16, np.uint8)
    # The surest sense comes first.
    assert (np.diff(concepts.scores.astype(int), axis=1) <= 0).all()


def test_order_of_phrases_does_not_matter(concepts: Concepts) -> None:
    shuffled = phrases()
    random.Random(5).shuffle(shuffled)
    again = learn_concepts(shuffled, USED)
    for name in ("keys", "ids", "scores"):
        assert np.array_equal(getattr(again, name), getattr(concepts, name))


def test_weights_count_as_often() -> None:
    heavy = [Phrase("fr", "red", "rouge", 3.0), Phrase("fr", "wine", "rouge")]
    often = [Phrase("fr", "red", "rouge")] * 3 + [Phrase("fr", "wine", "rouge")]
    one, other = learn_concepts(heavy, USED), learn_concepts(often, USED)
    assert one.senses(b"rouge") == other.senses(b"rouge")
    assert likeness(one, "red", "rouge") > likeness(one, "wine", "rouge")


def test_words_of_what_is_used_most_are_kept_where_not_all_fit() -> None:
    small = learn_concepts(phrases(), USED, words=4)
    assert small.senses(b"hours")  # with `hour` it is used most
    assert small.senses(b"heures")
    assert not small.senses(b"overview")
    assert not small.senses(b"ubersicht")


def test_what_is_not_used_is_no_concept() -> None:
    assert not learn_concepts(phrases(), {"red": 1.0}).senses(b"maison")


@pytest.mark.parametrize(
    ("phrases", "used"),
    [
        ([], {}),
        ([Phrase("fr", "red", "rouge")], {}),
        ([Phrase("fr", "", "rouge"), Phrase("fr", "1", "2")], {}),
    ],
)
def test_nothing_is_learned_from_nothing(phrases: list[Phrase], used: dict[str, float]) -> None:
    empty = learn_concepts(phrases, used)
    assert len(empty.keys) == 0
    assert empty.ids.shape == (0, SENSES)
    assert empty.senses(b"red") == {}
    assert empty.similarity(b"red", b"red") == 0


def test_english_alone_is_a_lexicon_too() -> None:
    english = learn_concepts([], {"service": 2.0, "services": 1.0})
    assert likeness(english, "service", "services") == 1


def test_rows_without_a_score_say_nothing() -> None:
    key = np.array([fingerprint(b"red")], np.uint32)
    empty = Concepts(key, np.ones((1, SENSES), np.uint16), np.zeros((1, SENSES), np.uint8))
    assert empty.senses(b"red") == {}


@pytest.mark.parametrize(
    ("word", "number"),  # FNV-1a of 64 bits, its test vectors
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_fingerprints(word: bytes, number: int) -> None:
    assert fingerprint(word) == number >> 32 ^ number & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cities", "city"),
        ("ties", "tie"),
        ("news", "new"),
        ("bus", "bus"),
        ("as", "as"),
        ("class", "class"),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_as_in_slugs() -> None:
    assert slug_words("Smørrebrød & Łódź 2024 — d’été_x") == ["smorrebrod", "lodz", "d", "ete", "x"]
    assert slug_letters("İstanbul, Þingvellir") == "istanbul, thingvellir"
    assert slug_words("Письмо Ελλάδα") == ["pismo", "ellada"]
    assert slug_letters("e\u0301te") == "ete"
    assert slug_words("") == []


@given(text=st.text())
def test_slugs_are_plain_letters_and_no_delimiter_is_made(text: str) -> None:
    slug = slug_letters(text)
    assert slug.isascii()
    assert slug == slug.lower()
    for delimiter in "/?&=#.%:":
        assert slug.count(delimiter) == text.count(delimiter)


def test_word_pairs_are_probabilities() -> None:
    counted = {(one, other): 1.0 for one, other in FRENCH}
    found = {(one, other): score for one, other, score in word_pairs(counted)}
    assert all(0 < score <= 1 for score in found.values())
    assert found["red", "rouge"] == max(s for (one, _), s in found.items() if one == "red")
    assert PREFIX == 5
