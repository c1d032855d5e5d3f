"""Merges corpora: each group of near-duplicates becomes one segment with a copy count.

All sources are read twice.  The first pass notes only a key, a score and a count for each segment,
on disk if there are many; the second pass yields the best segment for each key.  The first segment
of a language pair determines which language is on the left in all its segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from diptych.corpus.from_file import read_units
from diptych.corpus.from_run import Choice
from diptych.corpus.key_table import Kept, KeyTable
from diptych.errors import ConfigError, CorpusError
from diptych.text.near_duplicates import segment_keys, text_key
from diptych.units import DocumentPair, Side, Unit

# Larger numbers of copies are reduced to this, so that a million of them can be added.
_MAX_COPIES = 1 << 40


class Source(Protocol):
    """A corpus to merge."""

    def keyed(self) -> Iterator[tuple[int, Unit]]:
        """Yield the units, each with a key that near-duplicates share.

        The order of the units is the same in every call.
        """
        ...

    def documents(self) -> Iterator[DocumentPair]:
        """The page pairs of the corpus."""
        ...


@dataclass(frozen=True, slots=True)
class FileCorpus:
    """A corpus that was exported as JSONL or Parquet."""

    path: Path
    choice: Choice
    prefix: str = ""
    """prefix for the names of the run's own archives, which are relative in the file"""

    def keyed(self) -> Iterator[tuple[int, Unit]]:
        """The selected units of the file, each with its key."""
        for unit in read_units(self.path):
            if unit.score >= self.choice.min_score and self.choice.takes(unit.flags):
                left, right = unit.sides
                key = segment_keys(left.text, right.text, left.lang, right.lang).same
                yield self.choice.redacted(unit._replace(sides=self._placed(unit)), key)

    def _placed(self, unit: Unit) -> tuple[Side, ...]:
        return tuple(
            side._replace(warc=f"{self.prefix}{side.warc}") if side.warc.startswith("warc/")
            else side
            for side in unit.sides
        )  # fmt: skip

    def documents(self) -> Iterator[DocumentPair]:
        """Raise `ConfigError`, because a file of segments contains no documents."""
        raise ConfigError(
            f"{self.path} has segments but no documents: merge the original runs instead"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Several corpora merged into one, without near-duplicates."""

    sources: Sequence[Source]
    langs: tuple[str, ...]
    found: int
    """number of segments in all sources"""
    kept: Kept
    """the keys of all segments, and the numbers of copies of those that are kept"""
    orders: frozenset[tuple[str, str]]
    """language pairs, each in the order in which it first occurs"""

    def units(self) -> Iterator[Unit]:
        """The best segment of each group of near-duplicates, in the order of the sources."""
        rows = self.kept.rows()
        for key, unit in _all(self.sources):
            known, copies = next(rows, (None, 0))
            if key != known:
                raise _changed()
            if copies:
                yield self._turned(unit._replace(copies=copies))
        if next(rows, None) is not None:
            raise _changed()

    def _turned(self, unit: Unit) -> Unit:
        left, right = unit.sides
        is_turned = (left.lang, right.lang) not in self.orders
        return unit._replace(sides=(right, left)) if is_turned else unit

    def documents(self) -> Iterator[DocumentPair]:
        """All page pairs, in the order of the sources, without duplicates."""
        seen: set[int] = set()
        for document in chain.from_iterable(source.documents() for source in self.sources):
            pages = sorted((text.lang, text.url, text.digest) for text in document[:2])
            key = text_key("\n".join(word for page in pages for word in page))
            if key not in seen:
                seen.add(key)
                yield document


def merge(sources: Sequence[Source]) -> Merged:
    """Merge corpora; of each group of near-duplicates, keep the first with the highest score."""
    orders: dict[tuple[str, str], None] = {}
    with KeyTable() as table:
        for key, unit in _all(sources):
            table.add(key, unit.score, min(unit.copies, _MAX_COPIES))
            left, right = unit.sides[0].lang, unit.sides[1].lang
            if (left, right) not in orders and (right, left) not in orders:
                orders[left, right] = None
        kept = table.kept()
    langs = tuple(dict.fromkeys(lang for order in orders for lang in order))
    return Merged(sources, langs, len(table), kept, frozenset(orders))


def _all(sources: Sequence[Source]) -> Iterator[tuple[int, Unit]]:
    return chain.from_iterable(source.keyed() for source in sources)


def _changed() -> CorpusError:
    return CorpusError("a corpus changed while it was being read; merge again")
