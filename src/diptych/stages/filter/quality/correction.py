"""Corrects the scores of the model by a second look at each segment.

The trees are trained on manuals, whose errors are made by machine.  The correction is a logistic
regression that was trained on segments of real sites, each judged by reading.  It knows what makes
a segment partial there: a number or a run of words that only one side has, and excerpts.

    odds' = offset + sum(weight * measure)

A second regression tells whether a segment that is not good is partial rather than wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file, reading
from diptych.learn.arrays import TRAIN_ANEW
from diptych.learn.json_models import MAX_BYTES, number, parse_model

Floats = NDArray[np.float64]

NAMES = (
    "odds", "length", "length_ratio", "length_off", "number_conflicts", "number_surplus",
    "unlinked_total_apart", "unlinked_known_apart", "unlinked_longest_apart",
    "unlinked_first_apart", "unlinked_last_apart", "unlinked_share", "unlinked_known_share",
    "unlinked_longest_known", "upper_apart", "begin_differs", "end_differs", "excerpts",
    "same_path",
)  # fmt: skip
"""names of the measures; `odds` are the log odds of the trees"""

_FORMAT = 1


class Regression(NamedTuple):
    """A logistic regression: a weight for each measure in `NAMES`, and an offset."""

    weights: tuple[float, ...]
    offset: float

    def odds(self, columns: Mapping[str, Floats]) -> Floats:
        """The log odds of each segment, given its measures by name."""
        # One measure after the other: a product of matrices depends on the number of segments.
        odds = np.full(len(columns[NAMES[0]]), self.offset)
        for name, weight in zip(NAMES, self.weights, strict=True):
            odds += weight * columns[name]
        return odds

    def to_json(self) -> dict[str, Any]:
        """The regression as a JSON value."""
        return {"weights": dict(zip(NAMES, self.weights, strict=True)), "offset": self.offset}


@dataclass(frozen=True, slots=True)
class Correction:
    """The two regressions, and the weights of repeats."""

    good: Regression
    """log odds that a segment is good"""
    partial: Regression
    """log odds that a segment that is not good is partial"""
    again: float
    """weight of the number of occurrences of a pair"""
    apart: float
    """weight of the occurrences of a pair's sides in other pairs"""

    def corrected(self, columns: Mapping[str, Floats]) -> Floats:
        """The corrected log odds of each segment, given its measures by name."""
        return self.good.odds(columns)

    def are_partial(self, columns: Mapping[str, Floats]) -> NDArray[np.bool_]:
        """True for each segment that is partial rather than wrong, if it is not good."""
        return self.partial.odds(columns) > 0

    def to_json(self) -> dict[str, Any]:
        """The model as a JSON value."""
        return {
            "format": _FORMAT, "good": self.good.to_json(), "partial": self.partial.to_json(),
            "again": self.again, "apart": self.apart,
        }  # fmt: skip


@cache
def shipped_correction() -> Correction:
    """Load the correction that is shipped with the package."""
    with (
        model_file("", "correction.json", "diptych.stages.filter.quality") as path,
        reading(path, "correction of segment scores", TRAIN_ANEW),
    ):
        return parse_correction(path.read_bytes()[:MAX_BYTES])


def parse_correction(text: str | bytes) -> Correction:
    """Parse a correction, or raise ValueError if it is invalid."""
    raw = parse_model(text, _FORMAT)
    again, apart = number(raw["again"]), number(raw["apart"])
    if min(again, apart) < 0:
        raise ValueError("a weight of repeats is negative: it would prefer bad segments")
    return Correction(_regression(raw["good"]), _regression(raw["partial"]), again, apart)


def _regression(raw: Mapping[str, Any]) -> Regression:
    if list(raw["weights"]) != list(NAMES):
        raise ValueError("it was trained with different measures")
    return Regression(tuple(map(number, raw["weights"].values())), number(raw["offset"]))
