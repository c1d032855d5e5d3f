"""The curve of verified pairs against downloads."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from diptych.run.statistics import Statistics
from diptych.run.store import Store

_TENTHS = tuple(tenth / 10 for tenth in range(1, 11))


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve of verified pairs against downloads.

    `found` lists, for each pair in order, the number of downloads after which the pair was
    complete.

    >>> pairs = Curve(10, (3, 4, 6, 9))
    >>> pairs.at(0.5), pairs.per_pair(0.5)
    (4, 2.0)
    """

    downloads: int = 0
    """downloads of the whole run, including robots.txt, sitemaps, redirects and errors"""
    found: tuple[int, ...] = ()
    """for each pair, the number of downloads after which both pages were fetched; ascending"""

    def at(self, share: float) -> int | None:
        """The number of downloads after which the given share of the pairs was found.

        The result is None if there are no pairs.
        """
        return self.found[self._count(share) - 1] if self.found else None

    def per_pair(self, share: float) -> float | None:
        """The number of downloads per pair until the given share of the pairs was found.

        The result is None if there are no pairs.
        """
        downloads = self.at(share)
        return downloads / self._count(share) if downloads is not None else None

    @property
    def tenths(self) -> list[int]:
        """The numbers of downloads after which 10%, 20% ... 100% of the pairs were found."""
        return [downloads for share in _TENTHS if (downloads := self.at(share)) is not None]

    def _count(self, share: float) -> int:
        """The number of pairs that make up a share of all pairs; at least one."""
        # In floating point, 0.28 of 25 pairs is 7.000000000000001, which must not round up to 8.
        return max(1, ceil(share * len(self.found) - 1e-9))


def curve(store: Store) -> Curve:
    """Compute the current curve of a run."""
    counts = Statistics(store)
    return Curve(counts.downloads(), counts.found_at())
