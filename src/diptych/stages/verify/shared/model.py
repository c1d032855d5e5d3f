"""Trained models for verifiers, stored as JSON without any executable code.

    logistic    p = 1 / (1 + exp(-(bias + sum of weight * (value - mean) / scale)))
    trees       p = 1 / (1 + exp(-(bias + sum of the leaves that a row reaches)))

A tree is a list of nodes `[feature, threshold, left, right, value]`.  A leaf has feature -1; a row
goes left if its value is at most the threshold; children come after their parent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from diptych.files import model_file, read_file, reading
from diptych.learn.json_models import MAX_BYTES, number, parse_model
from diptych.learn.logistic import probability

FORMAT = 1
_LEAF = -1
_ADVICE = "train one with: diptych train verify"


class Node(NamedTuple):
    """A node of a decision tree; `feature` is -1 for a leaf."""

    feature: int
    threshold: float
    left: int
    right: int
    value: float


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression model with one weight per feature."""

    features: tuple[str, ...]
    bias: float
    weights: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]

    def probability(self, row: Sequence[float]) -> float:
        """The probability that a pair with these features is correct.

        >>> Logistic(("a",), 0.0, (2.0,), (0.5,), (1.0,)).probability([0.5])
        0.5
        """
        parts = zip(row, self.weights, self.means, self.scales, strict=True)
        return probability(self.bias + sum(w * (x - mean) / scale for x, w, mean, scale in parts))


@dataclass(frozen=True, slots=True)
class Trees:
    """A model of one or more decision trees whose leaf values are added."""

    features: tuple[str, ...]
    bias: float
    trees: tuple[tuple[Node, ...], ...]

    def probability(self, row: Sequence[float]) -> float:
        """The probability that a pair with these features is correct.

        >>> leaves = Node(-1, 0, 0, 0, -2.0), Node(-1, 0, 0, 0, 2.0)
        >>> model = Trees(("a",), 0.0, ((Node(0, 0.5, 1, 2, 0.0), *leaves),))
        >>> round(model.probability([0.4]), 2), round(model.probability([0.6]), 2)
        (0.12, 0.88)
        """
        return probability(self.bias + sum(_leaf(tree, row) for tree in self.trees))


Model = Logistic | Trees


def _leaf(tree: Sequence[Node], row: Sequence[float]) -> float:
    node = tree[0]
    while node.feature != _LEAF:
        node = tree[node.left if row[node.feature] <= node.threshold else node.right]
    return node.value


def to_json(model: Model) -> str:
    """Serialise a model as JSON that `from_json` can read."""
    kept: dict[str, Any] = {"format": FORMAT, "features": model.features, "bias": model.bias}
    if isinstance(model, Logistic):
        kept |= {"weights": model.weights, "means": model.means, "scales": model.scales}
    else:
        kept["trees"] = model.trees
    return json.dumps(kept, indent=1)


def from_json(text: str | bytes, features: Sequence[str], name: str) -> Model:
    """Parse a model; raise `ConfigError` if it is invalid or was trained with other features."""
    with reading(name, "verifier model", _ADVICE):
        raw = parse_model(text, FORMAT)
        if raw["features"] != list(features):
            raise ValueError("it was trained with different features")
        return _checked(raw)


def _checked(raw: dict[str, Any]) -> Model:
    """Build a model from parsed JSON; raise `ValueError` if a value is invalid."""
    features, bias = tuple(raw["features"]), number(raw["bias"])
    if "trees" in raw:
        trees = tuple(_tree(nodes, len(features)) for nodes in raw["trees"])
        return Trees(features, bias, trees)
    lists = [tuple(map(number, raw[part])) for part in ("weights", "means", "scales")]
    if any(len(part) != len(features) for part in lists):
        raise ValueError(
            "the number of weights, means or scales does not match the number of features"
        )
    if not all(scale > 0 for scale in lists[2]):
        raise ValueError("a scale is not positive")
    return Logistic(features, bias, *lists)


def _tree(nodes: Sequence[Any], width: int) -> tuple[Node, ...]:
    """Build a tree, and check that all children exist and come after their parent.

    `width` is the number of features.
    """
    tree = tuple(Node(*nodes[place]) for place in range(len(nodes)))
    if not tree:
        raise ValueError("a tree has no root")
    for place, node in enumerate(tree):
        steps = node.left, node.right
        if any(type(number) is not int for number in (node.feature, *steps)):
            raise ValueError("a tree node contains a non-numeric value")
        if not _LEAF <= node.feature < width:
            raise ValueError("a tree node has an unknown feature")
        if node.feature != _LEAF and not all(place < step < len(tree) for step in steps):
            raise ValueError("a tree node has no valid children")
        number(node.threshold), number(node.value)
    return tree


def load(folder: str, method: str, features: Sequence[str]) -> Model:
    """Load a verifier's model from a folder, or the shipped model if `folder` is empty."""
    return (_read if folder else _shipped)(folder, method, tuple(features))


def _read(folder: str, method: str, features: tuple[str, ...]) -> Model:
    with model_file(folder, f"{method}.json", "diptych.stages.verify.shared") as path:
        return from_json(read_file(path, MAX_BYTES, _ADVICE), features, str(path))


_shipped = cache(_read)
