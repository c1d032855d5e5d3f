"""Counts near-duplicates by key, and selects the best one in each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych.units import Repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Best(NamedTuple):
    """The best segment of each group of near-duplicates, with the number of copies."""

    rows: NDArray[np.int64]
    """indices of the best rows, in ascending order"""
    copies: NDArray[np.int64]
    """number of copies in each group"""


def repeats(keys: Sequence[NDArray[np.int64]]) -> Repeats:
    """For each segment, count the occurrences of its key, its left side and its right side."""
    return Repeats(*(counts(column) for column in keys))


def best_of(
    keys: NDArray[np.int64], scores: NDArray[np.float64], copies: NDArray[np.int64] | None = None
) -> Best:
    """For each key, find the first row with the highest score, and count all copies.

    Each row counts as one copy, unless `copies` contains another number for it.

    >>> best = best_of(np.array([7, 3, 7]), np.array([0.5, 0.1, 0.9]), np.array([1, 4, 2]))
    >>> best.rows.tolist(), best.copies.tolist()
    ([1, 2], [4, 3])
    """
    order = np.lexsort((-scores, keys))  # stable: of equal scores the earlier row comes first
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(keys)])
    ones = np.ones(len(keys), np.int64) if copies is None else copies[order]
    rows = order[starts]
    in_order = np.argsort(rows)
    return Best(rows[in_order], np.add.reduceat(ones, starts)[in_order])


def counts(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each key, count its occurrences.

    >>> counts(np.array([7, 3, 7])).tolist()
    [2, 1, 2]
    """
    _, places, numbers = np.unique(keys, return_inverse=True, return_counts=True)
    found: NDArray[np.int64] = numbers[places.reshape(-1)]
    return found
