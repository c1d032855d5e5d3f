"""Training the link predictor: a linear support vector machine, then a sigmoid (Platt 1999)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.learn.logistic import fit_logistic
from diptych.stages.detect.predictor.model import LinkPredictor

__all__ = ["LabelledLink", "fit", "platt"]

_DIGITS = 4  # of a weight that are kept


class LabelledLink(NamedTuple):
    """The features of a link, and True if it leads to a language that was missing."""

    features: frozenset[str]
    label: bool
    group: str
    """its source: links of one group are never used for training and calibration at once"""
    weight: float = 1.0


def fit(
    rows: Sequence[LabelledLink],
    *,
    cost: float = 0.1,
    least_groups: int = 2,
    least_word_groups: int = 6,
    folds: int = 5,
    seed: int = 0,
) -> LinkPredictor:
    """A predictor trained on labelled links; the same rows and seed give the same one.

    least_groups: a feature of fewer groups is a habit of theirs and gets no weight; words, which
    are features with `=`, need more of them.
    """
    vocabulary = _vocabulary(rows, least_groups, least_word_groups)
    matrix = _matrix(rows, vocabulary)
    labels = np.array([row.label for row in rows])
    weights = np.array([row.weight for row in rows])
    signs = [_direction(name) for name in vocabulary]
    parts = _parts([row.group for row in rows], folds, seed)
    margins = np.zeros(len(rows))
    for part in range(folds):
        held = parts == part
        if held.any() and not held.all():
            plane = _plane(matrix[~held], labels[~held], weights[~held], signs, cost)
            margins[held] = matrix[held] @ plane[:-1] + plane[-1]
    slope, offset = platt(margins, labels, weights)
    plane = _plane(matrix, labels, weights, signs, cost)
    rounded = [round(float(number), _DIGITS) for number in plane]
    kept = {name: weight for name, weight in zip(vocabulary, rounded, strict=False) if weight}
    return LinkPredictor(rounded[-1], kept, slope, offset)


def _vocabulary(rows: Sequence[LabelledLink], least: int, least_words: int) -> list[str]:
    """The features that occur in enough groups, in order; words in enough that they speak for."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in row.features:
            if row.label or "=" not in name:
                groups[name].add(row.group)
    return sorted(
        name
        for name, some in groups.items()
        if len(some) >= (least_words if "=" in name else least)
    )


def _direction(name: str) -> int:
    """The sign that the weight of a feature must have; 0 if it may have any.

    >>> [_direction(name) for name in ("text:missing:sure", "anchor:is:third", "page:silent")]
    [1, -1, 0]
    """
    parts = name.split(":")
    if "=" in name:  # a word that speaks against a link is of its page's subject
        return 1
    if parts[0] == "page":
        return 0
    return 1 if "missing" in parts else -1 if "third" in parts or "shown" in parts else 0


def _matrix(rows: Sequence[LabelledLink], vocabulary: Sequence[str]) -> Any:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    place = {name: number for number, name in enumerate(vocabulary)}
    columns, starts = [], [0]
    for row in rows:
        columns.extend(sorted(place[name] for name in row.features if name in place))
        starts.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, starts), (len(rows), len(vocabulary)))


def _plane(
    matrix: Any,
    labels: NDArray[np.bool_],
    weights: NDArray[np.float64],
    signs: Sequence[int],
    cost: float,
) -> NDArray[np.float64]:
    """Weights and bias of a support vector machine with squared hinge loss.

    DEVIATION(barbosa): no feature may speak against what it stands for.  Features that say the
    same are set against each other otherwise, which fits the sites of the training and no others.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    sides = np.where(labels, 1.0, -1.0)

    def loss(plane: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        short = np.maximum(0.0, 1 - sides * (matrix @ plane[:-1] + plane[-1]))
        value = float(0.5 * plane @ plane + cost * (weights @ short**2))
        pull = -2 * cost * weights * short * sides
        return value, plane + np.append(matrix.T @ pull, pull.sum())

    bounds = [(0 if sign > 0 else None, 0 if sign < 0 else None) for sign in (*signs, 0)]
    start = np.zeros(len(signs) + 1)
    options = {"maxiter": 500, "maxfun": 1000}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x, np.float64)


def _parts(groups: Sequence[str], folds: int, seed: int) -> NDArray[np.int64]:
    """A fold for each row, the same for all of a group."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % folds for number, place in enumerate(order.tolist())}
    return np.array([fold_of[group] for group in groups])


def platt(
    margins: NDArray[np.float64],
    labels: NDArray[np.bool_],
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Slope and offset of the sigmoid that makes probabilities of margins, by Newton's method.

    The targets are Platt's: not quite 0 and 1, as there are only so many examples.

    >>> slope, offset = platt(np.array([-1.0, -0.9, 0.9, 1.0]), np.array([0, 0, 1, 1], bool))
    >>> slope > 0, abs(offset) < 1e-6
    (True, True)
    """
    counts = np.ones(len(margins)) if weights is None else weights
    positive, negative = float(counts[labels].sum()), float(counts[~labels].sum())
    targets = np.where(labels, (positive + 1) / (positive + 2), 1 / (negative + 2))
    slope, offset = fit_logistic(margins, targets, counts)
    return round(slope, _DIGITS), round(offset, _DIGITS)
