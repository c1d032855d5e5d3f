"""What the filter has learned: trees over measures, and what it says of texts that come again.

    p  = 1 / (1 + exp(-(slope * trees + offset)))
    p' = 1 / (1 + exp(-(logit p + logit share
                        + again * log same + apart * log(same * same / (left * right)))))

`share` is how many segments of a run are right, which its scores tell: p holds where half are.
`same`, `left` and `right` say how often the pair and each of its sides occur; of a pair that occurs
once, and so do its sides, nothing more is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.learn.arrays import read_arrays
from diptych.learn.logistic import sigmoid
from diptych.learn.trees import Forest
from diptych.units import Repeats

__all__ = ["QualityModel", "load", "settled", "share_right", "shipped"]

_FORMAT = 1
_MOST = np.log(20.0)  # so often a text occurs that more would say no more
_USUAL, _SEGMENTS = 0.9, 20.0  # share of right segments on verified pages, and what weight it has
_LEAST, _LARGEST = 0.05, 0.95  # a share beyond is not believed
_STEPS = 200
_CERTAIN = 1e-6  # a score this close to 0 or 1 is moved like one that is this far from it


@dataclass(frozen=True, slots=True, eq=False)
class QualityModel:
    """A trained model of some measures."""

    names: tuple[str, ...]
    forest: Forest
    slope: float
    offset: float
    again: float
    """what it is worth that a pair occurs again"""
    apart: float
    """and that its sides occur with others"""

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """One for each row of measures."""
        odds = self.forest.scores(rows).astype(np.float64)
        return sigmoid(self.slope * odds + self.offset)

    def settled(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Scores with what the whole run says: how many are right, and what comes again."""
        share = share_right(scores)
        moved = sigmoid(_odds(scores) + np.log(share / (1 - share)))
        return settled(moved, repeats, again=self.again, apart=self.apart)

    def save(self, path: Path) -> None:
        """Write the model to a file of arrays."""
        arrays: dict[str, Any] = {
            f"forest_{field.name}": getattr(self.forest, field.name)
            for field in fields(self.forest)
        }
        arrays |= {"names": np.array(self.names), "format": np.array(_FORMAT)}
        arrays |= {
            "curve": np.array([self.slope, self.offset]),
            "repeats": np.array([self.again, self.apart]),
        }
        np.savez_compressed(path, **arrays)


def share_right(scores: NDArray[np.float64]) -> float:
    """The share of right ones, by probabilities that hold where it is a half.

    Expectation maximisation (Saerens, Latinne and Decaestecker 2002); of few segments what is usual
    has the say.

    >>> round(share_right(np.array([0.99] * 80 + [0.01] * 20)), 2), share_right(np.empty(0))
    (0.82, 0.9)
    """
    inside = np.clip(scores, _CERTAIN, 1 - _CERTAIN)
    ratio = inside / (1 - inside)
    share = _USUAL
    for _ in range(_STEPS):
        right = share * ratio / (share * ratio + 1 - share)
        before, share = share, (right.sum() + _SEGMENTS * _USUAL) / (len(scores) + _SEGMENTS)
        if abs(share - before) < _CERTAIN:
            break
    return float(np.clip(share, _LEAST, _LARGEST))


def _odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(scores, _CERTAIN, 1 - _CERTAIN)
    found: NDArray[np.float64] = np.log(inside / (1 - inside))
    return found


def settled(
    scores: NDArray[np.float64], repeats: Repeats, *, again: float, apart: float
) -> NDArray[np.float64]:
    """Scores moved by how often the texts of segments occur.

    >>> twice = Repeats(np.array([2, 1, 1]), np.array([2, 1, 3]), np.array([2, 1, 1]))
    >>> settled(np.array([0.5, 0.5, 0.5]), twice, again=1.0, apart=1.0).round(2).tolist()
    [0.67, 0.5, 0.25]
    """
    same, left, right = (np.log(np.maximum(counts, 1)) for counts in repeats)
    shift = again * np.minimum(same, _MOST) + apart * np.maximum(
        2 * same - left - right, -2 * _MOST
    )
    return np.where(shift == 0, scores, sigmoid(_odds(scores) + shift))


@cache
def shipped(name: str, names: tuple[str, ...]) -> QualityModel:
    """The model of a name that comes with the package."""
    with as_file(files("diptych.stages.filter.quality") / "weights" / f"{name}.npz") as path:
        return load(path, names)


def load(path: Path, names: Sequence[str]) -> QualityModel:
    """A saved model of these measures; `ConfigError` for anything else."""
    found = read_arrays(path, "model of the quality of segments", _FORMAT)
    if "names" not in found or found["names"].tolist() != list(names):
        raise ConfigError(f"{path} was trained with other measures; train the model anew")
    try:
        forest = Forest(
            **{
                field.name: found[f"forest_{field.name}"]
                for field in fields(Forest)
                if field.name != "base"
            },
            base=float(found["forest_base"].item()),
        )
        slope, offset = map(float, found["curve"])
        again, apart = map(float, found["repeats"])
    except (TypeError, ValueError, KeyError) as error:
        raise ConfigError(f"{path} is damaged: {error}; train the model anew") from error
    numbers = np.array([slope, offset, again, apart])
    # A negative slope or weight would hold good segments for bad.
    if not (forest.is_sound(len(names)) and np.isfinite(numbers).all()) or (
        min(slope, again, apart) < 0
    ):
        raise ConfigError(f"{path} is damaged; train the model anew")
    return QualityModel(tuple(names), forest, slope, offset, again, apart)
