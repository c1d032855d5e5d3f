"""Numbers for words in C: a table of words that grows, in which each word has one number."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from diptych.kernels import fields_of, native, pointer

_SEED = hash("words") % (1 << 64)  # differs between processes, so no page can plan collisions
_ROOM = 1024  # entries of a new column


class Column:
    """An array that grows."""

    def __init__(self, kind: DTypeLike) -> None:
        self._room: NDArray[Any] = np.zeros(_ROOM, kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Any) -> None:
        """Append values, given as a sequence or an array."""
        self.reserve(len(values))[self._size : self._size + len(values)] = values
        self._size += len(values)

    def reserve(self, count: int) -> NDArray[Any]:
        """Make room for more values; return the array with that room, until it grows again."""
        end = self._size + count
        if end > len(self._room):
            self._room = np.concatenate((self._room, np.zeros(end, self._room.dtype)))
        return self._room

    def resize(self, size: int) -> None:
        """Set the number of values, after some were written to the room for them."""
        self._size = size

    @property
    def values(self) -> NDArray[Any]:
        """The values so far; a view of the array."""
        return self._room[: self._size]


class _CNumbers(ctypes.Structure):
    _fields_ = (
        ("slots", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        *fields_of(ctypes.c_void_p, "text at"),
        ("count", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
    )


class WordNumbers:
    r"""A number for each word, in the order in which words are first read.

    >>> numbers = WordNumbers()
    >>> [each.tolist() for each in numbers.read(b"two cats \n\ncats two dogs \n")]
    [[0, 1, 1, 0, 2], [0, 2, 2, 5]]
    >>> numbers.words
    ['two', 'cats', 'dogs']
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        """the word of each number"""
        self._known: dict[str, int] = {}  # only without the compiled kernels
        self._slots = np.zeros(2 * _ROOM, np.int32)
        self._text, self._at = Column(np.uint8), Column(np.int64)
        self._at.extend([0])

    def __len__(self) -> int:
        return len(self.words)

    def read(self, lines: bytes) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Number the words of lines: a blank after each word, and a newline after each line.

        Return the numbers of all words in order, and their offsets by line.
        """
        library = native()
        if library is None:
            return self._read_in_python(lines)
        most = len(lines) // 2
        numbers, offsets = np.empty(most, np.int32), np.zeros(lines.count(b"\n") + 1, np.int64)
        table = self._with_room(library, len(lines), most)
        library.number_words(
            ctypes.byref(table), lines, ctypes.c_int64(len(lines)), pointer(numbers),
            pointer(offsets[1:]),
        )  # fmt: skip
        if table.count > len(self.words):
            self._add(table.count)
        return numbers[: offsets[-1]], offsets

    def _with_room(self, library: ctypes.CDLL, size: int, most: int) -> _CNumbers:
        """Make room for some words of `size` bytes; return the table for the kernel."""
        count = len(self.words)
        text, at = self._text.reserve(size), self._at.reserve(most)
        is_full = len(self._slots) < 2 * (count + most)
        if is_full:
            self._slots = np.zeros(1 << (2 * (count + most)).bit_length(), np.int32)
        table = _CNumbers(
            pointer(self._slots), len(self._slots), pointer(text), pointer(at), count, _SEED
        )
        if is_full:
            library.place_words(ctypes.byref(table))
        return table

    def _add(self, count: int) -> None:
        """Add the words that the kernel has written, up to the given number of words."""
        begin = len(self._text)
        self._at.resize(count + 1)
        self._text.resize(int(self._at.values[-1]))
        new = self._text.values[begin:].tobytes().decode("utf-8", "surrogatepass")
        self.words += new.split(" ")[:-1]

    def _read_in_python(self, lines: bytes) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The reference implementation of `read`; a table is read by one of the two only."""
        numbers: list[int] = []
        offsets = [0]
        for line in lines.decode("utf-8", "surrogatepass").split("\n")[:-1]:
            for word in filter(None, line.split(" ")[:-1]):
                numbers.append(self._known.setdefault(word, len(self._known)))
            offsets.append(len(numbers))
        self.words += list(self._known)[len(self.words) :]
        return np.array(numbers, np.int32), np.array(offsets, np.int64)
