"""Counts of many items in little memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

Item = TypeVar("Item")


class BoundedCounter(Counter[Item]):
    """A counter that forgets its rarest items whenever it holds too many.

    The counts of frequent items are at most a little too low (lossy counting, Manku & Motwani
    2002).
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def add(self, items: Iterable[Item] | Mapping[Item, int]) -> None:
        """Count each of the items once, or as often as a mapping says.

        >>> counts = BoundedCounter(2)
        >>> counts.add("abbc")
        >>> dict(counts)
        {'b': 2}
        """
        self.update(items)
        # Half of the items are forgotten at least, or the next few would need another search.
        rare, most = 1, self.limit // 2 if len(self) > self.limit else self.limit
        while len(self) > most:
            for item in [item for item, count in self.items() if count <= rare]:
                del self[item]
            rare *= 2
