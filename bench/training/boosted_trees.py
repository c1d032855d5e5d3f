"""Boosted trees for a verifier: compared with logistic regression, which is shipped."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from diptych.stages.verify.shared.model import Trees
from diptych.stages.verify.shared.train import Table, tree_nodes

__all__ = ["boosted"]


def boosted(table: Table, *, trees: int = 60, depth: int = 3, rate: float = 0.1) -> Trees:
    """Gradient boosting of many shallow trees."""
    model = GradientBoostingClassifier(
        n_estimators=trees, max_depth=depth, learning_rate=rate, subsample=0.7,
        min_samples_leaf=max(2, len(table.rows) // 200), random_state=0,
    )  # fmt: skip
    model.fit(table.rows, table.right, sample_weight=table.weights / table.weights.mean())
    prior = float(np.average(table.right, weights=table.weights))
    fitted = [stage[0].tree_ for stage in model.estimators_]
    made = tuple(tree_nodes(tree, rate * tree.value[:, 0, 0]) for tree in fitted)
    return Trees(table.names, float(np.log(prior / (1 - prior))), made)
