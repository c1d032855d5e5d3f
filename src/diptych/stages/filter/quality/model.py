"""The trained model of the filter, and the adjustment of scores at the end of a run.

    odds = slope * trees + offset
    p    = 1 / (1 + exp(-correction(odds)))
    p'   = 1 / (1 + exp(-(logit p + logit share
                          + again * log same + apart * log(same * same / (left * right)))))

`share` is the share of correct segments in a run, estimated from the scores, because p assumes that
half of the segments are correct.  `same`, `left` and `right` count the occurrences of the pair and
of each side; if all three are 1, repeats do not change the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file, reading
from diptych.learn.arrays import TRAIN_ANEW, read_arrays, save_arrays
from diptych.learn.logistic import sigmoid
from diptych.learn.trees import Forest
from diptych.units import Repeats

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = 2
_MAX_LOG_COUNT = np.log(20.0)  # further occurrences of a text do not count
_PRIOR_SHARE, _PRIOR_SEGMENTS = 0.7, 20.0  # share of good segments on real sites; its weight
# Bounds of the estimated share.  Among good runs, the estimate says nothing about their segments.
_MIN_SHARE, _MAX_SHARE = 0.05, 0.7
_MAX_STEPS = 200
_TOLERANCE = 1e-6  # minimum distance of scores from 0 and 1


@dataclass(frozen=True, slots=True, eq=False)
class QualityModel:
    """A trained model that scores segments by named measures."""

    names: tuple[str, ...]
    forest: Forest
    slope: float
    offset: float

    def odds(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """For each row of measures, the log odds that the segment is correct."""
        return self.slope * self.forest.scores(rows).astype(np.float64) + self.offset

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """For each row of measures, the probability that the segment is correct."""
        return sigmoid(self.odds(rows))

    def save(self, path: Path) -> None:
        """Write the model to a file of NumPy arrays."""
        about = {
            "names": np.array(self.names),
            "format": np.array(_FORMAT),
            "curve": np.array([self.slope, self.offset]),
        }
        save_arrays(path, about | self.forest.arrays("forest_"))


def rescored(
    scores: NDArray[np.float64], repeats: Repeats, *, again: float, apart: float
) -> NDArray[np.float64]:
    """Adjust scores to the run's share of correct segments and to the number of repeats."""
    share = share_right(scores)
    adjusted = sigmoid(_odds(scores) + np.log(share / (1 - share)))
    return rescored_by_repeats(adjusted, repeats, again=again, apart=apart)


def share_right(scores: NDArray[np.float64]) -> float:
    """Estimate the share of correct segments from probabilities that assume a share of one half.

    The method is expectation maximisation (Saerens, Latinne and Decaestecker 2002); with few
    segments, the prior dominates.

    >>> round(share_right(np.array([0.99] * 80 + [0.01] * 20)), 2), share_right(np.empty(0))
    (0.7, 0.7)
    """
    inside = np.clip(scores, _TOLERANCE, 1 - _TOLERANCE)
    ratio = inside / (1 - inside)
    share = _PRIOR_SHARE
    for _ in range(_MAX_STEPS):
        right = share * ratio / (share * ratio + 1 - share)
        before, share = (
            share,
            (right.sum() + _PRIOR_SEGMENTS * _PRIOR_SHARE) / (len(scores) + _PRIOR_SEGMENTS),
        )
        if abs(share - before) < _TOLERANCE:
            break
    return float(np.clip(share, _MIN_SHARE, _MAX_SHARE))


def _odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(scores, _TOLERANCE, 1 - _TOLERANCE)
    found: NDArray[np.float64] = np.log(inside / (1 - inside))
    return found


def rescored_by_repeats(
    scores: NDArray[np.float64], repeats: Repeats, *, again: float, apart: float
) -> NDArray[np.float64]:
    """Adjust scores according to how often the segments and their sides occur.

    `again` and `apart` are the weights described in `Correction`.

    >>> twice = Repeats(np.array([2, 1, 1]), np.array([2, 1, 3]), np.array([2, 1, 1]))
    >>> rescored_by_repeats(np.full(3, 0.5), twice, again=1.0, apart=1.0).round(2).tolist()
    [0.67, 0.5, 0.25]
    """
    same, others = repeat_measures(repeats)
    shift = again * same + apart * others
    return np.where(shift == 0, scores, sigmoid(_odds(scores) + shift))


def repeat_measures(repeats: Repeats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The logarithms that `again` and `apart` weight: bounded, and 0 for texts that occur once."""
    same, left, right = (np.log(np.maximum(counts, 1)) for counts in repeats)
    return (
        np.minimum(same, _MAX_LOG_COUNT),
        np.maximum(2 * same - left - right, -2 * _MAX_LOG_COUNT),
    )


@cache
def shipped(name: str, names: tuple[str, ...]) -> QualityModel:
    """Load the model called `name` that is shipped with the package; `names` are its measures."""
    with model_file("", f"{name}.npz", "diptych.stages.filter.quality") as path:
        return load(path, names)


def load(path: Path, names: Sequence[str]) -> QualityModel:
    """Load a saved model; raise `ConfigError` if it is invalid or its measures are not `names`."""
    with reading(path, "segment quality model", TRAIN_ANEW):
        found = read_arrays(path, _FORMAT)
        if found["names"].tolist() != list(names):
            raise ValueError("it was trained with different measures")
        forest = Forest.of_arrays(found, len(names), "forest_")
        slope, offset = map(float, found["curve"])
        if not np.isfinite([slope, offset]).all():
            raise ValueError("its arrays are damaged")
        if slope < 0:
            raise ValueError("its slope is negative: it would prefer bad segments")
        return QualityModel(tuple(names), forest, slope, offset)
