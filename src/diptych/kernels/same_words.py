"""Words at corresponding places in C; `stages/verify/shared/places.py` is the reference."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from diptych.kernels import native, pointer
from diptych.kernels.lines import as_lines

_SEED = hash("same") % (1 << 64)  # differs between processes, so no page can plan collisions


class SameWords(NamedTuple):
    """Counts of words in pairs of texts; each distinct word of a text counts once."""

    left: int
    """words of left texts that are expected on both sides: those that both sides have anywhere, and
    numbers of several digits"""
    right: int
    both: int
    """words that are in both texts of a pair"""


def find_same_words(left: Sequence[str], right: Sequence[str]) -> SameWords:
    """Count the words and numbers that are in both texts of pairs.

    >>> find_same_words(["In Paris 1956", "1"], ["Paris en 1957", "2"]) if native() else (2, 2, 1)
    SameWords(left=2, right=2, both=1)
    """
    library = native()
    if library is None:
        raise RuntimeError("words are counted in one call by the compiled kernels only")
    if len(left) != len(right):
        raise ValueError("both sides must have the same number of texts")
    ours, theirs = (
        as_lines(side).lower().encode("utf-8", "surrogatepass") for side in (left, right)
    )
    result = np.zeros(3, np.int64)
    if not library.same_words(
        ours, ctypes.c_int64(len(ours)), theirs, ctypes.c_int64(len(theirs)),
        ctypes.c_int64(len(left)), ctypes.c_uint64(_SEED), pointer(result),
    ):  # fmt: skip
        raise MemoryError
    return SameWords(*result.tolist())
