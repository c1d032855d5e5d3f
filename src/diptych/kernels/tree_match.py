"""The gains of node pairs, and the alignment of nodes in C.

The reference implementations are in `stages/align_dom/domtree`: `evidence.py`, `crossing.py`,
`lists.py`, and `best_alignment` in `strategy.py`.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import are_within


class NodeColumns(NamedTuple):
    """The nodes of a forest in postorder, as columns."""

    rows: NDArray[np.int32]
    """row or column of the node in the matrix of word gains, or -1 if it has no text"""
    lengths: NDArray[np.float64]
    """length of the text"""
    tags: NDArray[np.int32]
    """index in the table of tags"""
    hrefs: NDArray[np.int32]
    """number of the link's target, or -1 if the node is no link"""
    names: NDArray[np.int32]
    """number of the last part of the link's target"""
    words: NDArray[np.float64]
    """number of words of the text"""
    blocks: NDArray[np.int32]
    """number of the block, or -1"""
    leftmost: NDArray[np.int32]


_TYPES = [np.dtype(name) for name in ("i4", "f8", "i4", "i4", "i4", "f8", "i4", "i4")]
"""of the columns of `NodeColumns`"""


class MatchSettings(NamedTuple):
    """Weights of evidence and margins; `DomTree` explains them."""

    words: float
    length: float
    one_sided: float
    same_link: float
    fine: float
    """length up to which bins of lengths are linear"""
    ratio: float
    """ratio of the lengths of two longer bins"""
    length_table: NDArray[np.float32]
    tag_table: NDArray[np.float32]
    swap: float
    crossing: float
    per_word: float
    most_words: float
    no_evidence: float


class _CSide(ctypes.Structure):
    _fields_ = (
        ("nodes", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "row length tag href name words block leftmost"),
    )


class _CSettings(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_double, "words length one_sided same_link fine ratio"),
        *fields_of(ctypes.c_int64, "bins tags"),
        *fields_of(ctypes.c_void_p, "length_table tag_table"),
        *fields_of(ctypes.c_double, "swap crossing per_word most_words no_evidence"),
    )


class Matched(NamedTuple):
    """The alignment of two forests."""

    texts: NDArray[np.float32]
    """gain of each pair of nodes from texts and links"""
    gains: NDArray[np.float32]
    """gain of each pair of nodes from texts, links and tags"""
    partners: NDArray[np.int32]
    """the right node that each left node is paired with, or -1"""
    doubts: NDArray[np.int32]
    """left nodes of the pairs of texts in which nothing shows that they correspond"""


def match(
    left: NodeColumns, right: NodeColumns, words: NDArray[np.float32], settings: MatchSettings
) -> Matched:
    """Align two forests, first in order, then with pairs out of order unless `crossing` is 0.

    `words` is the matrix of word gains.
    """
    library = native()
    if library is None:
        raise RuntimeError("matching nodes in one call requires the compiled kernels")
    _check(left, words.shape[0], settings)
    _check(right, words.shape[1], settings)
    n, m = len(left.rows), len(right.rows)
    texts, gains = np.empty((2, n, m), np.float32)
    partners, doubts = np.full(n, -1, np.int32), np.empty(n, np.int32)
    if not n or not m:
        return Matched(texts, gains, partners, doubts[:0])
    sides = [ctypes.byref(_CSide(len(side.rows), *map(pointer, side))) for side in (left, right)]
    how = ctypes.byref(_c_settings(settings))
    matrix, *tables = map(pointer, (words, texts, gains))
    if not library.tree_gains(*sides, how, matrix, ctypes.c_int64(words.shape[1]), *tables):
        raise MemoryError
    found = library.tree_partners(
        pointer(left.leftmost), ctypes.c_int32(n), pointer(right.leftmost), ctypes.c_int32(m),
        tables[1], pointer(partners),
    )  # fmt: skip
    if found < 0:
        raise MemoryError
    if not found:
        raise ValueError("not a forest in postorder")
    if not settings.crossing:
        return Matched(texts, gains, partners, doubts[:0])
    library.tree_reorder.restype = ctypes.c_int64
    count = library.tree_reorder(*sides, how, *tables, pointer(partners), pointer(doubts))
    if count < 0:
        raise MemoryError
    return Matched(texts, gains, partners, doubts[:count])


def _c_settings(settings: MatchSettings) -> _CSettings:
    lengths, tags = settings.length_table, settings.tag_table
    return _CSettings(
        *settings[:6], len(lengths), len(tags), pointer(lengths), pointer(tags), *settings[8:]
    )


def _check(side: NodeColumns, rows: int, settings: MatchSettings) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    if len({len(column) for column in side}) != 1:
        raise ValueError("columns must have the same length")
    if [column.dtype for column in side] != _TYPES:
        raise ValueError("columns must have the types of NodeColumns")
    tables = settings.tag_table, settings.length_table
    if any(table.ndim != 2 or not len(table) == table.shape[1] > 0 for table in tables):
        raise ValueError("tables must be square")
    if not are_within(side.tags, len(settings.tag_table)) or not are_within(
        side.rows + 1, rows + 1
    ):
        raise ValueError("nodes must refer to rows and tags that exist")
    if len(side.lengths) and not side.lengths.min() >= 0:
        raise ValueError("lengths must not be negative")


def sum_best(
    cells: NDArray[np.float32],
    left: tuple[NDArray[np.int32], NDArray[np.int32]],
    right: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> NDArray[np.float32]:
    """The gain of each pair of items, given the gain of each pair of blocks.

    Each side has the first block of each item, and the end of its blocks.  Each block counts with
    its best match in the other item, and both directions are averaged; the gain is not a number if
    an item has no blocks.  `stages/align_dom/domtree/lists.py` has the reference implementation.
    """
    library = native()
    if library is None:
        raise RuntimeError("the gains of items require the compiled kernels")
    if cells.dtype != np.float32 or any(each.dtype != np.int32 for each in (*left, *right)):
        raise ValueError("gains must be float32, and items int32")
    for (first, end), size in zip((left, right), cells.shape, strict=True):
        if (
            len(first) != len(end)
            or not are_within(first, size + 1)
            or not are_within(end, size + 1)
        ):
            raise ValueError("items must consist of blocks that exist")
    found = np.empty((len(left[0]), len(right[0])), np.float32)
    library.tree_items(
        pointer(cells), ctypes.c_int64(cells.shape[1]), ctypes.c_int64(len(left[0])),
        *map(pointer, left), ctypes.c_int64(len(right[0])), *map(pointer, right), pointer(found),
    )  # fmt: skip
    return found
