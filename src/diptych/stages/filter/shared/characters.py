"""Character counts of texts by kind: letters, digits, commas, brackets and so on.

The characters of all texts are counted at once, in a single array of code points.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.characters import KindSets, KindTable, count_kinds
from diptych.kernels.tables import ends_of
from diptych.text.lengths import letter_weights


class Kind(IntEnum):
    """The kind of a character in any script."""

    OTHER = 0
    LOWER = 1
    UPPER = 2
    LETTER = 3
    """letter of a script without upper case"""
    IDEOGRAPH = 4
    SYLLABLE = 5
    """kana or Hangul"""
    MARK = 6
    """combining accent or vowel sign"""
    DIGIT = 7
    SPACE = 8
    STOP = 9
    COMMA = 10
    QUESTION = 11
    EXCLAMATION = 12
    COLON = 13
    BRACKET = 14
    QUOTE = 15
    DASH = 16
    CODE = 17
    """symbol that is frequent in program code, file paths and markup"""
    DAMAGED = 18


LETTERS = (Kind.LOWER, Kind.UPPER, Kind.LETTER, Kind.IDEOGRAPH, Kind.SYLLABLE)  # consecutive
_BY_CHARACTER = {
    Kind.STOP: ".。।。．…۔።",
    Kind.COMMA: ",،、，､;；؛·",
    Kind.QUESTION: "?？؟",
    Kind.EXCLAMATION: "!！",
    Kind.COLON: ":：",
    Kind.BRACKET: "()[]（）［］【】",
    Kind.CODE: "<>{}=\\/_|#$&~^`@*+",
    Kind.QUOTE: "\"'’",
    Kind.DAMAGED: "\ufffd",
}
_TABLE_SIZE = 0x20000  # code points in the table; higher ones are ideographs or `OTHER`
_IDEOGRAPHS = 0x40000
_BLOCKS = {
    Kind.IDEOGRAPH: ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00)),
    Kind.SYLLABLE: (
        (0x1100, 0x1200), (0x3040, 0x3100), (0x3130, 0x3190), (0x31F0, 0x3200), (0xAC00, 0xD7B0),
    ),
}  # fmt: skip
_BY_CATEGORY = {
    "Ll": Kind.LOWER, "Lu": Kind.UPPER, "Lt": Kind.UPPER, "Lm": Kind.LETTER, "Lo": Kind.LETTER,
    "Mn": Kind.MARK, "Mc": Kind.MARK, "Me": Kind.MARK, "Nd": Kind.DIGIT, "Zs": Kind.SPACE,
    "Pi": Kind.QUOTE, "Pf": Kind.QUOTE, "Pd": Kind.DASH, "Ps": Kind.BRACKET, "Pe": Kind.BRACKET,
}  # fmt: skip


class CharacterCounts(NamedTuple):
    """Character counts of several texts, one row per text."""

    kinds: NDArray[np.int64]
    """number of characters of each kind"""
    first: NDArray[np.uint8]
    """kind of the first letter or digit; `OTHER` if there is none"""
    last: NDArray[np.uint8]
    """kind of the last character, not counting quotes and brackets"""
    breaks: NDArray[np.int64]
    """number of full stops, question marks and exclamation marks before a lower-case letter"""
    lengths: NDArray[np.float64]
    """length in letters; the same as `text.lengths.text_length` for clean texts"""

    @property
    def letters(self) -> NDArray[np.int64]:
        """The number of letters in each text."""
        letters: NDArray[np.int64] = self.kinds[:, LETTERS[0] : LETTERS[-1] + 1].sum(axis=1)
        return letters

    @property
    def weight(self) -> NDArray[np.int64]:
        """The number of letters in each text; ideographs and syllabic characters count as three."""
        return self.letters + 2 * (self.kinds[:, Kind.IDEOGRAPH] + self.kinds[:, Kind.SYLLABLE])

    @property
    def visible(self) -> NDArray[np.int64]:
        """The number of characters in each text, not counting spaces."""
        every: NDArray[np.int64] = self.kinds.sum(axis=1)
        return every - self.kinds[:, Kind.SPACE]


def count_characters(texts: Sequence[str]) -> CharacterCounts:
    """Count the characters of each text by kind.

    >>> found = count_characters(["Ein Haus (1956).", ""])
    >>> [int(found.kinds[0, kind]) for kind in (Kind.UPPER, Kind.DIGIT, Kind.BRACKET)]
    [2, 4, 2]
    >>> Kind(found.last[0]).name, found.letters.tolist()
    ('STOP', [7, 0])
    """
    return (_counted if native() is None else _counted_in_c)(texts)


def _counted_in_c(texts: Sequence[str]) -> CharacterCounts:
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    return CharacterCounts(*count_kinds(points, ends_of(sizes), _kind_table()))


@cache
def _kind_table() -> KindTable:
    sets = KindSets(
        len(Kind), Kind.SPACE, Kind.LOWER, _bits((Kind.STOP, Kind.QUESTION, Kind.EXCLAMATION)),
        _bits((*LETTERS, Kind.DIGIT)), _bits(_ENDING_KINDS), Kind.IDEOGRAPH, Kind.OTHER,
    )  # fmt: skip
    weights = letter_weights(np.arange(_TABLE_SIZE + 1, dtype=np.uint32))
    assert weights is not None
    return KindTable(_table(), sets, weights)


def _bits(kinds: Sequence[Kind]) -> int:
    return sum(1 << kind for kind in kinds)


def _counted(texts: Sequence[str]) -> CharacterCounts:
    """Compute `count_characters` in NumPy, as the reference implementation and the fallback."""
    # Every text is followed by a separator, so that no row of the array is empty.
    data = "\n".join([*texts, ""]).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(data, "<u4")
    kind = _kinds(points)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    row = np.repeat(np.arange(len(texts)), sizes)
    width = len(Kind)
    kinds = np.bincount(row * width + kind, minlength=len(texts) * width).reshape(-1, width)
    kinds[:, Kind.SPACE] -= 1  # the separator
    return CharacterCounts(
        kinds,
        _ends(kind, row, len(texts), (*LETTERS, Kind.DIGIT), first=True),
        _ends(kind, row, len(texts), _ENDING_KINDS, first=False),
        _breaks(kind, row, len(texts)),
        _lengths(points, row, sizes - 1),
    )


_ENDING_KINDS = (*LETTERS, Kind.DIGIT, Kind.STOP, Kind.COMMA, Kind.QUESTION, Kind.EXCLAMATION,
            Kind.COLON)  # fmt: skip


def _kinds(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The kind of each code point."""
    table = _table()
    found: NDArray[np.uint8] = table[np.minimum(points, _TABLE_SIZE - 1)]
    if len(points) and points.max() >= _TABLE_SIZE:
        beyond = np.where(points < _IDEOGRAPHS, Kind.IDEOGRAPH, Kind.OTHER).astype(np.uint8)
        found = np.where(points < _TABLE_SIZE, found, beyond)
    return found


