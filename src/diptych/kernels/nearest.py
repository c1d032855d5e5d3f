"""Search for the nearest rows of a sparse matrix by dot product, with an inverted index in C.

Only rows that share a feature are compared.  A budget limits the number of comparisons for rows
whose features are all frequent.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, nearest_reference, pointer
from diptych.kernels.tables import are_offsets, are_within, ends_of, table_of


@dataclass(frozen=True, slots=True)
class Rows:
    """Sparse rows: the features of row i are `features[offsets[i]:offsets[i + 1]]`, ascending."""

    offsets: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    """positive values"""
    width: int
    """number of features"""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __post_init__(self) -> None:
        """Check the invariants that the C code relies on."""
        kinds = [str(array.dtype) for array in (self.offsets, self.features, self.values)]
        is_whole = (
            kinds == ["int64", "int32", "float32"]
            and len(self.features) == len(self.values)
            and are_offsets(self.offsets, len(self.features))
            and are_within(self.features, self.width)
        )
        if not is_whole:
            raise ValueError(
                "each row must be complete, and its feature indices must be less than the width"
            )

    @classmethod
    def of(
        cls,
        row: NDArray[np.integer[Any]],
        feature: NDArray[np.integer[Any]],
        value: NDArray[np.floating[Any]],
        *,
        rows: int,
        width: int,
    ) -> Rows:
        """Create rows from entries in any order; entries of the same cell are summed.

        Only positive sums are kept.

        >>> made = Rows.of(np.array([1, 0, 1]), np.array([2, 0, 2]), np.ones(3), rows=2, width=3)
        >>> made.offsets.tolist(), made.features.tolist(), made.values.tolist()
        ([0, 1, 2], [0, 2], [1.0, 2.0])
        """
        if not are_within(feature, width):
            raise ValueError("feature indices must be at least 0 and less than the width")
        table = table_of(row, feature, value, rows)
        kept = table.values > 0
        offsets = ends_of(kept)[table.offsets]
        return cls(offsets, table.columns[kept], table.values[kept], width)

    def turned(self) -> Rows:
        """The transposed matrix: for each feature, the rows that contain it."""
        row = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
        order = np.argsort(self.features, kind="stable")
        offsets = np.searchsorted(self.features[order], np.arange(self.width + 1))
        return Rows(offsets.astype(np.int64), row[order], self.values[order], max(len(self), 1))

    def unit(self) -> Rows:
        """A copy of the rows scaled to unit length, so that dot products are cosines."""
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        squares = np.bincount(row, self.values.astype(np.float64) ** 2, len(self))
        values = (self.values / np.sqrt(squares)[row]).astype(np.float32)
        return Rows(self.offsets, self.features, values, self.width)


def nearest(
    queries: Rows, targets: Rows, *, most: int, budget: int = 50_000
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """For each query, the `most` target rows with the highest dot products, best first.

    The result is the indices of the rows and their products.  For each query, features are visited
    in numerical order until `budget` entries of the targets have been visited, so rare features
    should have the lowest numbers.  Of rows with equal products, the first wins; the index -1 marks
    a missing row.
    """
    if queries.width != targets.width:
        raise ValueError("queries and targets must have the same features")
    library = native()
    if library is None or most < 1:
        return nearest_reference.nearest(queries, targets, most, budget)
    postings = targets.turned()
    rows = np.full((len(queries), most), -1, np.int32)
    scores = np.zeros((len(queries), most), np.float32)
    sums, touched = np.zeros(len(targets), np.float32), np.zeros(len(targets), np.int32)
    library.diptych_nearest(
        ctypes.c_int64(len(queries)), pointer(queries.offsets), pointer(queries.features),
        pointer(queries.values), pointer(postings.offsets), pointer(postings.features),
        pointer(postings.values), ctypes.c_int32(most), ctypes.c_int64(budget), pointer(sums),
        pointer(touched), pointer(rows), pointer(scores),
    )  # fmt: skip
    return rows, scores


def products(
    left: Rows, right: Rows, ours: NDArray[np.int32], theirs: NDArray[np.int32]
) -> NDArray[np.float32]:
    """The dot product of each pair of rows, given by their indices `ours` and `theirs`."""
    for rows, places in ((left, ours), (right, theirs)):
        if not are_within(places, len(rows)):
            raise ValueError("a row index is out of range")
    if left.width != right.width or len(ours) != len(theirs):
        raise ValueError("both sides must have the same features and the same number of rows")
    library = native()
    if library is None:
        return nearest_reference.products(left, right, ours, theirs)
    found = np.zeros(len(ours), np.float32)
    ours, theirs = np.ascontiguousarray(ours, np.int32), np.ascontiguousarray(theirs, np.int32)
    library.diptych_products(
        ctypes.c_int64(len(ours)), pointer(ours), pointer(theirs), pointer(left.offsets),
        pointer(left.features), pointer(left.values), pointer(right.offsets),
        pointer(right.features), pointer(right.values), pointer(found),
    )  # fmt: skip
    return found
