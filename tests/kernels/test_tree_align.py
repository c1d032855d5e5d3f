"""Tree alignment, compared with the recursion of the paper and with a list of all alignments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tree_reference import best_gain, forest_of, log_total

import diptych.kernels.tree_align as kernel
from diptych.kernels import native
from diptych.kernels import tree_align_reference as plain

Pairs = list[tuple[int, int]]
DECODERS = [kernel.decode, plain.decode]
EXPECTERS = [kernel.expect, plain.expect]


def forests(size: int) -> Iterator[list[int]]:
    """All ordered forests of `size` nodes, as the first node of each tree in postorder."""
    if not size:
        yield []
        return
    for last in range(size):  # nodes below the last root
        for before, below in product(forests(size - 1 - last), forests(last)):
            start = len(before)
            yield [*before, *(start + first for first in below), start]


def trees(size: int) -> list[list[int]]:
    return [forest for forest in forests(size) if forest[-1] == 0]


def is_valid(left: list[int], right: list[int], pairs: Pairs) -> bool:
    """True if an alignment is one to one and preserves ancestors and order."""
    for (i, j), (k, h) in combinations(pairs, 2):
        if i == k or j == h or (i < k) != (j < h):
            return False
        if i > k:
            i, j, k, h = k, h, i, j
        if (left[k] <= i) != (right[h] <= j):
            return False
    return True


def alignments(left: list[int], right: list[int]) -> Iterator[Pairs]:
    for count in range(min(len(left), len(right)) + 1):
        for ours in combinations(range(len(left)), count):
            for theirs in permutations(range(len(right)), count):
                pairs = list(zip(ours, theirs, strict=True))
                if is_valid(left, right, pairs):
                    yield pairs


def array(tree: list[int]) -> np.ndarray:
    return np.array(tree, np.int32)


def random_gains(seed: int, left: list[int], right: list[int]) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.5, 2, (len(left), len(right))).astype(np.float32)


def test_number_of_forests_is_the_catalan_number() -> None:
    assert [len(trees(size)) for size in range(1, 7)] == [1, 1, 2, 5, 14, 42]
    assert [len(list(forests(size))) for size in range(1, 6)] == [1, 2, 5, 14, 42]


@pytest.mark.parametrize("decode", DECODERS)
def test_best_alignment_matches_the_recursion_on_all_trees_up_to_five_nodes(decode) -> None:
    small = [tree for size in range(1, 6) for tree in trees(size)]
    for seed, (left, right) in enumerate(product(small, small)):
        gains = random_gains(seed, left, right)
        pairs = decode(array(left), array(right), gains)
        assert is_valid(left, right, pairs), (left, right)
        gain = sum(float(gains[pair]) for pair in pairs)
        expected = best_gain(forest_of(left), forest_of(right), gains.tolist())
        assert gain == pytest.approx(expected, abs=1e-4), (left, right)


def test_recursion_is_the_best_of_all_alignments() -> None:
    small = [tree for size in range(1, 5) for tree in forests(size)]
    for seed, (left, right) in enumerate(product(small, small)):
        gains = random_gains(seed, left, right).tolist()
        every = [sum(gains[i][j] for i, j in pairs) for pairs in alignments(left, right)]
        ours, theirs = forest_of(left), forest_of(right)
        assert best_gain(ours, theirs, gains) == pytest.approx(max(every))
        total = math.log(sum(map(math.exp, every)))
        assert log_total(ours, theirs, gains) == pytest.approx(total)


@pytest.mark.parametrize("expect", EXPECTERS)
def test_expected_counts_match_the_list_of_all_alignments(expect) -> None:
    small = [tree for size in range(1, 5) for tree in forests(size)]
    for seed, (left, right) in enumerate(product(small, small)):
        gains = random_gains(seed, left, right).astype(np.float64)
        total, counts = expect(array(left), array(right), gains)
        expected, weight = np.zeros(gains.shape), 0.0
        for pairs in alignments(left, right):
            share = math.exp(sum(gains[pair] for pair in pairs))
            weight += share
            for pair in pairs:
                expected[pair] += share
        assert total == pytest.approx(math.log(weight))
        assert counts == pytest.approx(expected / weight, abs=1e-9)


@pytest.mark.parametrize("expect", EXPECTERS)
def test_sums_match_the_recursion_on_all_trees_of_five_nodes(expect) -> None:
    small = [tree for size in range(1, 6) for tree in trees(size)]
    for seed, (left, right) in enumerate(product(small, small)):
        gains = random_gains(seed, left, right).astype(np.float64)
        total, _ = expect(array(left), array(right), gains)
        assert total == pytest.approx(log_total(forest_of(left), forest_of(right), gains.tolist()))


@st.composite
def random_forests(draw: st.DrawFn, most: int = 14) -> list[int]:
    """Random forests: each node becomes the parent of some of the last open trees."""
    leftmost: list[int] = []
    roots: list[int] = []
    for node in range(draw(st.integers(1, most))):
        taken = draw(st.integers(0, min(3, len(roots))))
        start = leftmost[roots[-taken]] if taken else node
        del roots[len(roots) - taken :]
        roots.append(node)
        leftmost.append(start)
    return leftmost


@given(random_forests(), random_forests(), st.integers(0, 1 << 30))
def test_larger_forests_match_the_recursion(left, right, seed) -> None:
    gains = random_gains(seed, left, right)
    ours, theirs = forest_of(left), forest_of(right)
    best = best_gain(ours, theirs, gains.tolist())
    for decode in DECODERS:
        pairs = decode(array(left), array(right), gains)
        assert is_valid(left, right, pairs)
        assert sum(float(gains[pair]) for pair in pairs) == pytest.approx(best, abs=1e-3)
    total, counts = kernel.expect(array(left), array(right), gains.astype(np.float64))
    assert total == pytest.approx(log_total(ours, theirs, gains.tolist()))
    assert counts == pytest.approx(
        plain.expect(array(left), array(right), gains.astype(np.float64))[1], abs=1e-9
    )
    assert counts.sum(0).max() <= 1 + 1e-9
    assert counts.sum(1).max() <= 1 + 1e-9


def test_derivative_by_a_gain_is_the_expected_count() -> None:
    left, right = [0, 1, 0, 3, 0], [0, 0, 2, 0]
    gains = random_gains(3, left, right).astype(np.float64)
    total, counts = kernel.expect(array(left), array(right), gains)
    for pair in np.ndindex(*gains.shape):
        more = gains.copy()
        more[pair] += 1e-6
        slope = (kernel.expect(array(left), array(right), more)[0] - total) / 1e-6
        assert counts[pair] == pytest.approx(slope, abs=1e-5)


def test_chain_of_thousands_of_levels_is_aligned() -> None:
    chain = np.zeros(5_000, np.int32)
    gains = np.full((5_000, 300), 0.25, np.float32)
    pairs = kernel.decode(chain, chain[:300], gains)
    assert len(pairs) == 300


@pytest.mark.parametrize("bad", [[1, 1], [0, 0, 1], [-1], [0, 2, 5], [0, 0, 2, 1]])
def test_invalid_forests_are_refused(bad: list[int]) -> None:
    good = array([0, 0])
    for call, dtype in ((kernel.decode, np.float32), (kernel.expect, np.float64)):
        with pytest.raises(ValueError, match="not a forest"):
            call(array(bad), good, np.ones((len(bad), 2), dtype))
        with pytest.raises(ValueError, match="not a forest"):
            call(good, array(bad), np.ones((2, len(bad)), dtype))
        with pytest.raises(ValueError, match="with a gain for each"):
            call(good, good, np.ones((2, 3), dtype))
    assert not plain.is_forest(array(bad))


def test_empty_trees_have_no_alignment() -> None:
    none, one = array([]), array([0])
    assert kernel.decode(none, one, np.ones((0, 1), np.float32)) == []
    assert kernel.expect(one, none, np.ones((1, 0)))[0] == 0.0


def test_kernel_is_compiled_here() -> None:
    assert native() is not None
