"""Sentence alignment of many pairs of short texts, called pieces, in one C call.

A piece is, for example, a block of a page and its counterpart.  The reference implementation,
`align_sentences/shared/passes.py`, finds the same path through a piece.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.beads import Lengths, Moves
from diptych.kernels.ibm1 import Bags
from diptych.kernels.length_costs import MAX_COST
from diptych.kernels.tables import are_offsets, are_within

MAX_MOVES = 32  # MOST_MOVES of beads.c


class Side(NamedTuple):
    """The left or right sentences of all pieces, in the order of the pieces."""

    bags: Bags
    lengths: NDArray[np.float64]
    starts: NDArray[np.int64]
    """index of the first sentence of each piece, followed by the number of sentences"""


class LinkRows(NamedTuple):
    """For each left word, the linked right words, with probabilities in both directions."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    forward: NDArray[np.float32]
    backward: NDArray[np.float32]


class Setting(NamedTuple):
    """The constants for scoring beads."""

    unknown: float
    """share of words that occur by chance"""
    nothing_known: float
    """share of words that occur by chance in a piece without linked words"""
    least_lift: float
    """minimum lift of a link over chance; weaker links are ignored"""
    rare: float
    """expected count of an unseen word in `base` words of any text"""
    base: float
    letters: float
    """number of letters on both sides at which the observed length ratio gets half the weight"""
    most_ratio: float


class Ways(NamedTuple):
    """The alignment steps of all pieces, and the confidence of each.

    A step is a row of (left index, right index, left count, right count) within its piece.
    """

    steps: NDArray[np.int32]
    confidence: NDArray[np.float64]
    counts: NDArray[np.int64]
    """number of steps of each piece"""


class _CSide(ctypes.Structure):
    _fields_ = (
        ("words", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "pieces rows word count length"),
    )


class _CLinks(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_void_p, "offsets columns forward backward")


class _CSetting(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int32, "moves most"),
        *fields_of(ctypes.c_void_p, "left_counts right_counts priors"),
        *((name, ctypes.c_double) for name in ("variance", "most_cost", *Setting._fields)),
    )


def best_ways(left: Side, right: Side, links: LinkRows, moves: Moves, setting: Setting) -> Ways:
    """Find the path with the most probable beads through each piece, as `best_path` does."""
    library = native()
    if library is None:
        raise RuntimeError("aligning pieces in one call requires the compiled kernels")
    _check(left, right, links, moves)
    count = len(left.starts) - 1
    most = len(left.lengths) + len(right.lengths)
    ways = Ways(np.empty((most, 4), np.int32), np.empty(most), np.zeros(count, np.int64))
    priors = _CSetting(
        len(moves.priors), moves.most, *map(pointer, moves), Lengths._field_defaults["variance"],
        MAX_COST, *setting,
    )  # fmt: skip
    sides, rows = (_side(left), _side(right)), _CLinks(*map(pointer, links))
    is_done = library.pieces_align(
        ctypes.c_int64(count), *map(ctypes.byref, (*sides, rows, priors)), *map(pointer, ways)
    )
    if not is_done:
        raise MemoryError
    found = int(ways.counts.sum())
    return Ways(ways.steps[:found], ways.confidence[:found], ways.counts)


def _side(side: Side) -> _CSide:
    bags = side.bags
    arrays = side.starts, bags.offsets, bags.word, bags.count, side.lengths
    return _CSide(bags.size, *map(pointer, arrays))


def _check(left: Side, right: Side, links: LinkRows, moves: Moves) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    if len(left.starts) != len(right.starts):
        raise ValueError("both sides must have the same number of pieces")
    for side in (left, right):
        if len(side.bags) != len(side.lengths) or not are_offsets(side.starts, len(side.bags)):
            raise ValueError("pieces must cover all sentences of a side, in order")
    offsets, columns = links.offsets, links.columns
    is_whole = len(offsets) == left.bags.size + 1 and are_offsets(offsets, len(columns))
    if not is_whole or not len(columns) == len(links.forward) == len(links.backward):
        raise ValueError("links must have one row per left word")
    if not are_within(columns, right.bags.size):
        raise ValueError("links lead to words outside the vocabulary")
    kinds = set(zip(moves.left.tolist(), moves.right.tolist(), strict=True))
    if len(moves.priors) > MAX_MOVES or not {(1, 0), (0, 1)} <= kinds:
        raise ValueError(f"there must be at most {MAX_MOVES} moves, including (1, 0) and (0, 1)")
