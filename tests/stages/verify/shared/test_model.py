from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.errors import ConfigError
from diptych.stages.verify.shared.model import Logistic, Node, Trees, from_json, load, to_json
from diptych.stages.verify.shared.train import (
    Table,
    cross_validated,
    decision_tree,
    folds,
    leave_one_out,
    logistic,
    monotone,
    probabilities,
)

LOGISTIC = Logistic(("a", "b"), 0.1, (1.0, -2.0), (0.5, 0.5), (1.0, 0.25))
LEAF, OTHER = Node(-1, 0.0, 0, 0, -1.5), Node(-1, 0.0, 0, 0, 2.5)
TREES = Trees(("a", "b"), 0.0, ((Node(1, 0.5, 1, 2, 0.0), LEAF, OTHER), (LEAF,)))


def table(count: int = 200, seed: int = 0) -> Table:
    """Pairs that the first feature tells, and the second does not."""
    generator = np.random.default_rng(seed)
    rows = generator.random((count, 2))
    right = rows[:, 0] + generator.normal(0, 0.05, count) > 0.5
    return Table.of(("a", "b"), rows.tolist(), right.tolist())


@pytest.mark.parametrize("model", [LOGISTIC, TREES])
def test_model_is_the_same_after_it_was_written(model: Logistic | Trees) -> None:
    assert from_json(to_json(model), ("a", "b"), "x") == model


def test_trees_add_their_leaves() -> None:
    assert TREES.probability([0.0, 0.5]) == pytest.approx(1 / (1 + np.exp(3.0)))
    assert TREES.probability([0.0, 0.51]) == pytest.approx(1 / (1 + np.exp(-1.0)))


def test_regression_is_as_documented() -> None:
    odds = 0.1 + 1.0 * (0.7 - 0.5) - 2.0 * (0.4 - 0.5) / 0.25
    assert LOGISTIC.probability([0.7, 0.4]) == pytest.approx(1 / (1 + np.exp(-odds)))
    assert LOGISTIC.probability([1e9, 0.0]) == 1.0


def damaged(model: Logistic | Trees, **changes: Any) -> str:
    raw = json.loads(to_json(model)) | changes
    return json.dumps({key: value for key, value in raw.items() if value is not None})


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", "[" * 100_000, to_json(LOGISTIC)[:-20],
        damaged(LOGISTIC, format=2), damaged(LOGISTIC, features=["b", "a"]),
        damaged(LOGISTIC, weights=[1.0]), damaged(LOGISTIC, weights=[1.0, "x"]),
        damaged(LOGISTIC, weights=None), damaged(LOGISTIC, scales=[1.0, 0.0]),
        damaged(LOGISTIC, bias=float("nan")), damaged(LOGISTIC, bias=True),
        damaged(TREES, trees=[[]]), damaged(TREES, trees=[[[0, 0.5, 0, 0, 0.0]]]),
        damaged(TREES, trees=[[[0, 0.5, 1, 7, 0.0], LEAF]]),
        damaged(TREES, trees=[[[2, 0.5, 1, 2, 0.0], LEAF, LEAF]]),
        damaged(TREES, trees=[[[-2, 0.5, 1, 2, 0.0], LEAF, LEAF]]),
        damaged(TREES, trees=[[[0, 0.5, 1.0, 2, 0.0], LEAF, LEAF]]),
        damaged(TREES, trees=[[[-1, 0.0, 0, 0, float("inf")]]]),
        damaged(TREES, trees=[[[-1, 0.0]]]), damaged(TREES, trees=7),
    ],
)  # fmt: skip
def test_damaged_model_is_a_one_line_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"x\.json") as caught:
        from_json(text, ("a", "b"), "x.json")
    assert "\n" not in str(caught.value)


@given(text=st.text(max_size=80) | st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["format", "features", "bias", "trees", "weights", "means", "scales"]),
        inner, max_size=7,
    ), max_leaves=20,
).map(json.dumps))  # fmt: skip
def test_any_text_gives_a_model_or_an_error(text: str) -> None:
    with suppress(ConfigError):
        from_json(text, (), "x")


def test_unreadable_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"maxent\.json: No such file"):
        load(str(tmp_path), "maxent", ("a",))
    (tmp_path / "maxent.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match="is not a verifier model: it is not UTF-8"):
        load(str(tmp_path), "maxent", ("a",))
    (tmp_path / "classify.json").mkdir()
    with pytest.raises(ConfigError):
        load(str(tmp_path), "classify", ("a",))


@pytest.mark.parametrize("train", [logistic, monotone, decision_tree])
def test_simple_tables_are_learned(train: Any) -> None:
    model = train(table())
    test = table(seed=1)
    said = probabilities(model, test.rows) >= 0.5
    assert (said == test.right).mean() > 0.9
    assert from_json(to_json(model), ("a", "b"), "x") == model


def test_weights_count_as_repeated_pairs() -> None:
    few = table(60)
    heavy = Table(few.names, few.rows, few.right, np.where(few.right, 2.0, 1.0))
    rows = np.concatenate([few.rows, few.rows[few.right]])
    right = np.concatenate([few.right, few.right[few.right]])
    twice = Table.of(few.names, rows.tolist(), right.tolist())
    assert logistic(heavy).weights == pytest.approx(logistic(twice).weights, rel=1e-3)


def test_no_weight_has_the_wrong_sign() -> None:
    generator = np.random.default_rng(0)
    rows = generator.random((300, 4))
    right = rows[:, 0] - rows[:, 1] + rows[:, 2] - rows[:, 3] > 0
    names = ("good", "misread", "tag_distance", "text")
    model = monotone(Table.of(names, rows.tolist(), right.tolist()))
    assert model.weights[0] > 0.5
    assert model.weights[1] == 0.0  # a similarity may not speak against a pair
    assert model.weights[2] == 0.0  # nor a distance for one
    assert model.weights[3] < -0.5  # an amount may do either


def test_a_feature_without_any_spread_does_no_harm() -> None:
    rows = [[0.1 * n, 5.0] for n in range(20)]
    right = [n >= 10 for n in range(20)]
    for train in (logistic, monotone, decision_tree):
        model = train(Table.of(("a", "b"), rows, right))
        assert model.probability([2.0, 5.0]) > 0.5 > model.probability([0.0, 5.0])


def test_folds_spread_both_classes_and_are_the_same_for_a_seed() -> None:
    right = np.arange(50) % 5 == 0
    fold = folds(right, 10, 3)
    assert [int((right & (fold == number)).sum()) for number in range(10)] == [1] * 10
    assert [int((~right & (fold == number)).sum()) for number in range(10)] == [4] * 10
    assert (fold == folds(right, 10, 3)).all()
    assert not (fold == folds(right, 10, 4)).all()


def test_no_pair_is_scored_by_a_model_trained_on_it() -> None:
    given_table = table(40)
    fold = folds(given_table.right, 4, 0)
    seen: list[set[float]] = []

    def train(part: Table) -> Logistic:
        seen.append({*part.rows[:, 0].tolist()})
        return logistic(part)

    cross_validated(given_table, train, fold)
    for number, given_to in enumerate(seen):
        assert given_to == {*given_table.rows[fold != number, 0].tolist()}


def test_leaving_out_the_most_informative_feature_costs_most() -> None:
    given_table = table()
    fold = folds(given_table.right, 5, 0)
    wrong = {
        name: ((probabilities >= 0.5) != given_table.right).mean()
        for name, probabilities in leave_one_out(given_table, decision_tree, fold).items()
    }
    assert wrong["a"] > 0.3 > 0.1 > wrong["b"]
