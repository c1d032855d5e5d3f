"""Stems of the words in plain texts in C; `text.tokens` and `text.cognates` are the reference."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer


class Class(IntEnum):
    """Classes of characters; a plain text has only plain ones."""

    PLAIN = 1
    LETTER = 2
    DIGIT = 4
    JOINER = 8
    """is part of a word if it is between two letters"""
    COLON = 16
    """if it is between two letters, the text is not plain"""
    POINT = 32
    """if it is between two digits, it is part of a word"""
    BLANK = 64
    """if it is between a digit and three digits, the text is not plain"""
    SEPARATOR = 128
    """is part of a number if it is between two digits"""


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules by which words are found and stemmed."""

    classes: NDArray[np.uint8]
    """those of the first characters of Unicode"""
    letters: int
    """length of a stem"""
    longest: int
    """length of a word that begins with a digit; it is not stemmed further"""

    @cached_property
    def in_c(self) -> _CRules:
        """The rules as a C structure."""
        return _CRules(pointer(self.classes), len(self.classes), self.letters, self.longest)


class _CRules(ctypes.Structure):
    _fields_ = (("classes", ctypes.c_void_p), *fields_of(ctypes.c_int64, "size letters longest"))


def plain_stems(folded: str, rules: Rules) -> Sequence[list[str] | None]:
    r"""The stems of each line of a case-folded text; None for a line that is not plain.

    Without the compiled kernel, it is None for all lines.

    >>> classes = np.zeros(128, np.uint8)
    >>> classes[97:123] = Class.PLAIN | Class.LETTER
    >>> classes[32] = Class.PLAIN
    >>> rules = Rules(classes, letters=5, longest=60)
    >>> plain_stems("a mountain\n3 cats", rules) if native() else [["a", "mount"], None]
    [['a', 'mount'], None]
    """
    library = native()
    if library is None:
        return [None] * (folded.count("\n") + 1)
    data = folded.encode("utf-8", "surrogatepass")
    out = ctypes.create_string_buffer(2 * len(data) + 2)
    library.plain_stems.restype = ctypes.c_int64
    size = library.plain_stems(ctypes.byref(rules.in_c), data, ctypes.c_int64(len(data)), out)
    lines = ctypes.string_at(out, size)[:-1].decode("utf-8").split("\n")
    return [None if line == "\0" else line.split(" ")[:-1] for line in lines]
