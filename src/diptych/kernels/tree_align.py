"""Alignment of two ordered trees in C: the best alignment, and expectations over all alignments.

A tree or forest is given as an array: for each node in postorder, the first node of its subtree.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, pointer
from diptych.kernels import tree_align_reference as reference


def decode(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float32]
) -> list[tuple[int, int]]:
    """Find the alignment with the highest sum of gains; return its node pairs with positive gains.

    `gains` holds the gain of aligning each left node (row) with each right node (column).

    >>> a_tree_of_two = np.array([0, 0], np.int32)
    >>> decode(a_tree_of_two, a_tree_of_two, np.array([[3, 9], [1, 4]], np.float32))
    [(0, 1)]
    """
    n, m = len(left), len(right)
    _check(left, right, gains.shape)
    library = native()
    if not n or not m:
        return []
    if library is None:
        return reference.decode(left, right, gains)
    mass = np.array(gains, np.float32, order="C")  # a copy, because it is overwritten
    table = np.empty((n + 1) * (m + 1), np.float32)
    scratch = np.empty(2 * (n + m), np.int32)
    most = min(n, m)
    rows, columns, stack = (np.empty(size, np.int32) for size in (most, most, 2 * most))
    found = library.tree_decode(
        pointer(left), ctypes.c_int32(n), pointer(right), ctypes.c_int32(m), pointer(mass),
        pointer(table), pointer(scratch), pointer(rows), pointer(columns), pointer(stack),
    )  # fmt: skip
    if found < 0:
        raise ValueError("not a forest in postorder")
    return sorted(zip(rows[:found].tolist(), columns[:found].tolist(), strict=True))


def expect(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """The log total weight of all alignments, and the posterior probability of each node pair.

    >>> one = np.array([0], np.int32)
    >>> total, shares = expect(one, one, np.array([[np.log(3.0)]]))
    >>> round(float(np.exp(total)), 6), round(float(shares[0, 0]), 6)
    (4.0, 0.75)
    """
    n, m = len(left), len(right)
    _check(left, right, gains.shape)
    if not np.isfinite(gains).all():
        raise ValueError("gains must be finite")
    library = native()
    if not n or not m:
        return 0.0, np.zeros((n, m))
    if library is None:
        return reference.expect(left, right, gains)
    gains = np.ascontiguousarray(gains, np.float64)
    mass, counts = np.empty((n, m)), np.empty((n, m))
    tables = np.empty(3 * (n + 1) * (m + 1))
    scratch = np.empty(2 * (n + m), np.int32)
    library.tree_expect.restype = ctypes.c_double
    total = library.tree_expect(
        pointer(left), ctypes.c_int32(n), pointer(right), ctypes.c_int32(m), pointer(gains),
        pointer(mass), pointer(counts), pointer(tables), pointer(scratch),
    )  # fmt: skip
    if np.isnan(total):
        raise ValueError("not a forest in postorder")
    return float(total), counts


def _check(left: NDArray[np.int32], right: NDArray[np.int32], shape: tuple[int, ...]) -> None:
    if left.dtype != np.int32 or right.dtype != np.int32 or shape != (len(left), len(right)):
        raise ValueError("trees must be int32, with a gain for each pair of nodes")
