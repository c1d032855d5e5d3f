"""Boosted trees of a verifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from bench.training.boosted_trees import boosted
from diptych.stages.verify.shared.model import from_json, to_json
from diptych.stages.verify.shared.train import Table, probabilities


def test_trees_have_the_probabilities_of_scikit_learn() -> None:
    rows = np.random.default_rng(0).random((200, 2))
    table = Table.of(("a", "b"), rows.tolist(), (rows.sum(1) > 1).tolist())
    model = GradientBoostingClassifier(
        n_estimators=60, max_depth=3, learning_rate=0.1, subsample=0.7, min_samples_leaf=2,
        random_state=0,
    ).fit(table.rows, table.right)  # fmt: skip
    expected = model.predict_proba(table.rows)[:, 1]
    made = boosted(table)
    assert probabilities(made, table.rows) == pytest.approx(expected, abs=1e-5)
    assert from_json(to_json(made), ("a", "b"), "x") == made
