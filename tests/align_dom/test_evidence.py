from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import make_page

from diptych.align_dom.document import document
from diptych.align_dom.domtree import DomTree, _with_moved
from diptych.align_dom.evidence import Evidence, length_gains, read_evidence, read_texts
from diptych.learn.ibm1 import train
from diptych.learn.lexicon import Lexicon

PAPER = Evidence(
    words=1.0, null=0.0, backward=0.0, rare=0.0, identical=0.0, length=0.0, one_sided=0.0,
    same_link=0.0,
)  # fmt: skip
SAME = "zeta 1999 eta 1998 theta 1997 iota 1996 kappa 1995 lambda 1994 mu 1993"
WORDS = [(["house", "red"], ["maison", "rouge"]), (["house"], ["maison"]), (["red"], ["rouge"])]


def gains(
    left: list[str], right: list[str], evidence: Evidence, lexicon: Lexicon | None = None
) -> np.ndarray:
    """Gains of the paragraphs of two pages."""
    trees = [document(make_page("/", "", *side)) for side in (left, right)]
    texts = read_texts(trees[0], "en"), read_texts(trees[1], "fr")
    known = read_evidence(*texts, lexicon or Lexicon.empty("en", "fr"), evidence)
    ours, theirs = ([k for k, block in enumerate(tree.blocks) if block >= 0] for tree in trees)
    every = known.gains(slice(0, len(trees[0])), slice(0, len(trees[1])))
    return every[np.ix_(ours, theirs)]


def test_without_lexicon_the_paper_knows_nothing() -> None:
    assert gains(["red house"], ["maison rouge", "chat"], PAPER).tolist() == [[0.0, 0.0]]


def test_gain_of_words_is_model_1_over_chance() -> None:
    lexicon = train(WORDS * 5, "en", "fr", iterations=3)
    found = gains(["red house", "red"], ["maison rouge", "maison"], PAPER, lexicon)
    row = lexicon.backward
    probability = np.zeros((2, 2))  # of left words given right ones
    for j, right in enumerate(("maison", "rouge")):
        at = lexicon.right_ids[right]
        for k in range(row.offsets[at], row.offsets[at + 1]):
            word = lexicon.left_words[row.columns[k]]
            probability[("house", "red").index(word), j] = row.values[k]
    # Chance, of three words: red twice, house once, each smoothed by a half.
    chance = {"house": 1.5 / 5, "red": 2.5 / 5}
    house, red = (
        (1 + probability[k].sum() / chance[word]) / 3 for k, word in enumerate(("house", "red"))
    )
    assert found[0, 0] == pytest.approx(np.log(house * red), abs=1e-3)
    only = (1 + probability[1, 0] / chance["red"]) / 2
    assert found[1, 1] == pytest.approx(np.log(only), abs=1e-3)


def test_both_directions_are_weighed() -> None:
    lexicon = train(WORDS * 5, "en", "fr")
    one, other, half = (
        gains(["red house", "red"], ["maison"], replace(PAPER, backward=weight), lexicon)
        for weight in (0.0, 1.0, 0.5)
    )
    assert one != pytest.approx(other)
    assert half == pytest.approx((one + other) / 2, abs=1e-5)


def test_other_direction_is_that_of_the_pages_exchanged() -> None:
    lexicon = train(WORDS * 5, "en", "fr")
    turned = train([(fr, en) for en, fr in WORDS] * 5, "fr", "en")
    ours = gains(["red house", "red"], ["maison"], replace(PAPER, backward=1.0), lexicon)
    theirs = gains(["maison"], ["red house", "red"], PAPER, turned)
    assert ours == pytest.approx(theirs.T, abs=1e-4)


def test_words_seen_seldom_are_believed_less() -> None:
    lexicon = train(WORDS, "en", "fr")
    sure, doubted = (
        gains(["red"], ["rouge"], replace(PAPER, rare=rare), lexicon)[0, 0] for rare in (0.0, 2.0)
    )
    assert sure > doubted > 0


def test_number_that_is_missing_speaks_against() -> None:
    found = gains(["in 1956", "in 1957"], ["en 1956", "en 1957"], replace(PAPER, identical=0.8))
    assert found[0, 0] > 0 > found[0, 1]
    assert found[1, 1] > 0 > found[1, 0]


def test_text_beside_none_costs() -> None:
    trees = [document(make_page("/", "", *side)) for side in (["one"], ["un"])]
    texts = [read_texts(tree, "en") for tree in trees]
    evidence = replace(PAPER, one_sided=3.0)
    known = read_evidence(*texts, Lexicon.empty("", ""), evidence).gains(slice(0, 3), slice(0, 3))
    assert known.tolist() == [[0, -3, -3], [-3, 0, 0], [-3, 0, 0]]


def test_like_lengths_gain_and_unlike_ones_cost() -> None:
    table = length_gains(np.array([10.0, 100.0, 1e9]), np.array([10.0, 100.0, 400.0]))
    assert table[1, 1] > table[0, 0] > 0 > table[0, 1] > table[0, 2]
    assert np.isfinite(table).all()


def test_part_of_the_nodes_gains_as_in_the_whole() -> None:
    left = [f"the number {k} and word{k % 3}" for k in range(9)]
    trees = [document(make_page("/", "", *side)) for side in (left, left[::-1])]
    texts = [read_texts(tree, "en") for tree in trees]
    known = read_evidence(*texts, Lexicon.empty("", ""), Evidence())
    whole = known.gains(slice(0, 11), slice(0, 11))
    assert known.gains(slice(2, 7), slice(4, 9)) == pytest.approx(whole[2:7, 4:9], abs=1e-5)


def test_two_texts_that_changed_places_are_exchanged() -> None:
    found = np.full((3, 3), -20.0, np.float32)
    found[0, 1], found[1, 0], found[2, 2] = 20.0, 3.0, 9.0
    blocks = [0, 1, 2], [0, 1, 2]
    # The first is sure; the others are what it leaves.
    assert _with_moved([(0, 0), (1, 1), (2, 2)], blocks, found, 6.0) == [(0, 1), (1, 0), (2, 2)]
    assert _with_moved([(0, 0), (1, 1), (2, 2)], blocks, found, 50.0) == [(0, 0), (1, 1), (2, 2)]
    found[1, 0] = -1.0
    assert _with_moved([(0, 0), (1, 1), (2, 2)], blocks, found, 6.0) == [(0, 1), (2, 2)]


def test_texts_left_over_are_paired_if_they_are_sure() -> None:
    found = np.array([[9.0, -5.0], [-5.0, 2.0]], np.float32)
    assert _with_moved([], ([0, 1], [0, 1]), found, 6.0) == [(0, 0)]
    assert _with_moved([], ([], [0]), found, 6.0) == []


def test_long_texts_must_share_more_words_to_be_taken_for_moved() -> None:
    names = "alpha beta gamma delta"
    left = make_page("/", "", SAME, f"{names} " + "here are many more words of this page " * 9)
    right = make_page(
        "/", "", f"{names} " + "autres mots tout simplement sur cette page " * 9, SAME
    )
    strict, loose = (DomTree(per_word=value, length=0.0).align(left, right) for value in (2.0, 0.0))
    assert sum(bool(pair.left and pair.right) for pair in loose) > sum(
        bool(pair.left and pair.right) for pair in strict
    )
