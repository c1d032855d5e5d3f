"""Scores of probabilities that separate correct pairs from others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.commands.train.url_models import figures

BINS = 10


class Scores(NamedTuple):
    """Precision, recall and F1 in percent; area under the curve; expected calibration error."""

    precision: float
    recall: float
    f1: float
    area: float
    calibration: float

    def __str__(self) -> str:
        return (
            f"P {self.precision:.1f} R {self.recall:.1f} F1 {self.f1:.1f}, area under the curve"
            f" {self.area:.4f}, calibration error {self.calibration:.3f}"
        )


def scores(
    right: NDArray[np.bool_], said: NDArray[np.float64], accepted: NDArray[np.bool_] | None = None
) -> Scores:
    """All scores; unless `accepted` is given, probabilities from 0.5 on are accepted."""
    found = figures(right, said >= 0.5 if accepted is None else accepted)
    return Scores(*found, area(right, said), calibration(right, said))


def area(right: NDArray[np.bool_], said: NDArray[np.float64]) -> float:
    """The probability that a correct pair is ranked above another; ties count half.

    >>> area(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    order = np.unique(said, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(order)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[order]
    positives = int(right.sum())
    negatives = len(right) - positives
    return float(
        (ranks[right].sum() - positives * (positives + 1) / 2) / max(positives * negatives, 1)
    )


def calibration(right: NDArray[np.bool_], said: NDArray[np.float64]) -> float:
    """The expected calibration error over ten bins of equal width.

    >>> round(calibration(np.array([True, False]), np.array([0.95, 0.95])), 2)
    0.45
    """
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    return float(sum(
        abs(said[bins == place].mean() - right[bins == place].mean()) * (bins == place).mean()
        for place in range(BINS) if (bins == place).any()
    ))  # fmt: skip
