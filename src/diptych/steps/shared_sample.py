"""The sample of segments from which the words of many runs are learned at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path

import orjson

from diptych.errors import StoreError
from diptych.files import read_file, reading
from diptych.types import LangPair

MAX_LETTERS = 1_000_000  # of both sides of the segments
_MAX_BYTES = 1 << 28  # of the sample of one run


def sample_of(paths: Iterable[Path], langs: LangPair) -> list[tuple[str, str]]:
    """A random sample of the segments in two languages in several files, sorted.

    The sample is the same for the same segments, in whichever files they are.
    """
    kept: list[tuple[int, str, str]] = []
    known: set[int] = set()
    letters = 0
    for left, right in _segments(paths, langs):
        order = -_order(left, right)
        if order in known:
            continue
        known.add(order)
        heappush(kept, (order, left, right))
        letters += len(left) + len(right)
        while letters > MAX_LETTERS:
            last, *texts = heappop(kept)
            known.discard(last)
            letters -= sum(map(len, texts))
    return sorted((left, right) for _, left, right in kept)


def _order(left: str, right: str) -> int:
    """A pseudo-random number that is always the same for a segment; low numbers are kept."""
    data = f"{left}\n{right}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def _segments(paths: Iterable[Path], langs: LangPair) -> Iterator[tuple[str, str]]:
    """The segments in two languages in files that each have those of one run."""
    for path in paths:
        with reading(path, "sample of segments", error=StoreError):
            found = orjson.loads(read_file(path, _MAX_BYTES, error=StoreError))
            pairs = [texts for left, right, texts in found if (left, right) == tuple(langs)]
            segments = [(str(one), str(other)) for texts in pairs for one, other in texts]
        yield from segments
