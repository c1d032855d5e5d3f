from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support.fakes import make_page

from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_dom.domtree.crossing import with_moved, with_swapped
from diptych.stages.align_dom.domtree.document import document
from diptych.stages.align_dom.domtree.evidence import length_gains, read_evidence
from diptych.stages.align_dom.domtree.strategy import DomTree

PAPER = DomTree(
    null=0.0, backward=0.0, cognates=False, length=0.0, one_sided=0.0, same_link=0.0, crossing=0.0
)
SAME = "zeta 1999 eta 1998 theta 1997 iota 1996 kappa 1995 lambda 1994 mu 1993"
WORDS = [(["house", "red"], ["maison", "rouge"]), (["house"], ["maison"]), (["red"], ["rouge"])]


def gains(
    left: list[str], right: list[str], evidence: DomTree, lexicon: Lexicon | None = None
) -> np.ndarray:
    """Gains of the paragraphs of two pages."""
    trees = document(make_page("/", "", *left)), document(make_page("/", "", *right))
    known = read_evidence(trees, lexicon or Lexicon.empty("en", "fr"), evidence)
    ours, theirs = ([k for k, block in enumerate(tree.blocks) if block >= 0] for tree in trees)
    every = known.gains(slice(0, len(trees[0])), slice(0, len(trees[1])))
    return every[np.ix_(ours, theirs)]


def test_gain_of_words_in_the_paper_is_model_1_over_chance() -> None:
    lexicon = Lexicon.of_links("en", "fr", [("house", "maiso", 1), ("red", "rouge", 1)])
    found = gains(["red house", "red"], ["maiso rouge", "maiso"], PAPER, lexicon)
    # Chance: a word seen n times in three is n and a tenth in five hundred and three.
    house, red = 503 / 1.1, 503 / 2.1
    assert found[0, 0] == pytest.approx(math.log((1 + house) / 3 * (1 + red) / 3), abs=1e-3)
    assert found[0, 1] == pytest.approx(math.log((1 + house) / 2 / 2), abs=1e-3)
    assert found[1, 1] == pytest.approx(math.log(1 / 2), abs=1e-3)


def test_without_lexicon_unknown_words_are_no_evidence() -> None:
    alone = replace(PAPER, null=0.4)
    assert gains(["red house"], ["maison rouge", "chat"], alone) == pytest.approx(0.0)
    assert gains(["red house"], ["maison rouge", "chat"], PAPER)[0, 0] < 0


def test_both_directions_are_weighted() -> None:
    lexicon = train(WORDS * 5, "en", "fr")
    one, other, half = (
        gains(["red house", "red"], ["maison"], replace(PAPER, backward=weight), lexicon)
        for weight in (0.0, 1.0, 0.5)
    )
    assert one != pytest.approx(other)
    assert half == pytest.approx((one + other) / 2, abs=1e-5)


def test_other_direction_is_that_of_the_pages_exchanged() -> None:
    lexicon = train(WORDS * 5, "en", "fr")
    ours = gains(["red house", "red"], ["maison"], replace(PAPER, backward=1.0), lexicon)
    theirs = gains(["maison"], ["red house", "red"], PAPER, lexicon.reversed())
    assert ours == pytest.approx(theirs.T, abs=1e-4)


def test_rare_words_count_less() -> None:
    words = Lexicon.of_links("en", "fr", [("house", "maiso", 1), ("red", "rouge", 1)])
    seen = [np.full(2, times, np.float32) for times in (1, 100)]
    wrong = [
        gains(
            ["red"], ["maiso"], replace(PAPER, null=0.4),
            replace(words, left_counts=counts, right_counts=counts),
        )[0, 0]
        for counts in seen
    ]  # fmt: skip
    assert wrong[1] < wrong[0] < 0


def test_missing_number_is_evidence_against() -> None:
    evidence = replace(PAPER, null=0.4, cognates=True)
    found = gains(["in 1956", "in 1957"], ["en 1956", "en 1957"], evidence)
    assert found[0, 0] > 0 > found[0, 1]
    assert found[1, 1] > 0 > found[1, 0]


def test_text_without_counterpart_costs() -> None:
    trees = document(make_page("/", "", "one")), document(make_page("/", "", "un"))
    evidence = replace(PAPER, null=0.4, one_sided=3.0)
    known = read_evidence(trees, Lexicon.empty("", ""), evidence).gains(slice(0, 3), slice(0, 3))
    assert known.tolist() == [[0, -3, -3], [-3, 0, 0], [-3, 0, 0]]


