"""IBM Model 1 in C, compared with its reference and with the textbook algorithm."""

from __future__ import annotations

import ctypes
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import ibm1, ibm1_reference, native
from diptych.kernels.ibm1 import Bags, Prior, Trained, bags, pruned, train
from diptych.kernels.tables import Table

SIZE = 7
pairs = st.lists(
    st.tuples(
        st.lists(st.integers(0, SIZE - 1), max_size=6), st.lists(st.integers(0, 4), max_size=6)
    ),
    max_size=12,
)


def packed(rows: list[list[int]], size: int) -> Bags:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return bags(np.array([word for row in rows for word in row], np.int32), offsets, size)


def sides(found: list[tuple[list[int], list[int]]]) -> tuple[Bags, Bags]:
    return packed([left for left, _ in found], SIZE), packed([right for _, right in found], 5)


def dense(table: Table, columns: int) -> np.ndarray:
    matrix = np.zeros((len(table.offsets) - 1, columns))
    rows = np.repeat(np.arange(len(matrix)), np.diff(table.offsets))
    matrix[rows, table.columns] = table.values
    return matrix


def by_definition(*arguments: Bags, **options: object) -> Trained:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ibm1, "native", lambda: None)
        return train(*arguments, **options)  # type: ignore[arg-type]


def assert_same(one: Trained, other: Trained, columns: int) -> None:
    assert one.table.offsets.tolist() == other.table.offsets.tolist()
    assert one.table.columns.tolist() == other.table.columns.tolist()
    np.testing.assert_allclose(dense(one.table, columns), dense(other.table, columns), 1e-3, 1e-5)
    np.testing.assert_allclose(one.totals, other.totals, 1e-3, 1e-5)
    np.testing.assert_allclose(one.likelihoods, other.likelihoods, 1e-4, 1e-3)


def naive(
    found: list[tuple[list[int], list[int]]], iterations: int
) -> dict[tuple[int, int], float]:
    """t(other | given) as in the textbook, token by token; -1 is the empty word."""
    table = {(e, f): 1 / 5 for left, right in found for e in (-1, *left) for f in right}
    for _ in range(iterations):
        counts = dict.fromkeys(table, 0.0)
        totals: dict[int, float] = {}
        for left, right in found:
            for f in right:
                z = sum(table[e, f] for e in (-1, *left))
                for e in (-1, *left):
                    counts[e, f] += table[e, f] / z
                    totals[e] = totals.get(e, 0.0) + table[e, f] / z
        table = {(e, f): counts[e, f] / totals[e] for e, f in table}
    return table


def test_the_kernel_is_compiled_here() -> None:
    assert native() is not None


@given(pairs, st.integers(0, 6))
def test_training_matches_the_textbook(found, iterations: int) -> None:
    left, right = sides(found)
    ours = dense(train(left, right, iterations=iterations).table, 5)
    expected = np.zeros_like(ours)
    for (e, f), value in naive(found, iterations).items():
        expected[e, f] = value
    np.testing.assert_allclose(ours, expected, 1e-3, 1e-5)


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    rows = [sorted(draw(st.sets(st.integers(0, 4)))) for _ in range(SIZE)]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    columns = np.array([column for row in rows for column in row], np.int32)
    some = st.floats(0.125, 4, width=32)
    counts = np.array(
        draw(st.lists(some, min_size=len(columns), max_size=len(columns))), np.float32
    )
    sums = np.array([counts[a:b].sum() for a, b in pairwise(offsets)])
    return Prior(offsets, columns, counts, sums * draw(st.sampled_from([1.0, 1.5])))


@given(pairs, st.integers(0, 6), st.none() | priors())
def test_the_kernel_matches_the_reference(found, iterations: int, prior: Prior | None) -> None:
    left, right = sides(found)
    options = {"iterations": iterations, "prior": prior}
    assert_same(train(left, right, **options), by_definition(left, right, **options), 5)


@given(pairs, st.integers(1, 4), st.none() | priors(), st.integers(0, 40))
def test_the_kernel_matches_the_reference_if_entries_are_dropped(
    found, iterations, prior, most
) -> None:
    left, right = sides(found)
    options = {"iterations": iterations, "prior": prior, "max_entries": most}
    ours, theirs = train(left, right, **options), by_definition(left, right, **options)
    # At a power of two rounding decides; there the number of entries may differ.
    if ours.table.offsets.tolist() == theirs.table.offsets.tolist():
        assert_same(ours, theirs, 5)
    # The empty word keeps all, so that there is a word that any word may come from.
    assert np.diff(ours.table.offsets)[-1] == len({word for _, row in found for word in row})
    known = 0 if prior is None else len(prior.columns)
    assert len(ours.table.columns) <= max(most, known + 5)


@given(pairs)
def test_rows_sum_to_one_and_the_likelihood_never_falls(found) -> None:
    left, right = sides(found)
    trained = train(left, right, iterations=6)
    sums = dense(trained.table, 5).sum(axis=1)
    assert all(total == pytest.approx(1, abs=1e-4) or total == 0 for total in sums)
    assert len(trained.likelihoods) == 7
    for before, after in pairwise(trained.likelihoods):
        assert after >= before - 1e-3
    assert trained.totals.sum() == pytest.approx(sum(len(other) for given, other in found))


