"""Word links in C: pairs of words that a lexicon or similar spelling suggests are translations."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import Table, are_offsets, are_within, ends_of


class Spelling(NamedTuple):
    """Words transliterated to ASCII for comparison, concatenated."""

    text: NDArray[np.uint8]
    at: NDArray[np.int64]
    """the offset of each word, and the end of the last"""

    @classmethod
    def of(cls, folded: Sequence[str]) -> Spelling:
        """Concatenate words that have been transliterated."""
        ends = ends_of(np.array([len(word) for word in folded], np.int64))
        return cls(np.frombuffer("".join(folded).encode("ascii"), np.uint8), ends)

    def chosen(self, words: NDArray[Any]) -> Spelling:
        """The spelling of some of the words, given by number.

        >>> some = Spelling.of(["one", "", "two"]).chosen(np.array([2, 1, 0]))
        >>> bytes(some.text), some.at.tolist()
        (b'twoone', [0, 3, 3, 6])
        """
        begin = self.at[words]
        sizes = self.at[words + 1] - begin
        at = ends_of(sizes)
        return Spelling(self.text[np.repeat(begin - at[:-1], sizes) + np.arange(at[-1])], at)


class Words(NamedTuple):
    """A vocabulary and the table of its translations, from one side of a lexicon."""

    rows: NDArray[np.int64]
    """row of each word in the table, or -1"""
    table: Table
    """for each word on this side of the lexicon, its translations"""
    spelling: Spelling


class Looks(NamedTuple):
    """Parameters for linking words with the same or similar spelling."""

    same: float
    """probability of a word with the same spelling"""
    alike: float
    """probability of a word with similar spelling, to be multiplied by the similarity"""
    min_similarity: float
    min_shared: int
    """minimum number of letters in the common prefix"""
    max_compared: int
    """maximum number of words that a word is compared with"""


class _CWords(ctypes.Structure):
    _fields_ = (
        ("words", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "row offsets columns values"),
        ("rows", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "text at"),
    )


class CLooks(ctypes.Structure):
    """`Looks` as a C structure."""

    _fields_ = (
        *fields_of(ctypes.c_double, "same alike min_similarity"),
        *fields_of(ctypes.c_int64, "min_shared max_compared"),
    )


class _CFound(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int64, "room count"),
        *fields_of(ctypes.c_void_p, "left right forward backward"),
    )


def find_links(
    left: Words, right: Words, looks: Looks
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Find word links: both word indices, p(right | left) and p(left | right) for each link."""
    library = native()
    if library is None:
        raise RuntimeError("finding word links in one call requires the compiled kernels")
    _check(left)
    _check(right)
    count, others = len(left.rows), len(right.rows)
    room = _entries(left) + _entries(right) + min(2 * looks.max_compared, others) * count
    where = np.empty((2, room), np.int32)
    shares = np.empty((2, room), np.float32)
    found = _CFound(room, 0, *map(pointer, (*where, *shares)))
    sides = _side(left), _side(right)
    known = CLooks(*looks)
    if not library.links_find(*map(ctypes.byref, (*sides, known, found))):
        raise MemoryError
    end = int(found.count)
    return where[0, :end], where[1, :end], shares[0, :end], shares[1, :end]


def _side(words: Words) -> _CWords:
    arrays = words.rows, *words.table
    return _CWords(
        len(words.rows), *map(pointer, arrays), len(words.table.offsets) - 1,
        *map(pointer, words.spelling),
    )  # fmt: skip


def _entries(words: Words) -> int:
    """The total number of table entries in the rows of the words."""
    known = words.rows[words.rows >= 0]
    return int((words.table.offsets[known + 1] - words.table.offsets[known]).sum())


def _check(words: Words) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    offsets, columns, values = words.table
    if not are_offsets(words.spelling.at, len(words.spelling.text)):
        raise ValueError("each word must have a spelling")
    if len(words.rows) != len(words.spelling.at) - 1:
        raise ValueError("each word must have a row and a spelling")
    if len(words.rows) and not -1 <= words.rows.min() <= words.rows.max() < len(offsets) - 1:
        raise ValueError("words refer to rows that the lexicon does not have")
    if offsets[0] != 0 or not offsets[-1] == len(columns) == len(values):
        raise ValueError("the rows of the lexicon are incomplete")
    known = words.rows[words.rows >= 0]
    for rows in (known, known + 1):
        if not are_within(offsets[rows], len(columns) + 1):
            raise ValueError("the rows of the lexicon are incomplete")
