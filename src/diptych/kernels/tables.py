"""Sparse tables of probabilities, as the kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Table", "table_of"]


class Table(NamedTuple):
    """Sparse rows of probabilities: row i is `columns[offsets[i]:offsets[i + 1]]`, ascending."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]


def table_of(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], count: int) -> Table:
    """Entries in any order as a table of so many rows; entries of the same place are added.

    >>> import numpy as np
    >>> table = table_of(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([0.5, 1, 0.25]), 2)
    >>> [part.tolist() for part in table]
    [[0, 1, 2], [1, 2], [1.0, 0.75]]
    """
    import numpy as np

    width = int(columns.max(initial=0)) + 1
    keys, place = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    sums = np.bincount(place.reshape(-1), values, len(keys))
    offsets = np.searchsorted(keys, np.arange(count + 1) * width).astype(np.int64)
    return Table(offsets, (keys % width).astype(np.int32), sums.astype(np.float32))
