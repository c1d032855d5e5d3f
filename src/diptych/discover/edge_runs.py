"""More edges than fit into memory, sorted: runs on disk, merged in one go.

An edge is one number, key << 32 | value, so that sorting numbers sorts edges by key and then by
value.  Memory depends on `RUN` and `MERGE` alone, never on how many edges there are or on how they
are spread over the vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Runs", "turned", "write_lists"]

RUN = 1 << 23  # edges that are sorted at once: 64 MB
MERGE = 1 << 22  # edges of all runs together that are in memory while they are merged
_LEAST = 1 << 12  # edges of a run that are read at once: fewer would be too many reads
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def turned(edges: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same edges with key and value exchanged.

    >>> [hex(edge) for edge in turned(np.array([0x0000000100000002], np.uint64))]
    ['0x200000001']
    """
    return edges << _HALF | edges >> _HALF


class Runs:
    """Sorted runs of edges in one file, which is gone when they are closed."""

    def __init__(self, path: Path, *, run: int = RUN) -> None:
        self._path = path
        self._stream: BinaryIO = path.open("w+b")
        self._room = np.empty(run, np.uint64)
        self._used = 0
        self._bounds: list[tuple[int, int]] = []
        self._end = 0

    def add(self, edges: NDArray[np.uint64]) -> None:
        """Take in some more, in any order."""
        while len(edges):
            count = min(len(edges), len(self._room) - self._used)
            self._room[self._used : self._used + count] = edges[:count]
            self._used += count
            edges = edges[count:]
            if self._used == len(self._room):
                self._write()

    def _write(self) -> None:
        """Sort what is in memory and put it behind the runs that are there."""
        run = self._room[: self._used]
        if not (run[1:] >= run[:-1]).all():
            run.sort()
        self._stream.write(run.data)
        self._bounds.append((self._end, self._end + self._used))
        self._end += self._used
        self._used = 0

    def merged(self, *, merge: int = MERGE) -> Iterator[NDArray[np.uint64]]:
        """All edges in order, each once, in pieces; can be asked for once."""
        if self._used:
            self._write()
        self._room = np.empty(0, np.uint64)
        size = max(merge // max(len(self._bounds), 1), min(_LEAST, merge))
        last = None
        for piece in self._pieces(size):
            piece.sort()
            fresh = np.ones(len(piece), bool)
            np.not_equal(piece[1:], piece[:-1], out=fresh[1:])
            fresh[0] = last is None or piece[0] != last
            last = piece[-1]
            yield piece[fresh]

    def _pieces(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Parts of all runs that come before whatever else is in any run; not empty."""
        places = [start for start, _ in self._bounds]
        buffers = [np.empty(0, np.uint64) for _ in self._bounds]
        live = list(range(len(places)))
        while live:
            for run in live:
                if not len(buffers[run]):
                    end = min(places[run] + size, self._bounds[run][1])
                    buffers[run] = self._read(places[run], end)
                    places[run] = end
            live = [run for run in live if len(buffers[run])]
            # Behind its buffer a run may go on with its last number, or with larger ones.
            ahead = [buffers[run][-1] for run in live if places[run] < self._bounds[run][1]]
            parts = []
            for run in live:
                cut = int(buffers[run].searchsorted(min(ahead), "right")) if ahead else None
                parts.append(buffers[run][:cut])
                buffers[run] = buffers[run][len(parts[-1]) :]
            if live:
                yield np.concatenate(parts)

    def _read(self, start: int, end: int) -> NDArray[np.uint64]:
        self._stream.seek(8 * start)
        return np.frombuffer(self._stream.read(8 * (end - start)), np.uint64)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()
        self._path.unlink(missing_ok=True)


def write_lists(
    pieces: Iterator[NDArray[np.uint64]],
    vertices: int,
    values: BinaryIO,
    offsets: BinaryIO,
    tick: Callable[[int], None],
) -> int:
    """Write sorted edges as lists: all values, and where the list of each key begins; how many."""
    total, begun = 0, 0  # edges written, and keys whose lists have begun
    for edges in pieces:
        keys = (edges >> _HALF).astype(np.int64)
        values.write((edges & _LOW).astype("<u4").data)
        begun = _begin(keys, begun, int(keys[-1]) + 1, total, offsets)
        total += len(edges)
        tick(total)
    _begin(np.empty(0, np.int64), begun, vertices + 1, total, offsets)
    return total


def _begin(keys: NDArray[np.int64], begun: int, until: int, total: int, offsets: BinaryIO) -> int:
    """Write where the lists of keys from `begun` on begin, before that of `until`; the latter."""
    for start in range(begun, until, RUN):
        wanted = np.arange(start, min(start + RUN, until))
        offsets.write((total + keys.searchsorted(wanted)).astype("<i8").data)
    return max(begun, until)
