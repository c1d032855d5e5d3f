"""External merge sort for the edges of a web graph, and compact files of offsets.

An edge is a single number, `key << 32 | value`.  Sorting the numbers therefore sorts the edges by
key and then by value.  Memory usage depends only on `RUN` and `MERGE`, not on the number of edges
or their distribution over the vertices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

RUN = 1 << 23  # edges sorted at once: 64 MB
MERGE = 1 << 22  # edges of all runs that are in memory during a merge
_MIN_READ = 1 << 12  # edges of a run read at once: fewer would mean too many reads
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_WORD = 32  # bits of an offset that are written for each vertex


@dataclass(slots=True)
class OffsetWriter:
    """Writes ascending offsets in 4 bytes each, even if they need more than 32 bits.

    The file contains the low 32 bits of each offset; `turns` lists the few positions at which the
    high bits increase.
    """

    stream: BinaryIO
    turns: list[int] = field(default_factory=list)
    _count: int = 0

    def add(self, offsets: NDArray[np.int64]) -> None:
        """Append offsets."""
        for high in range(len(self.turns) + 1, (int(offsets[-1]) >> _WORD) + 1):
            self.turns.append(self._count + int(offsets.searchsorted(high << _WORD)))
        self.stream.write((offsets & ((1 << _WORD) - 1)).astype("<u4").data)
        self._count += len(offsets)


@dataclass(frozen=True, slots=True)
class Offsets:
    """The offset of each vertex's list in a file, as written by `OffsetWriter`."""

    low: NDArray[np.uint32]
    turns: Sequence[int]

    def bounds(self, vertex: int) -> tuple[int, int]:
        """The start and end offsets of a vertex's list.

        >>> Offsets(np.array([7, 4294967295, 5], np.uint32), [2]).bounds(1)
        (4294967295, 4294967301)
        """
        start, end = self.low[vertex : vertex + 2].tolist()
        if self.turns:
            start += bisect_right(self.turns, vertex) << _WORD
            end += bisect_right(self.turns, vertex + 1) << _WORD
        return start, end

    def starts(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The start offsets of the lists of several vertices."""
        found: NDArray[np.int64] = self.low[vertices].astype(np.int64)
        if self.turns:
            found += np.searchsorted(self.turns, vertices, "right") << _WORD
        return found

    def lengths(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lengths of the lists of several vertices."""
        return self.starts(vertices + 1) - self.starts(vertices)


def reversed_edges(edges: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The edges with their keys and values swapped.

    >>> [hex(edge) for edge in reversed_edges(np.array([0x0000000100000002], np.uint64))]
    ['0x200000001']
    """
    return edges << _HALF | edges >> _HALF


class Runs:
    """Sorted runs of edges in a temporary file; `close` deletes the file."""

    def __init__(self, path: Path, *, run: int = RUN) -> None:
        self._path = path
        self._stream: BinaryIO = path.open("w+b")
        self._room = np.empty(run, np.uint64)
        self._used = 0
        self._bounds: list[tuple[int, int]] = []
        self._end = 0

    def add(self, edges: NDArray[np.uint64]) -> None:
        """Add edges, in any order."""
        while len(edges):
            count = min(len(edges), len(self._room) - self._used)
            self._room[self._used : self._used + count] = edges[:count]
            self._used += count
            edges = edges[count:]
            if self._used == len(self._room):
                self._write()

    def _write(self) -> None:
        """Sort the edges in memory, and append them to the file as a run."""
        run = self._room[: self._used]
        if not (run[1:] >= run[:-1]).all():
            run.sort()
        self._stream.write(run.data)
        self._bounds.append((self._end, self._end + self._used))
        self._end += self._used
        self._used = 0

    def merged(self, *, merge: int = MERGE) -> Iterator[NDArray[np.uint64]]:
        """Yield all edges in ascending order without duplicates, in blocks; call this only once.

        `merge` is the number of edges to keep in memory at a time.
        """
        if self._used:
            self._write()
        self._room = np.empty(0, np.uint64)
        size = max(merge // max(len(self._bounds), 1), min(_MIN_READ, merge))
        last = None
        for piece in self._pieces(size):
            piece.sort()
            fresh = np.ones(len(piece), bool)
            np.not_equal(piece[1:], piece[:-1], out=fresh[1:])
            fresh[0] = last is None or piece[0] != last
            last = piece[-1]
            yield piece[fresh]

    def _pieces(self, size: int) -> Iterator[NDArray[np.uint64]]:
        """Yield all edges in unsorted blocks; no edge is smaller than any edge in an earlier block.

        `size` is the number of edges read from a run at a time.
        """
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
            # After its buffer, a run may continue with its last number, or with larger ones.
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
        """Close and delete the file."""
        self._stream.close()
        self._path.unlink(missing_ok=True)


def write_lists(
    pieces: Iterator[NDArray[np.uint64]],
    vertices: int,
    values: BinaryIO,
    offsets: OffsetWriter,
    tick: Callable[[int], None],
) -> int:
    """Write sorted edges as one list of values per key, and the offset of each list.

    `pieces` are blocks of sorted edges, and `vertices` is the number of keys.  The lists are
    written to `values`, and their offsets to `offsets`.  `tick` is called with the number of edges
    written so far.  Return the number of edges.
    """
    total, begun = 0, 0  # edges written, and keys whose lists have begun
    for edges in pieces:
        keys = (edges >> _HALF).astype(np.int64)
        values.write((edges & _LOW).astype("<u4").data)
        begun = _begin(keys, begun, int(keys[-1]) + 1, total, offsets)
        total += len(edges)
        tick(total)
    _begin(np.empty(0, np.int64), begun, vertices + 1, total, offsets)
    return total


def _begin(
    keys: NDArray[np.int64], begun: int, until: int, total: int, offsets: OffsetWriter
) -> int:
    """Write the offsets of the lists for the keys from `begun` up to but not including `until`.

    `keys` are the keys of the latest block of edges, and `total` is the number of edges before it.
    Return the first key whose offset has not been written.
    """
    for start in range(begun, until, RUN):
        wanted = np.arange(start, min(start + RUN, until))
        offsets.add(total + keys.searchsorted(wanted))
    return max(begun, until)
