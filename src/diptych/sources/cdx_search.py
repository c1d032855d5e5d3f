"""Find the blocks of a Common Crawl index that list the pages of a site, in a few small requests.

`cluster.idx` has 100 MB and more; it is sorted, so that a binary search reads a dozen parts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from diptych.engine.ranges import Part
from diptych.errors import SourceError
from diptych.run.captures import Block
from diptych.sources.cdx_index import IndexLine, KeyRange, index_line

WINDOW = 1 << 15  # bytes read at a time: about 300 lines
MAX_BLOCKS = 200_000  # blocks of a site; 600 million pages
_CACHED = 64  # parts kept in memory: the first steps of all searches are the same

Read = Callable[[Part], bytes]


@dataclass(slots=True)
class ClusterSearch:
    """Searches `cluster.idx` by key."""

    path: str
    size: int
    read: Read
    """reads a part of a file, or raises `SourceError`"""
    _windows: dict[int, bytes] = field(default_factory=dict)

    def blocks(self, ranges: Sequence[KeyRange]) -> list[Block]:
        """The blocks that may have keys in the ranges, in order and each once."""
        found: dict[Block, None] = {}
        for keys in ranges:
            for block in self._blocks(keys):
                found[block] = None
                if len(found) > MAX_BLOCKS:
                    raise SourceError(f"{self.path} lists too many blocks for one site")
        return list(found)

    def _blocks(self, keys: KeyRange) -> Iterator[Block]:
        """The blocks from the last one that begins before the range to the end of the range.

        A block begins with the first key of its line; the range may begin inside the block before.
        """
        before: IndexLine | None = None
        for line in self._lines(self._last_window(keys.low)):
            if line.key >= keys.high:
                break
            if line.key < keys.low:
                before = line
                continue
            if before is not None:
                yield before.block
                before = None
            yield line.block
        if before is not None:
            yield before.block

    def _last_window(self, low: bytes) -> int:
        """The number of the last window whose first key is before `low`; 0 if there is none."""
        first, behind = 0, max(1, -(-self.size // WINDOW))
        while behind - first > 1:
            middle = (first + behind) // 2
            line = next(self._lines(middle, at_most=1), None)
            if line is not None and line.key < low:
                first = middle
            else:
                behind = middle
        return first

    def _lines(self, number: int, at_most: int | None = None) -> Iterator[IndexLine]:
        """The valid lines from a window on, without the line that begins in the window before.

        `at_most` is a number of windows to begin lines in.
        """
        rest = b""
        is_cut = number > 0  # whether the line begins there is known from the byte before
        start = number
        while number * WINDOW < self.size and (at_most is None or number < start + at_most):
            data = rest + self._window(number)
            lines = data.split(b"\n")
            rest = lines.pop()
            if is_cut and lines:
                del lines[0]
                is_cut = False
            yield from (line for each in lines if (line := index_line(each)))
            number += 1
            if len(rest) > WINDOW:
                raise SourceError(f"{self.path} is not an index: it has a line without end")
        is_last = number * WINDOW >= self.size
        if is_last and rest and not is_cut and (line := index_line(rest)):
            yield line

    def _window(self, number: int) -> bytes:
        if number not in self._windows:
            if len(self._windows) >= _CACHED:
                self._windows.pop(next(iter(self._windows)))
            start = number * WINDOW
            part = Part(self.path, start, min(WINDOW, self.size - start))
            self._windows[number] = self.read(part)
        return self._windows[number]