def _ends(
    kind: NDArray[np.uint8], row: NDArray[np.int64], count: int, which: Sequence[Kind], *,
    first: bool,
) -> NDArray[np.uint8]:  # fmt: skip
    """For each of `count` texts, the kind of its first or last character of a kind in `which`.

    `kind` and `row` contain the kind of each character and the index of its text.
    """
    is_one = np.zeros(len(Kind), bool)
    is_one[list(which)] = True
    places = np.flatnonzero(is_one[kind])
    found = np.zeros(count, np.uint8)
    if first:
        places = places[::-1]  # later assignments overwrite earlier ones
    found[row[places]] = kind[places]
    return found


def _breaks(kind: NDArray[np.uint8], row: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    is_stop = (kind == Kind.STOP) | (kind == Kind.QUESTION) | (kind == Kind.EXCLAMATION)
    broken = is_stop[:-2] & (kind[1:-1] == Kind.SPACE) & (kind[2:] == Kind.LOWER)
    return np.bincount(row[:-2][broken & (row[:-2] == row[2:])], minlength=count)


def _lengths(
    points: NDArray[np.uint32], row: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    weights = letter_weights(points)
    if weights is None:
        return sizes.astype(np.float64)
    return np.bincount(row, weights, len(sizes)).astype(np.float64) - 1.0  # the separator


@cache
def _table() -> NDArray[np.uint8]:
    by_category = {name: int(kind) for name, kind in _BY_CATEGORY.items()}
    categories = map(unicodedata.category, map(chr, range(_TABLE_SIZE)))
    kinds = bytearray(map(by_category.get, categories, repeat(0)))
    for kind, ranges in _BLOCKS.items():
        for start, end in ranges:
            own = kinds[start:end]
            kinds[start:end] = bytes(kind if each == Kind.LETTER else each for each in own)
    for kind, chars in _BY_CHARACTER.items():
        for char in chars:
            kinds[ord(char)] = kind
    kinds[ord("\n")] = kinds[ord("\t")] = Kind.SPACE
    return np.frombuffer(bytes(kinds), np.uint8)
