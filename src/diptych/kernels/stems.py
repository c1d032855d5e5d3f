"""Stems of the words in plain texts in C; `text.tokens` and `text.cognates` are the reference."""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

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


_SEED = hash("stems") % (1 << 64)  # differs between processes, so no page can plan collisions


def stem_lines(folded: str, rules: Rules) -> bytes:
    r"""The stems of a case-folded text in lines: a blank after each, and a newline after a line.

    A line that is not plain is a zero; without the compiled kernel, all lines are.

    >>> classes = np.zeros(128, np.uint8)
    >>> classes[97:123] = Class.PLAIN | Class.LETTER
    >>> classes[32] = Class.PLAIN
    >>> rules = Rules(classes, letters=5, longest=60)
    >>> stem_lines("a mountain\n3 cats", rules) if native() else b"a mount \n\0\n"
    b'a mount \n\x00\n'
    """
    library = native()
    if library is None:
        return b"\0\n" * (folded.count("\n") + 1)
    data = folded.encode("utf-8", "surrogatepass")
    out = np.empty(2 * len(data) + 2, np.uint8)
    library.plain_stems.restype = ctypes.c_int64
    size = library.plain_stems(
        ctypes.byref(rules.in_c), data, ctypes.c_int64(len(data)), pointer(out)
    )
    return out[:size].tobytes()


class CountedStems(NamedTuple):
    """The distinct stems of lines in the order in which they first occur, and where they occur."""

    stems: list[str]
    counts: list[int]
    numbers: list[int]
    """those of all stems in order"""
    ends: list[int]
    """for each line, the number of stems up to its end"""


def count_stems(lines: bytes) -> CountedStems:
    r"""Count the stems in lines that `stem_lines` returns; all lines must have been plain.

    >>> count_stems(b"two cats \ncats \n")
    CountedStems(stems=['two', 'cats'], counts=[1, 2], numbers=[0, 1, 1], ends=[2, 3])
    """
    library = native()
    if library is None or len(lines) >= 1 << 31:
        return count_stems_reference(lines)
    count, most = lines.count(b"\n"), len(lines) // 2
    result = np.empty(1 + count + 2 * most, np.int32)
    distinct = np.empty(len(lines) + 1, np.uint8)
    library.count_words.restype = ctypes.c_int64
    size = library.count_words(
        lines, ctypes.c_int64(len(lines)), ctypes.c_int64(count), ctypes.c_uint64(_SEED),
        pointer(distinct), pointer(result),
    )  # fmt: skip
    if size < 0:
        raise MemoryError
    written, *ends = result[: 1 + count].tolist()
    read = ends[-1] if ends else 0
    stems = distinct[:written].tobytes().decode("utf-8", "surrogatepass")
    return CountedStems(
        stems.split(" ")[:-1],
        result[1 + count + most :][:size].tolist(),
        result[1 + count :][:read].tolist(),
        ends,
    )


def count_stems_reference(lines: bytes) -> CountedStems:
    """The same as `count_stems`, in Python."""
    numbers: list[int] = []
    ends: list[int] = []
    place: dict[str, int] = {}
    for line in lines.decode("utf-8", "surrogatepass").split("\n")[:-1]:
        stems = filter(None, line.split(" ")[:-1])
        numbers += [place.setdefault(stem, len(place)) for stem in stems]
        ends.append(len(numbers))
    counts = Counter(numbers)
    return CountedStems(list(place), [counts[k] for k in range(len(place))], numbers, ends)
