"""The trained model of the filter: trees over measures, and the weight of repeated texts.

    p  = 1 / (1 + exp(-(slope * trees + offset)))
    p' = 1 / (1 + exp(-(logit p + logit share
                        + again * log same + apart * log(same * same / (left * right)))))

`share` is the share of right segments of a run, estimated from its scores: p holds for one half.
`same`, `left` and `right` are the counts of the pair and of each of its sides; a pair that occurs
once, and whose sides do too, keeps its score.
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

_FORMAT = 1
_MAX_LOG_COUNT = np.log(20.0)  # more occurrences of a text do not count
_PRIOR_SHARE, _PRIOR_SEGMENTS = 0.9, 20.0  # share of right segments on verified pages; its weight
_MIN_SHARE, _MAX_SHARE = 0.05, 0.95  # bounds of the estimated share
_MAX_STEPS = 200
_TOLERANCE = 1e-6  # scores are kept so far from 0 and 1


@dataclass(frozen=True, slots=True, eq=False)
class QualityModel:
    """A trained model of some measures."""

    names: tuple[str, ...]
    forest: Forest
    slope: float
    offset: float
    again: float
    """weight of the count of a pair"""
    apart: float
    """weight of the counts of its sides in other pairs"""

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """One for each row of measures."""
        odds = self.forest.scores(rows).astype(np.float64)
        return sigmoid(self.slope * odds + self.offset)

    def rescored(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Scores adjusted to the whole run: to its share of right segments, and to repeats."""
        share = share_right(scores)
        adjusted = sigmoid(_odds(scores) + np.log(share / (1 - share)))
        return rescored_by_repeats(adjusted, repeats, again=self.again, apart=self.apart)

    def save(self, path: Path) -> None:
        """Write the model to a file of arrays."""
        about = {
            "names": np.array(self.names),
            "format": np.array(_FORMAT),
            "curve": np.array([self.slope, self.offset]),
            "repeats": np.array([self.again, self.apart]),
        }
        save_arrays(path, about | self.forest.arrays("forest_"))


def share_right(scores: NDArray[np.float64]) -> float:
    """The share of right segments, by probabilities that hold for a share of one half.

    Expectation maximisation (Saerens, Latinne and Decaestecker 2002); with few segments the prior
    decides.

    >>> round(share_right(np.array([0.99] * 80 + [0.01] * 20)), 2), share_right(np.empty(0))
    (0.82, 0.9)
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
    """Scores adjusted by how often the texts of segments occur.

    >>> twice = Repeats(np.array([2, 1, 1]), np.array([2, 1, 3]), np.array([2, 1, 1]))
    >>> rescored_by_repeats(np.full(3, 0.5), twice, again=1.0, apart=1.0).round(2).tolist()
    [0.67, 0.5, 0.25]
    """
    same, left, right = (np.log(np.maximum(counts, 1)) for counts in repeats)
    shift = again * np.minimum(same, _MAX_LOG_COUNT) + apart * np.maximum(
        2 * same - left - right, -2 * _MAX_LOG_COUNT
    )
    return np.where(shift == 0, scores, sigmoid(_odds(scores) + shift))


@cache
def shipped(name: str, names: tuple[str, ...]) -> QualityModel:
    """The model of a name that comes with the package."""
    with model_file("", f"{name}.npz", "diptych.stages.filter.quality") as path:
        return load(path, names)


def load(path: Path, names: Sequence[str]) -> QualityModel:
    """A saved model of these measures; `ConfigError` for anything else."""
    with reading(path, "model of the quality of segments", TRAIN_ANEW):
        found = read_arrays(path, _FORMAT)
        if found["names"].tolist() != list(names):
            raise ValueError("it was trained with other measures")
        forest = Forest.of_arrays(found, len(names), "forest_")
        slope, offset = map(float, found["curve"])
        again, apart = map(float, found["repeats"])
        if not np.isfinite([slope, offset, again, apart]).all():
            raise ValueError("its arrays are damaged")
        if min(slope, again, apart) < 0:
            raise ValueError("it would hold good segments for bad")
        return QualityModel(tuple(names), forest, slope, offset, again, apart)
