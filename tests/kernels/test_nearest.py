"""Nearest rows in C, compared with their reference and with explicit sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples

from diptych.kernels import native, nearest_reference
from diptych.kernels import nearest as module
from diptych.kernels.nearest import Rows, nearest, products

WIDTH = 6
# Whole numbers: their sums are exact in any order, so that ties are ties.
sparse = st.lists(st.dictionaries(st.integers(0, WIDTH - 1), st.integers(1, 3)), max_size=9)


def packed(rows: list[dict[int, int]], width: int = WIDTH) -> Rows:
    entries = [(row, *entry) for row, found in enumerate(rows) for entry in found.items()]
    row, feature, value = np.array(entries, np.int64).reshape(len(entries), 3).T
    return Rows.of(row, feature, value.astype(np.float64), rows=len(rows), width=width)


def dense(rows: Rows) -> NDArray[np.float64]:
    matrix = np.zeros((len(rows), rows.width))
    row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    matrix[row, rows.features] = rows.values
    return matrix


def naive(queries: Rows, targets: Rows, most: int) -> list[list[tuple[int, float]]]:
    """Nearest rows by comparing all pairs, best first; rows without common features are omitted."""
    found = []
    for sums in dense(queries) @ dense(targets).T:
        best = sorted((-total, row) for row, total in enumerate(sums.tolist()) if total > 0)
        found.append([(row, -total) for total, row in best[:most]])
    return found


def listed(
    found: tuple[NDArray[np.int32], NDArray[np.float32]],
) -> list[list[tuple[int, float]]]:
    """The rows found for each query, without the empty places at the end."""
    lines = []
    for rows, scores in zip(*(part.tolist() for part in found), strict=True):
        kept = sum(row >= 0 for row in rows)
        assert rows[kept:] == [-1] * (len(rows) - kept)
        assert scores[kept:] == [0.0] * (len(rows) - kept)
        lines.append(list(zip(rows[:kept], scores[:kept], strict=True)))
    return lines


def test_the_kernel_is_compiled_here() -> None:
    assert native() is not None


def test_nearest_rows_match_a_manual_calculation() -> None:
    queries = packed([{0: 1, 2: 2}, {5: 1}, {}])
    targets = packed([{2: 1}, {0: 3, 1: 9}, {0: 1, 2: 1}, {1: 1}])
    assert listed(nearest(queries, targets, most=2)) == [[(1, 3.0), (2, 3.0)], [], []]
    assert listed(nearest(queries, targets, most=9)) == [[(1, 3.0), (2, 3.0), (0, 2.0)], [], []]


@given(sparse, sparse, st.integers(1, 10))
def test_nearest_rows_have_the_highest_sums(left, right, most: int) -> None:
    queries, targets = packed(left), packed(right)
    assert listed(nearest(queries, targets, most=most)) == naive(queries, targets, most)


@given(sparse, sparse, st.integers(1, 10), st.integers(0, 30))
def test_the_kernel_matches_the_reference(left, right, most: int, budget: int) -> None:
    queries, targets = packed(left), packed(right)
    ours = nearest(queries, targets, most=most, budget=budget)
    theirs = nearest_reference.nearest(queries, targets, most, budget)
    for one, other in zip(ours, theirs, strict=True):
        assert (
            (one.dtype, one.shape) == (other.dtype, other.shape) == (one.dtype, (len(left), most))
        )
        assert one.tolist() == other.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(max_examples=examples(20))
def test_the_kernel_matches_the_reference_with_many_rows(seed: int, most: int) -> None:
    chance = np.random.default_rng(seed)
    size = 400
    made = [
        Rows.of(
            chance.integers(0, 60, size), chance.integers(0, 25, size), chance.random(size),
            rows=60, width=25,
        ).unit()
        for _ in range(2)
    ]  # fmt: skip
    ours = nearest(*made, most=most)
    theirs = nearest_reference.nearest(*made, most, 50_000)
    np.testing.assert_allclose(ours[1], theirs[1], 1e-5, 1e-6)
    # Rounding decides between rows that are all but equal, nothing else does.
    differ = ours[0] != theirs[0]
    assert differ.mean() < 0.01


def test_ties_go_to_the_first_rows() -> None:
    queries, targets = packed([{0: 1}]), packed([{0: 1}] * 50)
    assert nearest(queries, targets, most=7)[0].tolist() == [[*range(7)]]
    best_last = packed([{0: 1}] * 49 + [{0: 2}])
    assert nearest(queries, best_last, most=3)[0].tolist() == [[49, 0, 1]]


def test_queries_do_not_influence_each_other() -> None:
    targets = packed([{0: 1}, {1: 1}, {2: 1}])
    twice = packed([{0: 1, 1: 1}, {2: 1}, {0: 1, 1: 1}])
    found = listed(nearest(twice, targets, most=3))
    assert found == [[(0, 1.0), (1, 1.0)], [(2, 1.0)], [(0, 1.0), (1, 1.0)]]


def test_a_feature_beyond_the_budget_is_ignored() -> None:
    # Feature 0 is in one row, feature 1 in four.
    targets = packed([{0: 1}, {1: 9}, {1: 9}, {1: 9}, {1: 9}])
    queries = packed([{0: 1, 1: 1}])
    assert listed(nearest(queries, targets, most=1, budget=5)) == [[(1, 9.0)]]
    assert listed(nearest(queries, targets, most=1, budget=4)) == [[(0, 1.0)]]
    assert listed(nearest(queries, targets, most=1, budget=0)) == [[]]


def test_the_budget_applies_to_each_row() -> None:
    targets = packed([{0: 1}, {1: 1}])
    assert nearest(packed([{0: 1}] * 100), targets, most=1, budget=1)[0].tolist() == [[0]] * 100


@pytest.mark.parametrize("width", [0, 1, WIDTH])
def test_empty_input(width: int) -> None:
    none, empty = packed([], width), packed([{}, {}], width)
    assert nearest(none, none, most=3)[0].shape == (0, 3)
    assert nearest(none, empty, most=3)[0].shape == (0, 3)
    assert nearest(empty, none, most=3)[0].tolist() == [[-1] * 3] * 2
    assert nearest(empty, empty, most=3)[1].tolist() == [[0.0] * 3] * 2
    nobody = np.zeros(0, np.int32)
    assert products(none, empty, nobody, nobody).tolist() == []


def test_zero_requested_rows_give_no_rows() -> None:
    targets = packed([{0: 1}] * 3)
    assert nearest_reference.nearest(targets, targets, 0, 100)[0].shape == (3, 0)
    assert nearest(targets, targets, most=0)[0].shape == (3, 0)


def test_a_negative_number_of_rows_is_refused() -> None:
    targets = packed([{0: 1}] * 3)
    with pytest.raises(ValueError, match="negative"):
        nearest(targets, targets, most=-1)


def test_without_a_compiler_the_reference_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    queries, targets = packed([{0: 1, 3: 2}, {}]), packed([{3: 1}, {0: 1}])
    places = np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)
    before = listed(nearest(queries, targets, most=2)), products(queries, targets, *places).tolist()
    monkeypatch.setattr(module, "native", lambda: None)
    after = listed(nearest(queries, targets, most=2)), products(queries, targets, *places).tolist()
    assert before == after == ([[(0, 2.0), (1, 1.0)], []], [2.0, 1.0, 0.0])


# Products


@given(sparse, sparse, st.data())
def test_products_match_the_reference(left, right, data: st.DataObject) -> None:
    ours, theirs = packed(left), packed(right)
    row = st.tuples(st.integers(0, len(left) - 1), st.integers(0, len(right) - 1))
    asked = data.draw(st.lists(row, max_size=20)) if left and right else []
    one, other = np.array(asked, np.int32).reshape(len(asked), 2).T
    found = products(ours, theirs, one, other)
    assert found.dtype == np.float32
    assert found.tolist() == nearest_reference.products(ours, theirs, one, other).tolist()
    assert found.tolist() == (dense(ours) @ dense(theirs).T)[one, other].tolist()


def test_row_indices_may_be_of_any_integer_type_and_order() -> None:
    rows = packed([{0: 1}, {0: 2}, {0: 3}])
    places = np.array([2, 9, 1, 9, 0, 9], np.int64)[::2]
    assert products(rows, rows, places, places).tolist() == [9.0, 4.0, 1.0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "theirs", "width"),
    [
        ([3], [0], WIDTH), ([0], [2], WIDTH), ([-1], [0], WIDTH), ([0], [-1], WIDTH),
        ([0, 0], [0], WIDTH), ([0], [0], WIDTH + 1), ([2**31 - 1], [0], WIDTH),
    ],
)  # fmt: skip
def test_products_of_missing_rows_are_refused(ours, theirs, width: int) -> None:
    left, right = packed([{0: 1}] * 3), packed([{0: 1}] * 2, width)
    with pytest.raises(ValueError, match=r"out of range|same features"):
        products(left, right, np.array(ours, np.int32), np.array(theirs, np.int32))


def test_different_numbers_of_features_are_refused() -> None:
    with pytest.raises(ValueError, match="same features"):
        nearest(packed([{0: 1}]), packed([{0: 1}], WIDTH + 1), most=1)


# Rows


def rows_of(offsets: list[int], features: list[int], values: list[float], width: int = 3) -> Rows:
    return Rows(
        np.array(offsets, np.int64), np.array(features, np.int32), np.array(values, np.float32),
        width,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("offsets", "features", "values"),
    [
        ([], [], []),
        ([1, 1], [0], [1]),
        ([0, 2], [0], [1]),
        ([0, 0], [0], [1]),
        ([0, 1], [0], [1, 1]),
        ([0, 1], [0], []),
        ([0, 2, 1, 2], [0, 0], [1, 1]),
        ([0, 9, 1], [0], [1]),
        ([0, -1, 1], [0], [1]),
        ([0, 1], [3], [1]),
        ([0, 1], [-1], [1]),
        ([0, 1], [2**31 - 1], [1]),
    ],
)
def test_incomplete_rows_are_refused(offsets, features, values) -> None:
    with pytest.raises(ValueError, match="must be complete"):
        rows_of(offsets, features, values)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("offsets", "i4"), ("offsets", ">i8"), ("features", "i8"), ("features", "u2"),
     ("values", "f8"), ("values", "i4")],
)  # fmt: skip
def test_arrays_of_another_type_never_reach_the_kernel(name: str, kind: str) -> None:
    arrays = {
        "offsets": np.array([0, 1, 2], np.int64),
        "features": np.array([0, 2], np.int32),
        "values": np.ones(2, np.float32),
    }
    good = Rows(**arrays, width=3)
    with pytest.raises(ValueError, match="must"):
        nearest(Rows(**arrays | {name: arrays[name].astype(kind)}, width=3), good, most=1)


def test_arrays_with_gaps_never_reach_the_kernel() -> None:
    good = rows_of([0, 2], [0, 2], [1, 1])
    gaps = Rows(good.offsets, np.array([0, 9, 2, 9], np.int32)[::2], good.values, 3)
    with pytest.raises(ValueError, match="C order"):
        nearest(gaps, good, most=1)


def test_entries_outside_of_the_rows_are_refused() -> None:
    for row, feature in ((2, 0), (-1, 0), (0, 3), (0, -1)):
        with pytest.raises(ValueError, match="must be"):
            Rows.of(np.array([row]), np.array([feature]), np.ones(1), rows=2, width=3)


def test_equal_cells_are_summed_and_only_positive_ones_kept() -> None:
    made = Rows.of(
        np.array([1, 0, 1, 0, 0]), np.array([2, 1, 2, 0, 2]), np.array([1, 2, 3, 0, -1.0]),
        rows=3, width=3,
    )  # fmt: skip
    assert made.offsets.tolist() == [0, 1, 2, 2]
    assert (made.features.tolist(), made.values.tolist()) == ([1, 2], [2.0, 4.0])


@given(sparse)
def test_transposing_twice_restores_the_rows(rows) -> None:
    made = packed(rows)
    turned = made.turned()
    assert dense(turned)[:, : len(made)].tolist() == dense(made).T.tolist()
    back = turned.turned()
    assert back.features.tolist() == made.features.tolist()
    assert back.values.tolist() == made.values.tolist()


@given(sparse)
def test_rows_are_scaled_to_unit_length(rows) -> None:
    made = packed(rows).unit()
    lengths = np.sqrt((dense(made) ** 2).sum(axis=1))
    wanted = [1.0 if row else 0.0 for row in rows]
    np.testing.assert_allclose(lengths, wanted, 1e-5)
    shares = products(made, made, np.arange(len(rows)), np.arange(len(rows)))  # type: ignore[arg-type]
    np.testing.assert_allclose(shares, wanted, 1e-5)