def test_paper_has_no_other_evidence() -> None:
    paper = DomTree.of_paper()
    trees = document(make_page("/", "", "x")), document(make_page("/", "", "y"))
    pages = make_page("/", "en", "x"), make_page("/", "fr", "y")
    assert paper.evidence(trees, pages, None).weights == PAPER
    assert paper.crossing == 0.0


def test_similar_lengths_gain_and_different_ones_cost() -> None:
    table = length_gains(np.array([10.0, 100.0, 1e9]), np.array([10.0, 100.0, 400.0]))
    assert table[1, 1] > table[0, 0] > 0 > table[0, 1] > table[0, 2]
    assert np.isfinite(table).all()


def test_part_of_the_nodes_gains_as_in_the_whole() -> None:
    left = [f"the number {k} and word{k % 3}" for k in range(9)]
    trees = [document(make_page("/", "", *side)) for side in (left, left[::-1])]
    known = read_evidence((trees[0], trees[1]), Lexicon.empty("", ""), DomTree())
    whole = known.gains(slice(0, 11), slice(0, 11))
    assert known.gains(slice(2, 7), slice(4, 9)) == pytest.approx(whole[2:7, 4:9], abs=1e-5)


def test_neighbours_are_paired_crosswise_where_that_gains_more() -> None:
    blocks = [0, 1, 2], [0, 1, 2]
    found = np.full((3, 3), 1.0, np.float32)
    found[0, 1] = found[1, 0] = 5.0
    in_order = [(0, 0), (1, 1), (2, 2)]
    assert with_swapped(in_order, blocks, found, 6.0) == [(0, 1), (1, 0), (2, 2)]
    assert with_swapped(in_order, blocks, found, 9.0) == in_order
    # One was aligned across, the other was left over on both sides.
    assert with_swapped([(1, 0)], blocks, found, 4.0) == [(0, 1), (1, 0)]
    assert with_swapped([(0, 1)], blocks, found, 4.0) == [(0, 1), (1, 0)]
    assert with_swapped([(1, 0)], blocks, found, 5.0) == [(1, 0)]


def between(gains):
    return lambda rows, columns: gains[np.ix_(rows, columns)]


def test_two_texts_that_changed_places_are_exchanged() -> None:
    found = np.full((3, 3), -20.0, np.float32)
    found[0, 1], found[1, 0], found[2, 2] = 20.0, 3.0, 9.0
    blocks = [0, 1, 2], [0, 1, 2]
    # The first is sure; the others are what it leaves.
    assert with_moved([(0, 0), (1, 1), (2, 2)], blocks, between(found), 6.0) == [
        (0, 1),
        (1, 0),
        (2, 2),
    ]
    assert with_moved([(0, 0), (1, 1), (2, 2)], blocks, between(found), 50.0) == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]
    found[1, 0] = -1.0
    assert with_moved([(0, 0), (1, 1), (2, 2)], blocks, between(found), 6.0) == [(0, 1), (2, 2)]


def test_rival_for_the_same_text_counts_against_the_margin() -> None:
    found = np.array([[10.0, 0.0], [9.5, 0.0]], np.float32)
    assert with_moved([], ([0, 1], [0, 1]), between(found), 4.0) == []
    assert with_moved([], ([0, 1], [0, 1]), between(found), 0.4) == [(0, 0)]


def test_texts_left_over_are_paired_if_they_are_sure() -> None:
    found = np.array([[9.0, -5.0], [-5.0, 2.0]], np.float32)
    assert with_moved([], ([0, 1], [0, 1]), between(found), 6.0) == [(0, 0)]
    assert with_moved([], ([], [0]), between(found), 6.0) == []


def test_long_texts_must_share_more_words_to_be_taken_for_moved() -> None:
    names = "alpha beta gamma delta"
    left = make_page("/", "", SAME, f"{names} " + "here are many more words of this page " * 9)
    right = make_page(
        "/", "", f"{names} " + "autres mots tout simplement sur cette page " * 9, SAME
    )
    strict, loose = (
        DomTree(per_word=value, length=0.0, swap=99.0).align(left, right) for value in (2.0, 0.0)
    )
    assert sum(bool(pair.left and pair.right) for pair in loose) > sum(
        bool(pair.left and pair.right) for pair in strict
    )
