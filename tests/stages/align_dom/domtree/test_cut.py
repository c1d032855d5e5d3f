from __future__ import annotations

import numpy as np
import pytest
from support.timing import processor_seconds

from diptych.kernels.tree_align import decode
from diptych.kernels.tree_align_reference import is_forest
from diptych.stages.align_dom.domtree.cut import cells, common_anchors, mirrored, pieces, sub_forest
from diptych.stages.align_dom.domtree.matching import best_alignment


def random_forest(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    leftmost, roots = [], []
    for node in range(count):
        taken = int(rng.integers(0, min(3, len(roots)) + 1))
        leftmost.append(leftmost[roots[-taken]] if taken else node)
        del roots[len(roots) - taken :]
        roots.append(node)
    return np.array(leftmost, np.int32)


@pytest.mark.parametrize("seed", range(20))
def test_mirror_of_a_mirror_is_the_tree(seed: int) -> None:
    tree = random_forest(seed, 30)
    numbers, turned = mirrored(tree)
    assert is_forest(turned)
    back, same = mirrored(turned)
    assert same.tolist() == tree.tolist()
    assert back[numbers].tolist() == list(range(30))


@pytest.mark.parametrize("seed", range(20))
def test_alignment_is_as_good_from_either_side(seed: int) -> None:
    left, right = random_forest(seed, 25), random_forest(seed + 100, 20)
    gains = np.random.default_rng(seed).normal(0, 2, (25, 20)).astype(np.float32)
    plain = sum(gains[pair] for pair in decode(left, right, gains))
    assert sum(gains[pair] for pair in best_alignment(left, right, gains)) == pytest.approx(plain)


def test_side_with_fewer_cells_is_taken() -> None:
    right_comb = np.arange(60, dtype=np.int32)  # leaves, then a chain that takes one leaf each
    comb = np.concatenate([np.arange(30), np.arange(30)[::-1]]).astype(np.int32)
    assert is_forest(comb)
    turned = mirrored(comb)[1]
    assert cells(comb, comb) > 10 * cells(turned, turned)
    assert len(best_alignment(comb, comb, np.eye(60, dtype=np.float32))) == 60
    assert cells(right_comb, right_comb) > 0


def test_part_of_a_forest_is_a_forest() -> None:
    for seed in range(10):
        tree = random_forest(seed, 40)
        for start in range(0, 40, 7):
            assert is_forest(sub_forest(tree, slice(start, 40)))
            assert is_forest(sub_forest(tree, slice(start, start + 7)))


def test_small_trees_are_one_piece_and_large_ones_are_cut_at_anchors() -> None:
    tree = np.arange(1_000, dtype=np.int32)
    shifted = [None, *range(999)]
    whole = pieces(tree, tree, lambda: (list(range(1_000)), shifted), 10_000_000)
    assert len(whole) == 1
    cut = pieces(tree, tree, lambda: (list(range(1_000)), shifted), 1_000)
    assert len(cut) > 2
    assert all(piece.right.stop == piece.left.stop + 1 for piece in cut[:-1])
    for side in range(2):
        assert [piece[side].start for piece in cut] == [0, *(piece[side].stop for piece in cut)][
            :-1
        ]
        assert cut[-1][side].stop == 1_000


def test_anchors_out_of_order_are_not_used() -> None:
    assert common_anchors("abcd", "badc") in ([(0, 1), (2, 3)], [(1, 0), (3, 2)], [(0, 1), (3, 2)])
    assert common_anchors([None, "a"], [None, "a"]) == [(1, 1)]
    assert common_anchors("aab", "bab") == []


def test_huge_and_hostile_trees_are_cut_in_bounded_time() -> None:
    chain_ = np.zeros(5_000, np.int32)
    comb = np.concatenate([np.arange(5_000), np.arange(5_000)[::-1]]).astype(np.int32)
    wide = np.arange(200_000, dtype=np.int32)
    nothing = [None] * 200_000
    for tree in (chain_, comb, mirrored(comb)[1], wide):
        with processor_seconds(20):
            keys = nothing[: len(tree)]
            cut = pieces(tree, tree, lambda keys=keys: (keys, keys), 1_000_000)
        assert sum(piece.left.stop - piece.left.start for piece in cut) == len(tree)