def test_the_likelihood_matches_its_definition() -> None:
    # 1/5 for each word at first.  In the end the empty word is all of the first sentence, so that
    # there all is certain, and none of the second, where it takes half.
    trained = train(packed([[0], [1]], 2), packed([[3, 3], [4]], 5), iterations=60)
    assert trained.likelihoods[0] == pytest.approx(3 * np.log(1 / 5))
    assert trained.likelihoods[-1] == pytest.approx(np.log(1 / 2), abs=1e-3)


def test_the_house_and_the_book() -> None:
    # das Haus = the house, das Buch = the book, ein Buch = a book
    german, english = [[0, 1], [0, 2], [3, 2]], [[0, 1], [0, 2], [3, 2]]
    table = dense(train(packed(german, 4), packed(english, 4), iterations=100).table, 4)
    assert table[:4].argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert table[0, 0] > 0.9
    assert table[2, 2] > 0.9


def test_sentences_are_bags() -> None:
    made = packed([[2, 1, 2], [], [0]], 3)
    assert (made.word.tolist(), made.count.tolist()) == ([1, 2, 0], [1, 2, 1])
    assert made.offsets.tolist() == [0, 2, 2, 3]


@given(pairs, st.integers(1, 4), st.sampled_from([0.0, 0.05, 0.3]))
def test_pruning_matches_the_reference(found, most: int, least: float) -> None:
    left, right = sides(found)
    table = train(left, right).table
    ours = pruned(Table(*(part.copy() for part in table)), least, most)
    theirs = ibm1_reference.prune(*table, least, most)
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]
    assert all(value >= np.float32(least) for value in ours.values)
    assert np.diff(ours.offsets).max(initial=0) <= most
    whole = dense(table, 5)
    for row, values in enumerate(dense(ours, 5)):
        kept = values[values > 0]
        assert np.allclose(kept, whole[row][values > 0])
        if len(kept) == most:
            assert kept.min() >= np.sort(whole[row])[-most]


def test_training_twice_gives_the_same_result() -> None:
    chance = np.random.default_rng(2)
    rows = [chance.integers(0, 50, 12).tolist() for _ in range(300)]
    left, right = packed(rows, 50), packed([row[::-1] for row in rows], 50)
    first, second = train(left, right), train(left, right)
    assert [part.tobytes() for part in first.table] == [part.tobytes() for part in second.table]
    assert_same(first, by_definition(left, right), 50)


BAD = np.array([0, 1], np.int64)


@pytest.mark.parametrize(
    ("ids", "offsets", "size"),
    [
        ([0, 7], [0, 2], 7), ([-1], [0, 1], 7), ([0], [0, 2], 7), ([0], [1, 1], 7),
        ([0, 0], [0, 2, 1, 2], 7), ([0], [], 7), ([0], [0, 1], -1),
    ],
)  # fmt: skip
def test_inconsistent_arrays_are_refused(ids, offsets, size) -> None:
    with pytest.raises(ValueError, match="must"):
        bags(np.array(ids, np.int32), np.array(offsets, np.int64), size)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        train(packed([[0]], 2), packed([[0], [0]], 2))


@pytest.mark.parametrize(
    "prior",
    [
        Prior(BAD, np.array([9], np.int32), np.ones(1, np.float32), np.ones(1)),
        Prior(BAD, np.array([-1], np.int32), np.ones(1, np.float32), np.ones(1)),
        Prior(BAD * 2, np.array([1, 1], np.int32), np.ones(2, np.float32), np.ones(1)),
        Prior(BAD * 2, np.array([2, 1], np.int32), np.ones(2, np.float32), np.ones(1)),
        Prior(BAD, np.array([1], np.int32), np.full(1, -1, np.float32), np.ones(1)),
        Prior(BAD, np.array([1], np.int32), np.full(1, np.nan, np.float32), np.ones(1)),
        Prior(BAD, np.array([1], np.int32), np.ones(2, np.float32), np.ones(1)),
        Prior(BAD, np.array([1], np.int32), np.ones(1, np.float32), np.full(1, np.inf)),
        Prior(BAD, np.array([1], np.int32), np.ones(1, np.float32), np.ones(2)),
        Prior(BAD[:1], np.array([1], np.int32), np.ones(1, np.float32), np.ones(1)),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(prior: Prior) -> None:
    with pytest.raises(ValueError, match=r"prior|offsets"):
        train(packed([[0]], 1), packed([[0]], 3), prior=prior)


def test_empty_input() -> None:
    none = packed([], 0)
    assert train(none, none).table.offsets.tolist() == [0, 0]
    silent = train(packed([[0]], 1), packed([[]], 3))
    assert len(silent.table.columns) == 0


def test_the_structure_has_the_same_size_as_in_c() -> None:
    assert ctypes.sizeof(ibm1._CModel) == 3 * 8 + 16 * ctypes.sizeof(ctypes.c_void_p)
    assert ibm1._PLACE.itemsize == 8
