"""Best alignment, sum over all alignments and word evidence of two ordered trees: calls of the C.

A tree, or a forest, is given as `leftmost`: for each node in postorder, the first node of its tree.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych.kernels import native, pointer
from diptych.kernels import tree_align_reference as reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Postings", "Translations", "add_words", "decode", "expect"]


class Postings(NamedTuple):
    """For each word the nodes it stands in: word w has `nodes[offsets[w]:offsets[w+1]]`."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    values: NDArray[np.float32]


class Translations(NamedTuple):
    """For each word of one page the words of the other, and how much likelier than by chance."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    odds: NDArray[np.float32]


def decode(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float32]
) -> list[tuple[int, int]]:
    """The pairs of nodes whose gains sum to the most, in postorder; no gain below zero is taken.

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
    mass = np.array(gains, np.float32, order="C")  # a copy: it is overwritten
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
    """The logarithm of the sum over all alignments, and the probability of each pair of nodes.

    >>> one = np.array([0], np.int32)
    >>> total, shares = expect(one, one, np.array([[np.log(3.0)]]))
    >>> round(float(np.exp(total)), 6), round(float(shares[0, 0]), 6)
    (4.0, 0.75)
    """
    n, m = len(left), len(right)
    _check(left, right, gains.shape)
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


def add_words(
    gains: NDArray[np.float32],
    words: Postings,
    translations: Translations,
    others: Postings,
    base: NDArray[np.float32],
    weight: float,
) -> None:
    """Add to the gains, in place, what the words of the left nodes say of the right ones.

    A word that stands `values` times in a left node adds as often `log(1 + weight s / base)`, where
    s is the sum, over its translations in the right node, of odds times their share of the text.
    """
    n, m = gains.shape
    _check_postings(words, n)
    _check_postings(others, m)
    _check_rows(translations.offsets, translations.columns, len(others.offsets) - 1)
    floats = (gains, translations.odds, base)
    if any(array.dtype != np.float32 for array in floats):
        raise ValueError("gains, odds and base are float32")
    if translations.odds.shape != translations.columns.shape:
        raise ValueError("odds for each translation")
    if len(translations.offsets) != len(words.offsets) or base.shape != (m,):
        raise ValueError("words, translations and nodes do not fit each other")
    library = native()
    if library is None:
        reference.add_words(gains, words, translations, others, base, weight)
        return
    sums, touched = np.zeros(m, np.float32), np.empty(m, np.int32)
    library.tree_words(
        ctypes.c_int32(len(words.offsets) - 1), pointer(words.offsets), pointer(words.nodes),
        pointer(words.values), pointer(translations.offsets), pointer(translations.columns),
        pointer(translations.odds), pointer(others.offsets), pointer(others.nodes),
        pointer(others.values), pointer(base), ctypes.c_float(weight), ctypes.c_int32(m),
        pointer(sums), pointer(touched), pointer(gains),
    )  # fmt: skip


def _check(left: NDArray[np.int32], right: NDArray[np.int32], shape: tuple[int, ...]) -> None:
    if left.dtype != np.int32 or right.dtype != np.int32 or shape != (len(left), len(right)):
        raise ValueError("a gain for each pair of nodes, and trees as int32")


def _check_postings(postings: Postings, nodes: int) -> None:
    _check_rows(postings.offsets, postings.nodes, nodes)
    if postings.values.shape != postings.nodes.shape or postings.values.dtype != np.float32:
        raise ValueError("a float32 for each posting")


def _check_rows(offsets: NDArray[np.int64], indices: NDArray[np.int32], bound: int) -> None:
    """Rows that stay inside their arrays: what C reads by them is there."""
    is_sound = (
        offsets.dtype == np.int64
        and indices.dtype == np.int32
        and len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == len(indices)
        and bool((np.diff(offsets) >= 0).all())
        and (not len(indices) or (indices.min() >= 0 and indices.max() < bound))
    )
    if not is_sound:
        raise ValueError("rows or indices outside their arrays")
