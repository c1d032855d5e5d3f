"""Word links in C: words of two vocabularies that a lexicon or their spelling connects."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import Table, are_within, ends_of


class Words(NamedTuple):
    """A vocabulary, as one side of a lexicon sees it."""

    rows: NDArray[np.int64]
    """of each word in the table, or -1"""
    table: Table
    """for each word of this side of the lexicon those of the other"""
    folded: tuple[str, ...]
    """the words as they are compared, in letters of ASCII"""


class Looks(NamedTuple):
    """The probabilities of words that are spelled alike."""

    same: float
    """probability of a word that is the same"""
    alike: float
    """and of one that is alike, times how much"""
    min_similarity: float
    min_shared: int
    """letters that are shared from the beginning"""
    max_compared: int
    """words that one is compared with"""


class _CWords(ctypes.Structure):
    _fields_ = (
        ("words", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "row offsets columns values"),
        ("rows", ctypes.c_int64),
        ("text", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )


class _CLooks(ctypes.Structure):
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
    """Places of both words, in order, with p(right | left) and p(left | right)."""
    library = native()
    if library is None:
        raise RuntimeError("links are found so only where the kernels are compiled")
    _check(left)
    _check(right)
    count, others = len(left.rows), len(right.rows)
    room = _entries(left) + _entries(right) + min(2 * looks.max_compared, others) * count
    where = np.empty((2, room), np.int32)
    shares = np.empty((2, room), np.float32)
    found = _CFound(room, 0, *map(pointer, (*where, *shares)))
    texts = [_placed(left), _placed(right)]
    sides = [_side(words, *text) for words, text in zip((left, right), texts, strict=True)]
    known = _CLooks(*looks)
    if not library.links_find(*map(ctypes.byref, (*sides, known, found))):
        raise MemoryError
    end = int(found.count)
    return where[0, :end], where[1, :end], shares[0, :end], shares[1, :end]


def _placed(words: Words) -> tuple[bytes, NDArray[np.int64]]:
    """All words as one text, and the offset of each."""
    ends = ends_of(np.array([len(word) for word in words.folded], np.int64))
    return "".join(words.folded).encode("ascii"), ends


def _side(words: Words, text: bytes, at: NDArray[np.int64]) -> _CWords:
    arrays = words.rows, *words.table
    return _CWords(
        len(words.rows), *map(pointer, arrays), len(words.table.offsets) - 1, text, pointer(at)
    )


def _entries(words: Words) -> int:
    """The number of entries of the table in the rows of its words."""
    known = words.rows[words.rows >= 0]
    return int((words.table.offsets[known + 1] - words.table.offsets[known]).sum())


def _check(words: Words) -> None:
    """Raise ValueError for anything that would lead the kernel out of its arrays."""
    offsets, columns, values = words.table
    if len(words.rows) != len(words.folded):
        raise ValueError("a word has a row and a spelling")
    if len(words.rows) and not -1 <= words.rows.min() <= words.rows.max() < len(offsets) - 1:
        raise ValueError("words are of rows that the lexicon has not")
    if offsets[0] != 0 or not offsets[-1] == len(columns) == len(values):
        raise ValueError("the rows of the lexicon are not whole")
    known = words.rows[words.rows >= 0]
    for rows in (known, known + 1):
        if not are_within(offsets[rows], len(columns) + 1):
            raise ValueError("the rows of the lexicon are not whole")
