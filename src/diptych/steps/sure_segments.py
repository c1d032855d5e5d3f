"""Segments to learn words from, of pairs that this process has aligned during the crawl.

A pair that was aligned to verify it need not be aligned again for the lexicon.  Another process
finds the same segments, so the result does not depend on which process has kept them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from heapq import heappop, heappush
from typing import NamedTuple

from diptych.types import PagePair, SegmentPair, Url

MAX_LETTERS = 1_000_000  # of the segments kept: learning reads less than that of most sites


def random_order(pair: PagePair) -> int:
    """A pseudo-random number that is always the same for a pair; low numbers are learned first.

    >>> random_order(PagePair("http://x.org/en", "http://x.org/fr", "en", "fr", 0.9, "keys"))
    11534069093452103980
    """
    return int.from_bytes(blake2b(f"{pair.left}\n{pair.right}".encode(), digest_size=8).digest())


class PairContent(NamedTuple):
    """What the segments of a pair depend on, if no lexicon is used."""

    run: str
    """folder of the run, and the aligners with their parameters"""
    pages: tuple[Url, Url, str, str]
    """URLs and languages"""
    digests: tuple[str, str]


class SureSegments:
    """Segments by pair, for as many pairs as fit, in the order in which they would be learned."""

    def __init__(self, max_letters: int = MAX_LETTERS) -> None:
        self._max_letters = max_letters
        self._letters = 0
        self._found: dict[PairContent, list[SegmentPair]] = {}
        self._last: list[tuple[int, PairContent]] = []

    def keep(self, pair: PagePair, content: PairContent, segments: Sequence[SegmentPair]) -> None:
        """Keep the segments of a pair, and forget other pairs if there are too many letters."""
        if content in self._found:
            return
        self._found[content] = list(segments)
        self._letters += _letters(segments)
        heappush(self._last, (-random_order(pair), content))
        while self._letters > self._max_letters:
            _, last = heappop(self._last)
            self._letters -= _letters(self._found.pop(last))

    def get(self, content: PairContent) -> list[SegmentPair] | None:
        """The segments kept for a pair; None if there are none."""
        return self._found.get(content)

    def clear(self) -> None:
        """Forget all segments."""
        self._found.clear()
        self._last.clear()
        self._letters = 0


def _letters(segments: Sequence[SegmentPair]) -> int:
    return sum(len(each.left) + len(each.right) for each in segments)


SURE_SEGMENTS = SureSegments()
"""what this process has kept"""
