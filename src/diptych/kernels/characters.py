"""Character counts in C: the characters of texts by kind.

The reference implementation is `stages/filter/shared/characters.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.lines import as_lines
from diptych.kernels.tables import are_offsets, are_within

_IDEOGRAPHS_END = 0x40000  # code points from the end of the table up to here are ideographs
_MAX_KINDS = 32  # sets of kinds have 32 bits


class KindSets(NamedTuple):
    """The number of kinds, some kinds, and some sets of kinds as bits."""

    kinds: int
    space: int
    lower: int
    stops: int
    """kinds that end a sentence"""
    beginnings: int
    """kinds of which the first character counts"""
    endings: int
    """kinds of which the last character counts"""
    ideograph: int
    other: int


class _CKinds(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "kind weights"),
        ("kinds", ctypes.c_int64),
        *fields_of(ctypes.c_int32, "space lower"),
        *fields_of(ctypes.c_uint32, "stops beginnings endings"),
        *fields_of(ctypes.c_int32, "ideograph other"),
        ("ideographs_end", ctypes.c_int64),
    )


Counts = tuple[
    NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64], NDArray[np.float64]
]


@dataclass(frozen=True, eq=False)
class KindTable:
    """The kind and the weight of each code point."""

    kinds: NDArray[np.uint8]
    sets: KindSets
    weights: NDArray[np.float64]
    """the letters that each code point corresponds to, and those of ideographs beyond the table"""

    @cached_property
    def in_c(self) -> _CKinds:
        """The table as a C structure; raise ValueError if a kind or a weight is out of range."""
        if len(self.weights) != len(self.kinds) + 1:
            raise ValueError("each code point must have a weight")
        if self.sets.kinds > _MAX_KINDS or not are_within(self.kinds, self.sets.kinds):
            raise ValueError("each code point must have one of at most 32 kinds")
        return _CKinds(
            len(self.kinds), pointer(self.kinds), pointer(self.weights), *self.sets,
            _IDEOGRAPHS_END,
        )  # fmt: skip


def count_kinds(points: NDArray[np.uint32], offsets: NDArray[np.int64], table: KindTable) -> Counts:
    """Count the characters of texts, given their code points and their offsets.

    Return the fields of `CharacterCounts`.
    """
    library = native()
    if library is None:
        raise RuntimeError("counting characters in one call requires the compiled kernels")
    if not are_offsets(offsets, len(points)):
        raise ValueError("offsets must be in ascending order, from 0 to the number of characters")
    texts = len(offsets) - 1
    kinds = np.zeros((texts, table.sets.kinds), np.int64)
    first, last = np.zeros((2, texts), np.uint8)
    breaks, lengths = np.zeros(texts, np.int64), np.zeros(texts)
    library.characters_count(
        ctypes.byref(table.in_c), ctypes.c_int64(texts),
        *map(pointer, (offsets, points, kinds, first, last, breaks, lengths)),
    )  # fmt: skip
    return kinds, first, last, breaks, lengths


def line_lengths(texts: Sequence[str], kinds: NDArray[np.uint8]) -> NDArray[np.float64]:
    r"""The length of each text in characters; runs of white space count as one character.

    `kinds` contains, for the first characters of Unicode, 2 for white space, 0 for a character with
    a weight of its own, and 1 for the others.  The length of a text with any other character is -1;
    without the compiled kernel, that of all texts.

    >>> kinds = np.ones(128, np.uint8)
    >>> kinds[[9, 32]] = 2
    >>> line_lengths([" a  cat ", "中"], kinds).tolist() if native() else [5.0, -1.0]
    [5.0, -1.0]
    """
    library = native()
    if library is None or not texts:
        return np.full(len(texts), -1.0)
    data, lengths = as_lines(texts).encode("utf-8", "surrogatepass"), np.empty(len(texts))
    library.line_lengths(
        pointer(kinds), ctypes.c_int64(len(kinds)), data, ctypes.c_int64(len(data)),
        pointer(lengths),
    )  # fmt: skip
    return lengths
