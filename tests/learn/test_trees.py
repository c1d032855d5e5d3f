"""Boosted trees as arrays: equal scores in C, in NumPy and in scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from diptych.kernels import native, pointer
from diptych.learn import trees
from diptych.learn.trees import Forest

WIDTH = 5


def stump() -> Forest:
    """Two trees: a split of feature 1 at 0.5, and a single leaf."""
    return Forest(
        np.array([0, 3], np.int32),
        np.array([1, -1, -1, -1], np.int16),
        np.array([0.5, 0, 0, 0], np.float32),
        np.array([1, 0, 0, 0], np.int32),
        np.array([2, 0, 0, 0], np.int32),
        np.array([0, -1, 2, 0.25], np.float32),
        0.5,
    )


def data(rows: int, seed: int = 0) -> NDArray[np.float32]:
    chance = np.random.default_rng(seed)
    table = chance.normal(size=(rows, WIDTH)).astype(np.float32)
    table[:, 3] = chance.integers(0, 4, rows)  # many rows on the borders of bins
    table[:, 4] = np.round(table[:, 4], 1)
    return table


@pytest.fixture(scope="module")
def fitted() -> tuple[Forest, Any]:
    rows = data(1500)
    truth = rows[:, 0] * rows[:, 1] + (rows[:, 3] == 2) > 0.2
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
    model.fit(rows, truth)
    return Forest.from_boosting(model), model


def test_score_is_the_sum_of_leaves() -> None:
    rows = np.array([[9, 0.5, 9], [9, 0.5000001, 9]], np.float32)
    assert stump().scores(rows).tolist() == [-0.25, 2.75]
    assert stump().reference(rows).tolist() == [-0.25, 2.75]


def test_all_implementations_match_scikit_learn(fitted: tuple[Forest, Any]) -> None:
    forest, model = fitted
    rows = np.concatenate([data(1500), data(2000, seed=1)])
    wanted = model.decision_function(rows)
    assert np.allclose(forest.scores(rows), wanted, atol=1e-5)
    assert np.allclose(forest.reference(rows), wanted, atol=1e-5)


def test_rows_at_thresholds_take_the_same_branch(fitted: tuple[Forest, Any]) -> None:
    forest, model = fitted
    inner = np.flatnonzero(forest.features >= 0)
    rows = np.repeat(data(1), 3 * len(inner), axis=0)
    for place, node in enumerate(inner):
        at = forest.thresholds[node]
        near = (at, np.nextafter(at, np.float32(9e9)), np.nextafter(at, np.float32(-9e9)))
        rows[3 * place : 3 * place + 3, forest.features[node]] = near
    wanted = model.decision_function(rows)
    assert np.allclose(forest.scores(rows), wanted, atol=1e-5)
    assert np.allclose(forest.reference(rows), wanted, atol=1e-5)


@given(
    rows=st.lists(
        st.lists(st.floats(width=32, allow_nan=True), min_size=WIDTH, max_size=WIDTH), max_size=8
    )
)
def test_kernel_and_reference_agree_on_all_numbers(rows: list[list[float]]) -> None:
    table = np.array(rows, np.float32).reshape(len(rows), WIDTH)
    assert np.array_equal(stump().scores(table), stump().reference(table))


def test_rows_in_any_memory_order(fitted: tuple[Forest, Any]) -> None:
    forest, _ = fitted
    rows = data(50)
    assert np.array_equal(forest.scores(np.asfortranarray(rows)), forest.scores(rows))
    assert np.array_equal(forest.scores(rows[::2]), forest.scores(rows)[::2])
    assert forest.scores(rows[:0]).tolist() == []
    assert np.array_equal(forest.scores(rows.astype(np.float64)), forest.scores(rows))  # type: ignore[arg-type]


def test_without_a_compiler_the_reference_is_used(
    fitted: tuple[Forest, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    forest, model = fitted
    monkeypatch.setattr(trees, "native", lambda: None)
    assert np.allclose(forest.scores(data(100)), model.decision_function(data(100)), atol=1e-5)


def test_forest_without_trees() -> None:
    empty = Forest(
        *(np.zeros(0, kind) for kind in ("i4", "i2", "f4", "i4", "i4", "f4")),  # type: ignore[arg-type]
        base=-1.5,
    )
    assert empty.is_sound(3)
    assert empty.scores(np.zeros((2, 3), np.float32)).tolist() == [-1.5, -1.5]
    assert empty.reference(np.zeros((2, 3), np.float32)).tolist() == [-1.5, -1.5]


def test_fitted_forests_are_sound(fitted: tuple[Forest, Any]) -> None:
    assert fitted[0].is_sound(WIDTH)
    assert stump().is_sound(2)
    assert not stump().is_sound(1)  # there is no feature 1


def changed(name: str, place: int, value: float) -> Forest:
    array = getattr(stump(), name).copy()
    array[place] = value
    return replace(stump(), **{name: array})


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("lefts", 0, 0),  # to itself
        ("rights", 0, -1),
        ("lefts", 0, 4),
        ("rights", 0, 2**31 - 1),
        ("roots", 0, -1),
        ("roots", 1, 4),
        ("features", 0, 2),
        ("features", 0, -2),
        ("features", 3, 0),  # an inner node that leads back
        ("values", 1, np.nan),
        ("values", 1, np.inf),
    ],
)
def test_forests_with_bad_indices_are_refused(name: str, place: int, value: float) -> None:
    assert stump().is_sound(2)
    assert not changed(name, place, value).is_sound(2)


def test_a_cycle_of_two_nodes_is_refused() -> None:
    forest = changed("features", 1, 0)
    assert not replace(forest, lefts=np.array([1, 0, 0, 0], np.int32)).is_sound(2)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("roots", "i8"),
        ("features", "i4"),
        ("thresholds", "f8"),
        ("lefts", "u4"),
        ("rights", ">i4"),
        ("values", "i4"),
    ],
)
def test_arrays_of_the_wrong_type_are_refused(name: str, kind: str) -> None:
    other = getattr(stump(), name).astype(kind)
    assert not replace(stump(), **{name: other}).is_sound(2)


@pytest.mark.parametrize("name", ["roots", "features", "thresholds", "lefts", "rights", "values"])
def test_arrays_of_the_wrong_shape_are_refused(name: str) -> None:
    array = getattr(stump(), name)
    for other in (array.reshape(-1, 1), array[0].reshape(())):
        assert not replace(stump(), **{name: other}).is_sound(2)
    if name != "roots":
        assert not replace(stump(), **{name: array[:-1]}).is_sound(2)


def test_forest_without_a_finite_base_is_refused() -> None:
    assert not replace(stump(), base=float("nan")).is_sound(2)


def test_pointers_need_contiguous_arrays() -> None:
    with pytest.raises(ValueError, match="C order"):
        pointer(data(4)[:, 1])
    assert native() is native()
