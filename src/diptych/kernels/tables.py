"""Sparse tables (offsets, columns, values), and checks for all sparse arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    """Sparse rows of probabilities: row i has the columns `columns[offsets[i]:offsets[i + 1]]`."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]


def table_of(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], count: int) -> Table:
    """Create a table with `count` rows from entries in any order; entries of a cell are summed.

    >>> table = table_of(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([0.5, 1, 0.25]), 2)
    >>> [part.tolist() for part in table]
    [[0, 1, 2], [1, 2], [1.0, 0.75]]
    """
    width = int(columns.max(initial=0)) + 1
    keys, place = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    sums = np.bincount(place.reshape(-1), values, len(keys))
    offsets = np.searchsorted(keys, np.arange(count + 1) * width).astype(np.int64)
    return Table(offsets, (keys % width).astype(np.int32), sums.astype(np.float32))


def ends_of(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """The offsets of concatenated rows of the given sizes: 0, then the end of each row.

    >>> ends_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def are_offsets(offsets: NDArray[Any], end: int) -> bool:
    """True if the offsets start at 0, never decrease and end at `end`.

    >>> are_offsets(np.array([0, 2, 2]), 2), are_offsets(np.array([0, 2, 1, 2]), 2)
    (True, False)
    """
    steps = offsets[1:] < offsets[:-1]
    is_whole = len(offsets) and offsets[0] == 0 and offsets[-1] == end
    return bool(is_whole and not np.count_nonzero(steps))


def are_within(numbers: NDArray[Any], end: int) -> bool:
    """True if all whole numbers are at least 0 and below `end`.

    >>> are_within(np.array([2, 0]), 3), are_within(np.array([2, -1]), 3)
    (True, False)
    """
    if not numbers.size:
        return True
    unsigned = numbers.view(f"u{numbers.itemsize}")  # in which negative numbers are the greatest
    return bool(np.maximum.reduce(unsigned, axis=None) < end)


def ascend_in_rows(offsets: NDArray[Any], columns: NDArray[Any]) -> bool:
    """True if the columns of each row strictly ascend.

    >>> ascend_in_rows(np.array([0, 2, 3]), np.array([1, 5, 0]))
    True
    """
    inside = np.ones(len(columns), bool)
    inside[offsets[:-1][np.diff(offsets) > 0]] = False
    return bool((np.diff(columns, prepend=-1)[inside] > 0).all())
