"""A cache of rows of numbers: what is known of texts, or of pairs of texts, is one array."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_ENTRY = 160  # bytes of an entry apart from its row and its characters: key object, dict slot
_ROOM = 256  # rows of a new table

Key = TypeVar("Key", bound=Hashable)


class RowTable(Generic[Key]):
    """Rows of numbers by key; each row is computed once, and many rows are computed in one call.

    >>> table = RowTable[str](2, 1000)
    >>> lengths = lambda texts: np.array([[len(text), 0.5] for text in texts])
    >>> places = table.places(["one", "three", "one"], lengths)
    >>> places, table.chosen(places).tolist()
    ([0, 1, 0], [[3.0, 0.5], [5.0, 0.5], [3.0, 0.5]])
    """

    def __init__(self, width: int, max_bytes: int) -> None:
        self._width, self._max_bytes = width, max_bytes
        self._places: dict[Key, int] = {}
        self._rows: NDArray[np.float64] = np.empty((_ROOM, width))
        self.bytes = 0
        """estimated size of the entries"""

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_full(self) -> bool:
        """True if the entries take more than the maximum size, so that they must be cleared."""
        return self.bytes > self._max_bytes

    def chosen(self, places: Sequence[int]) -> NDArray[np.float64]:
        """Return a copy of the rows at some places."""
        return self._rows[np.array(places, np.int64)]

    def clear(self) -> None:
        """Remove all entries; places from before are no longer valid."""
        self._places = {}
        self._rows = np.empty((_ROOM, self._width))
        self.bytes = 0

    def places(
        self, keys: Sequence[Key], read: Callable[[list[Key]], NDArray[np.float64]]
    ) -> list[int]:
        """Return the index of each key's row; `read` computes the rows of new keys."""
        known = self._places
        try:
            return [known[key] for key in keys]
        except KeyError:
            new = list(dict.fromkeys([key for key in keys if key not in known]))
        self._add(new, read(new))
        return [known[key] for key in keys]

    def _add(self, keys: Sequence[Key], rows: NDArray[np.float64]) -> None:
        start, end = len(self._places), len(self._places) + len(keys)
        if end > len(self._rows):
            more = np.empty((max(end, 2 * len(self._rows)), self._width))
            more[:start] = self._rows[:start]
            self._rows = more
        self._rows[start:end] = rows
        self._places.update(zip(keys, range(start, end), strict=True))
        self.bytes += len(keys) * (_ENTRY + 8 * self._width)
        self.bytes += sum([2 * len(key) for key in keys if isinstance(key, str)])
