"""The matching of nodes in C, compared with its parts in Python on random gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels.tree_match import MatchSettings, NodeColumns, match, sum_best
from diptych.stages.align_dom.domtree.crossing import with_moved, with_swapped
from diptych.stages.align_dom.domtree.matching import best_alignment

TABLE = np.zeros((4, 4), np.float32)


def settings(swap: float, crossing: float) -> MatchSettings:
    return MatchSettings(
        1.0, 1.0, 3.0, 3.0, 20, 1.07, TABLE, np.zeros((1, 1), np.float32), swap, crossing, 0.5, 4,
        0.1,
    )  # fmt: skip


def side(rng: np.random.Generator, size: int) -> NodeColumns:
    """A forest of nodes with text, of which most are blocks."""
    leftmost: list[int] = []
    for node in range(size):
        first = node
        while first and rng.random() < 0.3:
            first = leftmost[first - 1]
        leftmost.append(first)
    blocks = np.where(rng.random(size) < 0.8, np.arange(size), -1).astype(np.int32)
    none = np.full(size, -1, np.int32)
    return NodeColumns(
        np.arange(size, dtype=np.int32), np.ones(size), np.zeros(size, np.int32), none, none,
        rng.integers(1, 8, size).astype(float), blocks, np.array(leftmost, np.int32),
    )  # fmt: skip


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 1 << 30), st.sampled_from([0.5, 2.0]))
def test_pairs_out_of_order_equal_the_reference(n: int, m: int, seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    left, right = side(rng, n), side(rng, m)
    gains = rng.normal(1, 3, (n, m)).astype(np.float32)
    found = match(left, right, gains, settings(margin, margin))
    blocks = [np.flatnonzero(each.blocks >= 0).tolist() for each in (left, right)]

    def surplus(rows: list[int], columns: list[int]) -> np.ndarray:
        sizes = np.minimum(np.minimum.outer(left.words[rows], right.words[columns]), 4)
        return (gains[np.ix_(rows, columns)] - 0.5 * sizes).astype(np.float32)

    pairs = best_alignment(left.leftmost, right.leftmost, gains)
    in_order = match(left, right, gains, settings(margin, 0.0)).partners
    assert [(i, j) for i, j in enumerate(in_order.tolist()) if j >= 0] == pairs
    pairs = with_swapped(pairs, (blocks[0], blocks[1]), gains, margin)
    pairs = with_moved(pairs, (blocks[0], blocks[1]), surplus, margin)
    assert [(i, j) for i, j in enumerate(found.partners.tolist()) if j >= 0] == pairs
    both = [(i, j) for i, j in pairs if i in blocks[0] and j in blocks[1]]
    assert found.doubts.tolist() == [i for i, j in both if gains[i, j] < np.float32(0.1)]


@given(st.integers(0, 1 << 30))
def test_gains_add_words_lengths_links_and_tags(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6, 2)
    words = rng.normal(size=(n, m)).astype(np.float32)
    tags, lengths = (rng.normal(size=(size, size)).astype(np.float32) for size in (3, 128))
    sides = []
    for size in (n, m):
        plain = side(rng, int(size))
        links = rng.integers(-1, 2, size).astype(np.int32)
        sides.append(
            plain._replace(
                rows=np.where(rng.random(size) < 0.3, -1, plain.rows).astype(np.int32),
                lengths=rng.integers(0, 90, size).astype(float),
                tags=rng.integers(0, 3, size).astype(np.int32), hrefs=links,
                names=np.where(links >= 0, 0, -1).astype(np.int32),
            )
        )  # fmt: skip
    how = settings(1.0, 0.0)._replace(tag_table=tags, length_table=lengths, words=0.5, length=2.0)
    found = match(sides[0], sides[1], words, how)
    for i, j in np.ndindex(n, m):
        one, other = sides[0].rows[i], sides[1].rows[j]
        bins = [_bin(each.lengths[at]) for each, at in zip(sides, (i, j), strict=True)]
        gain = 0.5 * words[one, other] + 2 * lengths[bins[0], bins[1]]
        expected = gain if one >= 0 <= other else 0.0 if one < 0 > other else -3.0
        if sides[0].hrefs[i] >= 0 <= sides[1].hrefs[j]:
            expected += 3.0 if sides[0].hrefs[i] == sides[1].hrefs[j] else 1.5
        assert found.texts[i, j] == pytest.approx(expected, abs=1e-5)
        tag = tags[sides[0].tags[i], sides[1].tags[j]]
        assert found.gains[i, j] == pytest.approx(expected + tag, abs=1e-5)


def _bin(length: float) -> int:
    return round(min(length, 20) + np.log(max(length, 20) / 20) / np.log(1.07))


def test_items_must_consist_of_blocks_that_exist() -> None:
    cells, good, bad = np.ones((2, 2), np.float32), np.array([0], np.int32), np.array([3], np.int32)
    for left, right in (((good, bad), (good, good)), ((good, good), (bad, good))):
        with pytest.raises(ValueError, match="blocks"):
            sum_best(cells, left, right)
