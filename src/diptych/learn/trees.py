"""Boosted decision trees as plain arrays, with scoring in C and conversion from scikit-learn."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, pointer
from diptych.learn.arrays import arrays_of, part_of

_LEAF = -1
_FORESTS = 8  # packed forests to keep: some 300 kB each
_DTYPES = {
    "roots": "int32",
    "features": "int16",
    "thresholds": "float32",
    "lefts": "int32",
    "rights": "int32",
    "values": "float32",
}


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The nodes of all decision trees, concatenated; a leaf has feature -1 and a value."""

    roots: NDArray[np.int32]
    features: NDArray[np.int16]
    thresholds: NDArray[np.float32]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    values: NDArray[np.float32]
    base: float

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The log odds of each row: `base` plus the values of the leaves that the row reaches."""
        library = native()
        if library is None:
            return self.reference(rows)
        rows = np.ascontiguousarray(rows, np.float32)
        out = np.zeros(len(rows), np.float32)
        library.forest(
            pointer(rows), ctypes.c_int64(len(rows)), ctypes.c_int32(rows.shape[1]),
            pointer(self.roots), ctypes.c_int32(len(self.roots)), *map(pointer, _packed(self)),
            ctypes.c_float(self.base), pointer(out),
        )  # fmt: skip
        return out

    def reference(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Compute `scores` in NumPy, as the reference implementation and the fallback."""
        out = np.full(len(rows), self.base, np.float64)
        every = np.arange(len(rows))
        for root in self.roots.tolist():
            node = np.full(len(rows), root, np.int32)
            while (inner := self.features[node] != _LEAF).any():
                at = node[inner]
                value = rows[every[inner], self.features[at]]
                node[inner] = np.where(
                    value <= self.thresholds[at], self.lefts[at], self.rights[at]
                )
            out += self.values[node]
        return out.astype(np.float32)

    def is_sound(self, width: int) -> bool:
        """True if every index is in range, as the C code requires, and every value is finite.

        `width` is the number of features.
        """
        size = self.features.size
        sizes = {name: size for name in _DTYPES} | {"roots": self.roots.size}
        arrays = {name: getattr(self, name) for name in _DTYPES}
        if any(
            array.shape != (sizes[name],) or array.dtype != _DTYPES[name]
            for name, array in arrays.items()
        ):
            return False
        inner = np.flatnonzero(self.features != _LEAF)
        steps = np.concatenate([self.lefts[inner], self.rights[inner]])
        return bool(
            ((self.features >= _LEAF) & (self.features < width)).all()
            and (steps > np.concatenate([inner, inner])).all()
            and (steps < size).all()
            and ((self.roots >= 0) & (self.roots < size)).all()
            and np.isfinite(self.values).all()
            and math.isfinite(self.base)
        )

    def arrays(self, prefix: str = "") -> dict[str, Any]:
        """The arrays of the forest, keyed by field name with `prefix` added."""
        return arrays_of(self, prefix)

    @classmethod
    def of_arrays(cls, found: Mapping[str, NDArray[Any]], width: int, prefix: str = "") -> Forest:
        """Create a forest over `width` features from the arrays whose names begin with `prefix`.

        Raise ValueError if the arrays are damaged.
        """
        parts: dict[str, Any] = part_of(found, prefix)
        forest = cls(**parts | {"base": float(parts["base"].item())})
        if not forest.is_sound(width):
            raise ValueError("its arrays are damaged")
        return forest

    @classmethod
    def from_boosting(cls, model: Any) -> Forest:
        """Convert a fitted binary `HistGradientBoostingClassifier` to a forest."""
        trees = [stage[0].nodes for stage in model._predictors]
        roots = np.cumsum([0, *(len(nodes) for nodes in trees)])[:-1].astype(np.int32)
        nodes = np.concatenate(trees)
        shift = np.repeat(roots, [len(tree) for tree in trees])
        leaf = nodes["is_leaf"].astype(bool)
        return cls(
            roots,
            np.where(leaf, _LEAF, nodes["feature_idx"]).astype(np.int16),
            # Rounded down, so that a value at the threshold takes the same branch as in double.
            _down(nodes["num_threshold"]),
            (nodes["left"] + shift).astype(np.int32),
            (nodes["right"] + shift).astype(np.int32),
            np.where(leaf, nodes["value"], 0).astype(np.float32),
            float(np.ravel(model._baseline_prediction)[0]),
        )


@lru_cache(maxsize=_FORESTS)
def _packed(forest: Forest) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The nodes of a forest in the form that the kernel reads, and the height of each."""
    library, size = native(), len(forest.features)
    assert library is not None
    nodes, heights = np.zeros((size, 4), np.int32), np.zeros(size, np.int32)
    library.forest_pack(
        ctypes.c_int64(size), pointer(forest.features), pointer(forest.thresholds),
        pointer(forest.lefts), pointer(forest.rights), pointer(forest.values), pointer(nodes),
        pointer(heights),
    )  # fmt: skip
    return nodes, heights


def _down(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    lower: NDArray[np.float32] = np.where(
        rounded > values, np.nextafter(rounded, np.float32(-np.inf)), rounded
    )
    return lower
