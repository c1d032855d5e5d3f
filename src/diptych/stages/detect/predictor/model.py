"""Predicts which links lead to a missing language (Barbosa et al. 2011, section 2.1).

A language is missing if it is requested, but no page in it has been found yet.  The model is a
linear support vector machine over named features, with a sigmoid that turns its margin into a
probability (Platt 1999).  The model file is JSON: plain numbers, no code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from diptych.files import model_file, read_file, reading
from diptych.learn.json_models import MAX_BYTES, number, parse_model
from diptych.learn.logistic import probability

FORMAT = 1
_FILE = "model.json"
_ADVICE = "train the model again"


@dataclass(frozen=True, slots=True)
class LinkPredictor:
    """A weight for each feature, and the two parameters of the sigmoid."""

    bias: float
    weights: Mapping[str, float]
    slope: float = 1.0
    offset: float = 0.0

    def margin(self, features: Iterable[str]) -> float:
        """The margin of a link; if positive, it probably leads to a language not found yet."""
        return self.bias + math.fsum(self.weights.get(name, 0.0) for name in features)

    def probability(self, features: Iterable[str]) -> float:
        """The probability that a link with these features leads to a language not found yet.

        >>> model = LinkPredictor(-1.0, {"anchor:is:missing": 2.0}, slope=3.0)
        >>> [round(model.probability(each), 2) for each in ((), ("anchor:is:missing", "url=a"))]
        [0.05, 0.95]
        """
        return probability(self.slope * self.margin(features) + self.offset)


def to_json(model: LinkPredictor) -> str:
    """Serialise a model as JSON that `from_json` can read."""
    kept = {
        "format": FORMAT,
        "bias": model.bias,
        "slope": model.slope,
        "offset": model.offset,
        "weights": dict(sorted(model.weights.items())),
    }
    return json.dumps(kept, indent=0, ensure_ascii=False) + "\n"


def from_json(text: str | bytes, name: str) -> LinkPredictor:
    """Parse a model, or raise a `ConfigError` that mentions the file `name` if it is invalid."""
    with reading(name, "link predictor", _ADVICE):
        raw = parse_model(text, FORMAT)
        weights = {str(key): number(value) for key, value in raw["weights"].items()}
        bias, slope, offset = (number(raw[key]) for key in ("bias", "slope", "offset"))
        return LinkPredictor(bias, weights, slope, offset)


def load(folder: str = "") -> LinkPredictor:
    """Load the model from a folder; by default, the model shipped with the package."""
    return _read(folder) if folder else _shipped()


@cache
def _shipped() -> LinkPredictor:
    return _read("")


def _read(folder: str) -> LinkPredictor:
    with model_file(folder, _FILE, "diptych.stages.detect.predictor") as path:
        return from_json(read_file(path, MAX_BYTES, _ADVICE), str(path))
