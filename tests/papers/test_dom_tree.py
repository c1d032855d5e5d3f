"""Shi et al. 2006, section 4: the eight cases, each on trees small enough to see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.tree_reference import best_gain, forest_of

from diptych.kernels.tree_align import decode
from diptych.stages.align_dom.domtree.model import Parameters

CASES = [
    # case, tree of F, tree of E (first node of each tree, in postorder), pairs that gain
    ("1: roots aligned, children with children", [0, 1, 0], [0, 1, 0], [(0, 0), (1, 1), (2, 2)]),
    ("2: root of F deleted", [0, 0, 0], [0, 0], [(0, 0), (1, 1)]),
    ("3: root of E deleted", [0, 0], [0, 0, 0], [(0, 0), (1, 1)]),
    ("4: first trees aligned, and the rest", [0, 1], [0, 1], [(0, 0), (1, 1)]),
    ("5: first tree of F deleted", [0, 0, 2], [0], [(2, 0)]),
    ("6: first tree of E deleted", [0], [0, 0, 2], [(0, 2)]),
    ("7: first root of F deleted", [0, 0, 2], [0, 1], [(0, 0), (2, 1)]),
    ("8: first root of E deleted", [0, 1], [0, 0, 2], [(0, 0), (1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "pairs"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_case_is_found(
    left: list[int], right: list[int], pairs: list[tuple[int, int]]
) -> None:
    gains = np.full((len(left), len(right)), -1.0, np.float32)
    for pair in pairs:
        gains[pair] = 2.0
    assert decode(np.array(left, np.int32), np.array(right, np.int32), gains) == pairs
    best = best_gain(forest_of(left), forest_of(right), gains.tolist())
    assert best == pytest.approx(2.0 * len(pairs))


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([0, 1], [0, 1], [(0, 1), (1, 0)]),  # siblings in another order
        ([0, 0], [0, 1], [(0, 0), (1, 1)]),  # one below the other, but beside it
        ([0, 0], [0, 0], [(0, 1), (1, 0)]),  # above with below
    ],
)
def test_order_and_hierarchy_are_kept(left, right, wanted) -> None:
    gains = np.full((2, 2), -9.0, np.float32)
    for pair in wanted:
        gains[pair] = 2.0
    found = decode(np.array(left, np.int32), np.array(right, np.int32), gains)
    assert len(found) == 1
    assert best_gain(forest_of(left), forest_of(right), gains.tolist()) == 2.0


def test_gain_is_the_probability_beside_that_of_deleting_all() -> None:
    parameters = Parameters(("p", "*"), ((0.9, 0.1), (0.4, 0.6)), (0.7, 0.3), 0.2)
    aligned = (1 - 0.2) * 0.9
    deleted = (0.2 * 0.7) * 0.2
    assert parameters.gains()[0, 0] == pytest.approx(math.log(aligned / deleted))
    # Pr(tag of F | tag of E): rows are tags of F here.
    assert parameters.gains()[0, 1] == pytest.approx(math.log(0.8 * 0.4 / (0.2 * 0.7 * 0.2)))
