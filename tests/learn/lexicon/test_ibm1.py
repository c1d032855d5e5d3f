"""Lexicons learned from sentence pairs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.lexicon import ibm1
from diptych.learn.lexicon.ibm1 import MAX_WORDS, train
from diptych.learn.lexicon.lexicon import Lexicon

TOY = [
    ("das haus", "la maison"),
    ("das buch", "le livre"),
    ("ein buch", "un livre"),
    ("ein haus", "une maison"),
    ("das haus und das buch", "la maison et le livre"),
]
PAIRS = [(left.split(), right.split()) for left, right in TOY]


def made(count: int, seed: int, words: int = 300) -> list[tuple[list[str], list[str]]]:
    """Sentences in two artificial languages: word n is word n, in another order, some missing."""
    chance = random.Random(seed)
    weights = [1 / (n + 3) for n in range(words)]
    found = []
    for _ in range(count):
        ids = chance.choices(range(words), weights, k=chance.randint(4, 14))
        other = [n for n in ids if chance.random() > 0.15]
        chance.shuffle(other)
        found.append(([f"a{n}" for n in ids], [f"b{n}" for n in other]))
    return found


def distance(one: Lexicon, other: Lexicon) -> float:
    """The mean distance between the translation probabilities of words in two lexicons."""
    apart = []
    for word in other.left_words:
        ours, theirs = dict(one.best(word, n=1000)), dict(other.best(word, n=1000))
        apart.append(sum(abs(ours.get(w, 0) - theirs.get(w, 0)) for w in {*ours, *theirs}))
    return sum(apart) / len(apart)


def as_bytes(lexicon: Lexicon) -> bytes:
    return lexicon.to_bytes()


def test_words_find_their_translations() -> None:
    lexicon = train(PAIRS, "de", "fr", iterations=10)
    assert lexicon.best("haus", n=1)[0][0] == "maison"
    assert lexicon.best("livre", "right", n=1)[0][0] == "buch"
    assert (lexicon.left_lang, lexicon.right_lang) == ("de", "fr")
    assert lexicon.left_words == tuple(sorted({word for left, _ in PAIRS for word in left}))


def test_two_made_up_languages_are_learned() -> None:
    lexicon = train(made(3000, 1), "xx", "yy")
    frequent = [f"a{n}" for n in range(100)]
    right = sum(lexicon.best(word, n=1)[0][0] == word.replace("a", "b") for word in frequent)
    back = sum(
        lexicon.best(word.replace("a", "b"), "right", n=1)[0][0] == word for word in frequent
    )
    assert min(right, back) >= 98


@given(st.randoms())
def test_the_order_of_pairs_does_not_matter(chance: random.Random) -> None:
    shuffled = chance.sample(PAIRS * 2, len(PAIRS) * 2)
    assert as_bytes(train(shuffled, "de", "fr")) == as_bytes(train(PAIRS * 2, "de", "fr"))


def test_swapping_the_sides_reverses_the_lexicon() -> None:
    there = train(PAIRS, "de", "fr")
    back = train([(right, left) for left, right in PAIRS], "fr", "de").reversed()
    assert as_bytes(there) == as_bytes(back) or distance(there, back) < 1e-5


def test_counts_are_the_expected_counts_of_words() -> None:
    lexicon = train(PAIRS, "de", "fr", min_probability=0)
    # What the empty word takes is missing.
    assert 0.5 * 13 < lexicon.left_counts.sum() < 13
    sums = np.add.reduceat(lexicon.forward.values, lexicon.forward.offsets[:-1])
    assert sums == pytest.approx(np.ones(len(sums)), abs=1e-4)


def test_pruning() -> None:
    lexicon = train(made(500, 1), "xx", "yy", min_probability=0.05, max_translations=3)
    for table in (lexicon.forward, lexicon.backward):
        assert table.values.min() >= 0.05
        assert np.diff(table.offsets).max() == 3
    whole = train(made(500, 1), "xx", "yy", min_probability=0, max_translations=1000)
    for word in ("a1", "a290", "a299"):
        assert lexicon.best(word) == [(w, p) for w, p in whole.best(word, n=3) if p >= 0.05]


def update(lexicon: Lexicon, pairs) -> Lexicon:
    """A lexicon trained further on new pairs."""
    return train(pairs, lexicon.left_lang, lexicon.right_lang, prior=lexicon)


def test_learning_in_two_steps_is_close_to_learning_at_once() -> None:
    first, second = made(300, 1), made(300, 2)
    at_once = train(first + second, "xx", "yy")
    alone, other = train(first, "xx", "yy"), train(second, "xx", "yy")
    in_steps = update(alone, second)
    gap = distance(in_steps, at_once)
    assert gap < 0.45 * distance(alone, at_once)
    assert gap < 0.45 * distance(other, at_once)
    assert in_steps.left_counts.sum() == pytest.approx(at_once.left_counts.sum(), rel=0.05)


def test_an_update_keeps_words_that_are_not_seen_again() -> None:
    old = train(PAIRS, "de", "fr", iterations=10)
    new = update(old, [(["das", "berg"], ["la", "montagne"])])
    # Some of it was pruned when it was made, and nothing of it is lost now.
    assert new.best("buch") == [(word, pytest.approx(p, rel=1e-3)) for word, p in old.best("buch")]
    assert new.best("berg", n=1)[0][0] == "montagne"  # for "la" is known to be "das"


def test_a_dictionary_separates_words_that_always_co_occur() -> None:
    pairs = [(["rot", "wein"], ["vin", "rouge"])] * 3
    blind = train(pairs, "de", "fr").best("rot")
    assert blind[0][1] == pytest.approx(blind[1][1])
    known = Lexicon.of_links("de", "fr", [("wein", "vin", 1.0)])
    lexicon = train(pairs, "de", "fr", prior=known)
    assert lexicon.best("rot", n=1)[0][0] == "rouge"
    assert lexicon.best("wein", n=1)[0][0] == "vin"
    assert lexicon.best("vin", "right", n=1)[0][0] == "wein"
    weak = train(pairs, "de", "fr", prior=known, prior_weight=0.01)
    assert dict(weak.best("wein"))["vin"] < dict(lexicon.best("wein"))["vin"]


def test_a_prior_of_other_languages_is_refused() -> None:
    with pytest.raises(ValueError, match="fr-de"):
        train(PAIRS, "de", "fr", prior=Lexicon.empty("fr", "de"))


def test_no_pairs_give_an_empty_lexicon() -> None:
    for pairs in ([], [([], [])], [(["a"], [])]):
        lexicon = train(pairs, "de", "fr")
        assert len(lexicon) == 0
        assert Lexicon.from_bytes(lexicon.to_bytes()).left_words == lexicon.left_words
    assert len(update(lexicon, PAIRS)) > 0


def test_an_overlong_sentence_is_skipped() -> None:
    huge = [(["x"] * (MAX_WORDS + 1), ["y"] * 5), (["x"], [f"y{n}" for n in range(100_000)])]
    assert as_bytes(train(PAIRS + huge, "de", "fr")) == as_bytes(train(PAIRS, "de", "fr"))


def test_a_bound_on_memory_drops_improbable_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = made(2000, 3)
    whole = train(pairs, "xx", "yy")
    bounded = train(pairs, "xx", "yy", max_entries=5000)
    frequent = [f"a{n}" for n in range(50)]
    same = sum(bounded.best(w, n=1)[0][0] == whole.best(w, n=1)[0][0] for w in frequent)
    assert same >= 48
    assert as_bytes(bounded) != as_bytes(whole)
    assert ibm1.MAX_ENTRIES >= 60_000_000  # what 100,000 pairs may have
