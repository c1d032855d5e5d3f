"""Texts without punctuation and numbers in C; `text/near_duplicates.py` is the reference."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, pointer

BEYOND, DROPPED, WORD = 0x110000, 0x110001, 1 << 24
"""entries of the table of characters: those that no table has, those that are dropped; and a flag
for letters and digits"""
_MAX_POINT = 0x10000  # characters of a table have at most three bytes


def skeleton_lines(text: str, table: NDArray[np.uint32]) -> list[str | None]:
    r"""The skeleton of each line of a text; None for a line with a character not in the table.

    `table` has an entry for the first characters of Unicode: a blank, another character, or
    `DROPPED`.  Without the compiled kernel, all lines are None.

    >>> table = np.full(128, 32, np.uint32)
    >>> table[48:58], table[97:123] = WORD | np.arange(48, 58), WORD | np.arange(97, 123)
    >>> skeleton_lines("page 12, 5!\nab3\n中", table) if native() else ["page 0", "ab3", None]
    ['page 0', 'ab3', None]
    """
    library = native()
    if library is None:
        return [None] * (text.count("\n") + 1)
    if len(table) > _MAX_POINT or (table & (WORD - 1)).max(initial=0) > DROPPED:
        raise ValueError("a table has characters of at most three bytes")
    data = text.encode("utf-8", "surrogatepass")
    out = np.empty(2 * len(data) + 2, np.uint8)
    library.skeleton_lines.restype = ctypes.c_int64
    size = library.skeleton_lines(
        pointer(table), ctypes.c_int64(len(table)), data, ctypes.c_int64(len(data)), pointer(out)
    )
    lines = out[:size].tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
    return [None if line == "\0" else line for line in lines]
