"""Logistic calibration of scores to probabilities (Platt 1999)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_CLOSE = 1e-9
_MAX_ODDS = 50.0  # log odds beyond which a probability is practically 0 or 1


def fit_logistic(
    scores: Floats, shares: Floats, weights: Floats | None = None, *, ridge: float = 0.0
) -> tuple[float, float]:
    """Fit the slope and offset of a logistic curve by Newton's method.

    `shares` are the target probabilities of the scores, and `weights` the weights of the scores in
    the fit (1 by default).  `ridge` penalises steep slopes.

    >>> slope, offset = fit_logistic(np.array([-1.0, 1.0]), np.array([0.2, 0.8]))
    >>> round(slope, 3), abs(offset) < 1e-6
    (1.386, True)
    """
    counts = np.ones(len(scores)) if weights is None else weights
    columns = np.stack([scores, np.ones(len(scores))], axis=1)
    kept = np.array([ridge, 0.0])
    found = np.zeros(2)
    for _ in range(_STEPS):
        chance = sigmoid(columns @ found)
        gradient = columns.T @ (counts * (chance - shares)) + kept * found
        bend = (columns * (counts * chance * (1 - chance))[:, None]).T @ columns
        step = np.linalg.solve(bend + np.diag(kept + _CLOSE), gradient)
        found = found - step
        if np.abs(step).max() < _CLOSE:
            break
    return float(found[0]), float(found[1])


def sigmoid(scores: Floats) -> Floats:
    """Convert log odds to probabilities."""
    return 1.0 / (1.0 + np.exp(-np.clip(scores, -_MAX_ODDS, _MAX_ODDS)))


def log_odds(probability: float) -> float:
    """Convert a probability to log odds; 0 and 1 are clipped to avoid infinite values.

    >>> log_odds(0.5), round(log_odds(1.0), 2)
    (0.0, 13.82)
    """
    inside = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


def probability(odds: float) -> float:
    """Convert log odds to a probability.

    >>> probability(0.0), round(probability(-1000.0), 6)
    (0.5, 0.0)
    """
    return 1 / (1 + math.exp(-max(-_MAX_ODDS, min(_MAX_ODDS, odds))))
