"""Words that mean the same: learned from phrases and slugs, looked up in the lexicon."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from bench.training.concepts import (
    Phrase,
    learn_concepts,
    slug_phrases,
    slug_words,
    stem,
    url_words,
    used_words,
    word_pairs,
)
from diptych.learn.url.concepts import PREFIX, SENSES, Concepts, slug_letters
from diptych.learn.url.data import LabelledPair

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


def similarity(concepts: Concepts, one: str, other: str) -> float:
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
    assert similarity(concepts, one, other) > 0.5
    assert similarity(concepts, one, other) == similarity(concepts, other, one)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(("red", "rouge"), ("red", "vin")), (("house", "maison"), ("house", "rouge"))],
)
def test_words_of_one_phrase_are_told_apart(
    concepts: Concepts, right: tuple[str, str], wrong: tuple[str, str]
) -> None:
    assert similarity(concepts, *right) > 1.5 * similarity(concepts, *wrong)


def test_an_english_word_means_itself(concepts: Concepts) -> None:
    for word in USED:
        assert similarity(concepts, word, word) == 1


def test_english_plurals_share_their_concept(concepts: Concepts) -> None:
    assert similarity(concepts, "hours", "hour") == 1
    assert similarity(concepts, "companies", "company") == 1
    assert similarity(concepts, "companies", "entreprise") > 0.5


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
    assert similarity(concepts, word, alike) > 0.3


def test_first_letters_must_be_five_and_more_must_follow(concepts: Concepts) -> None:
    assert concepts.senses(b"prozhit")
    assert not concepts.senses(b"prozit")
    assert not concepts.senses(b"prozh")


@pytest.mark.parametrize("word", ["", "zzz", "hebe", "xhebergement", "*", "heb*"])
def test_unknown_words_have_no_sense(concepts: Concepts, word: str) -> None:
    assert concepts.senses(word.encode()) == {}
    assert similarity(concepts, word, "house") == 0
    assert similarity(concepts, word, word) == 0


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
    assert similarity(one, "red", "rouge") > similarity(one, "wine", "rouge")


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
    assert similarity(english, "service", "services") == 1


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


def test_word_pairs_are_probabilities() -> None:
    counted = {(one, other): 1.0 for one, other in FRENCH}
    found = {(one, other): score for one, other, score in word_pairs(counted)}
    assert all(0 < score <= 1 for score in found.values())
    assert found["red", "rouge"] == max(s for (one, _), s in found.items() if one == "red")
    assert PREFIX == 5


def pair(
    left: str, right: str, langs: str = "en fr", domain: str = "x.org", weight: float = 1.0
) -> LabelledPair:
    one, other = langs.split()
    return LabelledPair(domain, f"http://x.org{left}", one, f"http://x.org{right}", other, weight)


def test_phrases_are_the_words_by_which_slugs_differ() -> None:
    rows = [
        pair("/en/red-wine/12", "/fr/vin-rouge/12", weight=0.5),
        pair("/fr/contact", "/en/contact-us", "fr en"),
        pair("/de/rot", "/fr/rouge", "de fr"),  # no English
        pair("/en/a", "/en/b", "en en"),
        pair("/same", "/same?lang=fr"),
    ]
    assert list(slug_phrases(rows)) == [
        Phrase("fr", "en red wine", "fr vin rouge", 1.0),
        Phrase("fr", "en us", "fr", 2.0),
    ]


def test_phrases_of_large_domains_are_bounded() -> None:
    word = "abcdefghij"
    rows = [
        pair(f"/e{word[n % 10]}{word[n // 10]}", f"/f{word[n % 10]}{word[n // 10]}")
        for n in range(100)
    ]
    assert len(list(slug_phrases(rows))) == 40
    long = [pair("/" + "-".join("e" + c for c in "abcdefghijklmnopqrst"), "/x")]
    assert len(next(slug_phrases(long)).english.split()) == 12


def test_used_words_are_those_of_english_urls() -> None:
    rows = [pair("/red-wine", "/vin"), pair("/vin", "/red", "fr en"), pair("/x", "/y", "de fr")]
    assert used_words(rows) == Counter({"red": 2, "wine": 1})


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://red.org", []),
        ("http://red.org/", []),
        ("http://x.org/Red/%C3%89t%C3%A9-12?q=wine#x", ["red", "ete", "q", "wine", "x"]),
        ("", []),
    ],
)
def test_words_of_urls(url: str, words: list[str]) -> None:
    assert list(url_words(url)) == words
