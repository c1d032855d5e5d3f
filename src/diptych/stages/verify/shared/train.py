"""Training of verifier models with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.learn.libraries import library
from diptych.stages.verify.shared.model import Logistic, Model, Node, Trees

_MIN_LEAF = 2  # minimum pairs per leaf, the default of J48 in WEKA
_NEGATIVE_FEATURES = frozenset({"tag_distance"})
"""features that are evidence against a pair; the others are evidence for it"""
_UNSIGNED_FEATURES = frozenset({"copied", "lexicon", "text"})
"""features that only show how reliable the others are"""
_MAX_TOTAL_WEIGHT = 250  # in pairs; more pairs do not weaken the penalty on the weights
_SMALL_TABLE = 200  # in pairs; in a larger table a leaf must hold at least 1% of them


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Training data: a row of features, a label and a weight for each page pair."""

    names: tuple[str, ...]
    rows: NDArray[np.float64]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        rows: Iterable[Sequence[float]],
        right: Iterable[bool],
        weights: Iterable[float] | None = None,
    ) -> Table:
        """Build a table from Python values; without weights, all pairs have the same weight.

        `right` contains the labels: True for a correct pair.
        """
        values = np.array([[*row] for row in rows], np.float64).reshape(-1, len(names))
        count = np.ones(len(values)) if weights is None else np.array([*weights], np.float64)
        return cls(tuple(names), values, np.array([*right], bool), count)

    def only(self, names: Sequence[str]) -> Table:
        """Return a table of the same pairs with only the named features."""
        columns = [self.names.index(name) for name in names]
        return Table(tuple(names), self.rows[:, columns], self.right, self.weights)

    def part(self, chosen: NDArray[Any]) -> Table:
        """Return a table of only the chosen pairs."""
        return Table(self.names, self.rows[chosen], self.right[chosen], self.weights[chosen])


Trainer = Callable[[Table], Model]


def logistic(table: Table, *, strength: float = 1.0) -> Logistic:
    """Train a logistic regression, i.e. a maximum entropy model with two classes."""
    # DEVIATION(shi): the same maximum is found by a quasi-Newton method, not by iterative scaling,
    # and weights are regularised, so that few pairs suffice.
    linear_model: Any = library("sklearn.linear_model", "training")
    means, scales = _moments(table)
    model = linear_model.LogisticRegression(C=strength, max_iter=5_000)
    model.fit((table.rows - means) / scales, table.right, sample_weight=table.weights)
    weights, bias = tuple(model.coef_[0].tolist()), float(model.intercept_[0])
    return Logistic(table.names, bias, weights, tuple(means.tolist()), tuple(scales.tolist()))


def monotone(table: Table) -> Logistic:
    """Train a logistic regression in which most weights have a fixed sign.

    Otherwise, one of two correlated features may get a weight with the wrong sign, which overfits
    the training sites.
    """
    optimize: Any = library("scipy.optimize", "training")
    means, scales = _moments(table)
    rows = (table.rows - means) / scales
    signs = np.where(table.right, 1.0, -1.0)
    weights = table.weights / table.weights.sum() * min(len(rows), _MAX_TOTAL_WEIGHT)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (rows @ values[1:] + values[0])
        slopes = -weights * signs / (1 + np.exp(np.clip(margins, -50, 50)))
        total = weights @ np.logaddexp(0, -margins) + 0.5 * values[1:] @ values[1:]
        return float(total), np.concatenate([[slopes.sum()], rows.T @ slopes + values[1:]])

    bounds = [(None, None), *(_bound(name) for name in table.names)]
    found = optimize.minimize(
        loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B"
    ).x.tolist()
    return Logistic(
        table.names, found[0], tuple(found[1:]), tuple(means.tolist()), tuple(scales.tolist())
    )


def _bound(name: str) -> tuple[float | None, float | None]:
    if name in _UNSIGNED_FEATURES:
        return None, None
    return (None, 0.0) if name in _NEGATIVE_FEATURES else (0.0, None)


def _moments(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean and standard deviation of each feature; the latter is 1 for constant features."""
    means = np.average(table.rows, axis=0, weights=table.weights)
    spread = np.average((table.rows - means) ** 2, axis=0, weights=table.weights)
    return means, np.where(spread > 1e-12, np.sqrt(spread), 1.0)


def decision_tree(table: Table) -> Trees:
    """Train a small decision tree that is split by entropy."""
    # DEVIATION(pplocator): J48 splits by gain ratio and prunes by a bound on the error.  Here trees
    # are split by gain, and kept small by a minimum leaf size and a cost of leaves.
    tree_module: Any = library("sklearn.tree", "training")
    least = max(_MIN_LEAF, len(table.rows) // 100 if len(table.rows) > _SMALL_TABLE else 0)
    model = tree_module.DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=least, max_depth=6, ccp_alpha=0.005, random_state=0
    )
    model.fit(table.rows, table.right, sample_weight=table.weights / table.weights.mean())
    return Trees(table.names, 0.0, (tree_nodes(model.tree_, _leaf_odds(model.tree_, table)),))


def _leaf_odds(tree: Any, table: Table) -> NDArray[np.float64]:
    """The smoothed log-odds of each leaf of a fitted tree."""
    leaves = tree.apply(table.rows.astype(np.float32))
    weights = table.weights / table.weights.mean()
    total = np.bincount(leaves, weights, tree.node_count)
    right = np.bincount(leaves, weights * table.right, tree.node_count)
    return np.log((right + 1) / (total - right + 1))  # Laplace smoothing: no leaf is certain


def tree_nodes(tree: Any, values: NDArray[np.float64]) -> tuple[Node, ...]:
    """Convert a fitted scikit-learn tree to nodes, with the given values for its leaves."""
    inner = zip(tree.feature, tree.threshold, tree.children_left, tree.children_right, strict=True)
    return tuple(
        Node(-1, 0.0, 0, 0, float(value))
        if left < 0
        else Node(int(feature), float(threshold), int(left), int(right), 0.0)
        for (feature, threshold, left, right), value in zip(inner, values, strict=True)
    )


def probabilities(model: Model, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability, for each row of features, that the pair is correct."""
    return np.array([model.probability(row) for row in rows.tolist()], np.float64)


def folds(right: NDArray[np.bool_], count: int, seed: int) -> NDArray[np.int64]:
    """Assign each pair to one of `count` random folds, with both classes spread evenly.

    `right` contains the class of each pair.
    """
    found = np.zeros(len(right), np.int64)
    generator = np.random.default_rng(seed)
    for label in (False, True):
        places = np.flatnonzero(right == label)
        found[generator.permutation(places)] = np.arange(len(places)) % count
    return found


def cross_validated(table: Table, train: Trainer, fold: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability of each pair according to a model trained on the other folds."""
    found = np.zeros(len(table.rows))
    for number in np.unique(fold).tolist():
        here = fold == number
        found[here] = probabilities(train(table.part(~here)), table.rows[here])
    return found


def leave_one_out(
    table: Table, train: Trainer, fold: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Cross-validate without each feature in turn, and return the probabilities by feature name.

    This corresponds to Table II of Vieira & Moreira 2012.
    """
    return {
        name: cross_validated(
            table.only([each for each in table.names if each != name]), train, fold
        )
        for name in table.names
    }
