"""A table of segments in temporary files: finds the best of all near-duplicates in little memory.

Rows are distributed over files by their keys, so that each file holds all rows of a key and can be
searched on its own.  A row takes 48 bytes on disk.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from diptych.corpus.best_copies import best_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUFFERED = 1 << 18  # rows that are kept in memory; a table with fewer rows needs no files
FILES = 64  # 50 million rows in 64 files take 100 MB of memory, one file after the other
_ROW = np.dtype([("row", "<i8"), ("key", "<i8"), ("score", "<f8"), ("copies", "<i8")])


class Kept(NamedTuple):
    """The rows of a table after the search for near-duplicates."""

    keys: NDArray[np.int64]
    """key of each row"""
    copies: NDArray[np.int64]
    """number of near-duplicates of a row that is kept, with itself; 0 for all others"""

    @property
    def distinct(self) -> int:
        """The number of rows that are kept."""
        return int(np.count_nonzero(self.copies))

    def rows(self, size: int = BUFFERED) -> Iterator[tuple[int, int]]:
        """The key and the number of copies of each row; `size` rows are in memory at a time."""
        for start in range(0, len(self.keys), size):
            part = slice(start, start + size)
            yield from zip(self.keys[part].tolist(), self.copies[part].tolist(), strict=True)


class KeyTable:
    """The key, the score and the number of copies of each segment, in the order of `add`.

    >>> with KeyTable() as table:
    ...     for key, score, copies in ((7, 0.5, 1), (3, 0.1, 4), (7, 0.9, 2)):
    ...         table.add(key, score, copies)
    ...     list(table.kept().rows())
    [(7, 0), (3, 4), (7, 3)]
    """

    def __init__(self, buffered: int = BUFFERED) -> None:
        self._buffered = buffered
        self._count = 0
        self._keys, self._scores, self._copies = array("q"), array("d"), array("q")
        """columns of the latest rows"""
        self._files: list[IO[bytes]] = []
        self._open = ExitStack()

    def __enter__(self) -> KeyTable:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __len__(self) -> int:
        return self._count

    def add(self, key: int, score: float, copies: int) -> None:
        """Add a row."""
        self._keys.append(key)
        self._scores.append(score)
        self._copies.append(copies)
        self._count += 1
        if len(self._keys) >= self._buffered:
            self._write()

    def kept(self) -> Kept:
        """For each key, keep the first row with the highest score, and count all copies."""
        if self._files:
            self._write()
        keys, copies = _column(self._count), _column(self._count)
        for rows in self._parts():
            keys[rows["row"]] = rows["key"]
            best = best_of(rows["key"], rows["score"], rows["copies"])
            copies[rows["row"][best.rows]] = best.copies
        return Kept(keys, copies)

    def _write(self) -> None:
        """Move the rows in memory to the files."""
        if not self._files:
            for _ in range(FILES):
                file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the table
                self._files.append(self._open.enter_context(file))
        rows = self._latest()
        self._keys, self._scores, self._copies = array("q"), array("d"), array("q")
        places = rows["key"] % FILES
        for place, own in enumerate(self._files):
            own.write(rows[places == place].tobytes())

    def _latest(self) -> NDArray[Any]:
        """The rows in memory."""
        rows = np.empty(len(self._keys), _ROW)
        rows["row"] = np.arange(self._count - len(rows), self._count)
        rows["key"], rows["score"], rows["copies"] = self._keys, self._scores, self._copies
        return rows

    def _parts(self) -> Iterator[NDArray[Any]]:
        """The rows in memory, or those of each file; rows with the same key are in one part."""
        if not self._files:
            yield self._latest()
        for file in self._files:
            file.flush()
            file.seek(0)
            yield np.fromfile(file, _ROW)


def _column(count: int) -> NDArray[np.int64]:
    """A column of zeros, in a temporary file if it is long."""
    if count <= BUFFERED:
        return np.zeros(count, np.int64)
    with tempfile.TemporaryFile() as file:  # the mapping keeps it
        return np.memmap(file, np.int64, "w+", shape=(count,))
