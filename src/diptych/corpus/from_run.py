"""The corpus of a run: segments, n-way rows and documents, read from the store pair by pair."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from posixpath import normpath
from typing import Any, BinaryIO, NamedTuple

from diptych.corpus.files import OutFiles
from diptych.corpus.n_way import Group, groups, joined
from diptych.corpus.parts import parts_of, write_parts
from diptych.corpus.personal_data import redacted
from diptych.errors import ArchiveError
from diptych.protocols import Corpus, Exporter
from diptych.run.segments import Segments, reason_at
from diptych.run.store import Store
from diptych.run.updates import Updates
from diptych.run.vanished import vanished_pairs, vanished_segments
from diptych.stages.export.shared.columns import BatchExporter, Encoding, batches
from diptych.text.near_duplicates import segment_keys
from diptych.text.spans import pieces, rewritten
from diptych.types import Block, Decision, SegmentPair, Url
from diptych.units import DocumentPair, Side, Text, Unit

log = logging.getLogger(__name__)
_PAGES = 16  # pages whose text is cached: with n languages, each is in n - 1 pairs


@dataclass(frozen=True, slots=True)
class Choice:
    """The user's selection from a corpus: the minimum score, excluded flags and redaction."""

    min_score: float
    without: frozenset[str] = frozenset()
    """excluded flags, in full (`machine:google`) or without the part after the colon (`machine`)"""
    redact: bool = False
    """True to replace personal data with placeholders such as [EMAIL]"""
    keep_templates: bool = False
    """True to include all examples of templates"""
    vanished: bool = False
    """True to take the segments that updates no longer found, instead of the others"""

    def takes(self, flags: Sequence[str]) -> bool:
        """True if none of the flags is excluded."""
        return not self.without or not any(
            flag in self.without or flag.partition(":")[0] in self.without for flag in flags
        )

    def redacted(self, unit: Unit, key: int) -> tuple[int, Unit]:
        """Redact the texts of a unit if the user requested this; return the key and the unit.

        The key is computed again if the texts have changed.
        """
        if not self.redact:
            return key, unit
        left, right = (side._replace(text=redacted(side.text)) for side in unit.sides)
        if (left, right) == unit.sides:
            return key, unit
        keys = segment_keys(left.text, right.text, left.lang, right.lang)
        return keys.same, unit._replace(sides=(left, right))


class _PairPage(NamedTuple):
    """The page data that is written with each segment of the page."""

    lang: str
    url: Url
    title: str
    fetched_at: float
    digest: str
    warc: str
    offset: int
    flags: tuple[str, ...]
    archive: int
    seen_at: float

    def side(self, text: str, path: str, at: str) -> Side:
        return Side(
            self.lang, text, self.url, path, at, self.fetched_at, self.digest, self.warc,
            self.offset,
        )  # fmt: skip

    def text(self, blocks: Sequence[Block]) -> Text:
        return Text(
            self.lang, self.url, self.title, tuple(blocks), self.fetched_at, self.digest, self.warc,
            self.offset,
        )  # fmt: skip


class _Pair(NamedTuple):
    left: _PairPage
    right: _PairPage
    evidence: str
    verified: float
    flags: tuple[str, ...]


@dataclass(frozen=True)
class RunCorpus:
    """The corpus of one run; `langs` and `signature` come from the terms of the run."""

    store: Store
    langs: tuple[str, ...]
    signature: str
    choice: Choice
    prefix: str = ""
    """prefix for the names of the run's own archives"""
    each: bool = False
    """True to return near-duplicates as separate units, each with one copy"""

    @cached_property
    def date(self) -> float:
        """The date of segments that no update has dated yet: the time of the last download."""
        return Updates(self.store).date()

    def units(self) -> Iterator[Unit]:
        """All selected segments, in an order that does not depend on the crawl."""
        for _, unit in self.keyed():
            yield unit

    def keyed(self) -> Iterator[tuple[int, Unit]]:
        """All selected segments, each with a key that is the same for near-duplicates."""
        if self.choice.vanished:
            yield from self._vanished()
            return
        left_out = self._left_out() if self.each else frozenset[int]()
        for id in self.store.pair_order():
            pair = self._pair(id)
            if pair is not None:
                yield from self._units(id, pair, left_out, each=self.each)

    def _vanished(self) -> Iterator[tuple[int, Unit]]:
        """The segments that are no longer found, each with its key."""
        for id, *row in vanished_pairs(self.store):
            pair = self._pair_of(row)
            for found in vanished_segments(self.store, id):
                unit = self._unit(pair, found, each=False)
                if unit.score >= self.choice.min_score and self.choice.takes(unit.flags):
                    yield self.choice.redacted(unit, found[0] or 0)

    def is_deduplicated(self) -> bool:
        """True if near-duplicates are marked, which happens at the end of a run."""
        return Segments(self.store).are_deduplicated()

    def grouped(self) -> Iterator[Group]:
        """Yield the segments of each group of pages that are translations of each other.

        Near-duplicates from other pages are included, because they may connect two other segments.
        The surplus examples of templates are listed separately, whatever their scores are.
        """
        ends, left_out = self.store.verified_ends(), self._left_out()
        order = [id for id in self.store.pair_order() if id in ends]
        for group in groups([ends[id] for id in order]):
            units: list[Unit] = []
            surplus: list[Unit] = []
            for id in (order[place] for place in group):
                if pair := self._pair(id):
                    units.extend(unit for _, unit in self._units(id, pair, left_out, each=True))
                    if left_out:
                        surplus.extend(self._surplus(id, pair, left_out))
            yield Group(units, surplus)

    def documents(self) -> Iterator[DocumentPair]:
        """All verified page pairs, with the whole texts of their pages.

        A warning is logged if pages cannot be read; their pairs are left out.
        """
        blocks = lru_cache(maxsize=_PAGES)(self._blocks)
        lost: list[str] = []
        for id in self.store.pair_order():
            pair = self._pair(id)
            if pair is None or not self.choice.takes(pair.flags):
                continue
            try:
                left, right = blocks(pair.left), blocks(pair.right)
            except ArchiveError as error:
                lost.append(str(error))
                continue
            segments = [
                (_segment(pair, row), self._decision(*row[6:]))
                for row in Segments(self.store).all_of(id)
            ]
            found = DocumentPair(
                pair.left.text(left), pair.right.text(right), pair.verified, pair.evidence,
                pair.flags, pieces(left, right, segments), self.signature,
            )  # fmt: skip
            yield rewritten(found, redacted) if self.choice.redact else found
        if lost:
            pairs = "1 page pair is" if len(lost) == 1 else f"{len(lost):,} page pairs are"
            log.warning("%s left out of the documents: %s", pairs, lost[0])

    def _decision(self, score: float, reason: str) -> Decision:
        """Decide whether a segment with this score is included at the selected threshold.

        `reason` is the reason why the run excluded the segment; empty if the run included it.
        """
        reason = reason_at(
            self.choice.min_score, score, reason, keep_templates=self.choice.keep_templates
        )
        return Decision(not reason, score, reason)

    def _blocks(self, page: _PairPage) -> Sequence[Block]:
        """The blocks of a page; those that the run has stored, if its record cannot be read."""
        try:
            response = self.store.archive.read(page.archive, page.offset)
            fault = ArchiveError(f"{page.warc} has no record at byte {page.offset:,}")
        except ArchiveError as error:
            response, fault = None, error
        if response is not None:
            from diptych.page.read import read_content

            return read_content(response)[0]
        content = self.store.content(page.url)
        if content is None:
            raise fault
        return content[0]

    def _pair(self, id: int) -> _Pair | None:
        """The data of a pair; None if it was not verified."""
        row = self.store.verified_pair(id)
        return None if row is None else self._pair_of(row)

    def _pair_of(self, row: Sequence[Any]) -> _Pair:
        left_lang, right_lang, evidence, verified, marks = row[:5]
        left, right = self._page(left_lang, row[5:14]), self._page(right_lang, row[14:])
        flags = tuple(sorted({*marks.split(), *left.flags, *right.flags}))
        return _Pair(left, right, evidence, round(verified, 4), flags)

    def _page(self, lang: str, row: Sequence[Any]) -> _PairPage:
        url, title, fetched_at, digest, warc, offset, flags, archive, seen_at = row
        name = self._archive_name(warc)
        return _PairPage(
            lang, url, title, fetched_at, digest, name, offset, tuple(flags.split()), archive,
            seen_at,
        )  # fmt: skip

    def _archive_name(self, path: str) -> str:
        """The name of an archive; those of the run and of its job are named from other folders."""
        if path.startswith("warc/") or (self.prefix and path.startswith("../")):
            return normpath(f"{self.prefix}{path}")
        return path

    def _left_out(self) -> frozenset[int]:
        """The keys whose near-duplicates are left out too: further examples of templates."""
        if self.choice.keep_templates:
            return frozenset()
        return Segments(self.store).template_keys()

    def _units(
        self, id: int, pair: _Pair, left_out: Container[int], *, each: bool
    ) -> Iterator[tuple[int, Unit]]:
        """The selected segments of a pair, each with its key, without the keys in `left_out`."""
        rows = Segments(self.store).chosen(
            id, self.choice.min_score, each=each, keep_templates=self.choice.keep_templates
        )
        for row in rows:
            if row[0] not in left_out:
                unit = self._unit(pair, row, each=each)
                if self.choice.takes(unit.flags):
                    yield self.choice.redacted(unit, row[0])

    def _surplus(self, id: int, pair: _Pair, left_out: Container[int]) -> Iterator[Unit]:
        """The segments of a pair with the keys in `left_out`, with any score and flags."""
        for row in Segments(self.store).chosen(id, 0.0, each=True, keep_templates=True):
            if row[0] in left_out:
                yield self._unit(pair, row, each=True)

    def _unit(self, pair: _Pair, row: Sequence[Any], *, each: bool) -> Unit:
        _, left, right, left_path, right_path, left_at, right_at, *rest = row
        score, alignment, marks, copies, first_seen = rest
        flags = tuple(sorted({*pair.flags, *marks.split()})) if marks else pair.flags
        sides = (
            pair.left.side(left, left_path, left_at),
            pair.right.side(right, right_path, right_at),
        )
        return Unit(
            sides, score, alignment, pair.verified, pair.evidence, flags,
            1 if each else copies, self.signature, first_seen or self.date,
            min(pair.left.seen_at, pair.right.seen_at),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NWayCorpus:
    """The corpus of a run as rows of three or more languages."""

    run: RunCorpus

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the run."""
        return self.run.langs

    def units(self) -> Iterator[Unit]:
        """The rows of three or more languages, without near-duplicates."""
        seen: set[int] = set()
        for key, unit in joined(self.run.grouped(), self.langs):
            if key not in seen:
                seen.add(key)
                yield unit

    def documents(self) -> Iterator[DocumentPair]:
        """The same page pairs as in the run; documents always have two languages."""
        return self.run.documents()


@dataclass(frozen=True, slots=True)
class SinceCorpus:
    """The part of a corpus that was first found at a time or later."""

    corpus: Corpus
    since: float

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the corpus."""
        return tuple(self.corpus.langs)

    def units(self) -> Iterator[Unit]:
        """The segments that were first found at that time or later."""
        return (unit for unit in self.corpus.units() if unit.first_seen >= self.since)

    def documents(self) -> Iterator[DocumentPair]:
        """All page pairs; documents have no dates."""
        return self.corpus.documents()


class Written(NamedTuple):
    """The result of writing a corpus."""

    lines: int
    files: tuple[Path, ...]
    """files written; empty for standard output"""


def write_corpus(
    corpus: Corpus, made: Exporter, path: Path, standard: BinaryIO | None = None, *,
    max_lines: int | None = None,
) -> Written:  # fmt: skip
    """Write a corpus with the exporter `made`; files appear only when they are complete.

    If the path is `-`, the corpus is written to the stream `standard`.  With `max_lines`, the path
    becomes a folder of files that have at most this number of lines.
    """
    if max_lines is not None:
        return Written(write_parts(corpus, made, path, max_lines), tuple(parts_of(path)))
    with OutFiles(path, made.suffix, standard) as files:
        lines = made.write(corpus, files)
    return Written(lines, () if standard is not None else tuple(files.targets))


def write_together(corpus: Corpus, made: Mapping[Path, BatchExporter]) -> None:
    """Write several files while the corpus is read once; they appear when they are complete."""
    with ExitStack() as stack:
        opened: list[tuple[BinaryIO, Encoding]] = []
        for path, each in made.items():
            out = stack.enter_context(OutFiles(path, each.suffix))(each.suffix)
            opened.append((out, each.encoding(corpus.langs)))
        for out, encoding in opened:
            out.write(encoding.head)
        for batch in batches(corpus.units()):
            for out, encoding in opened:
                out.write(encoding.units(batch))
        for out, encoding in opened:
            out.write(encoding.foot)


def _segment(pair: _Pair, row: Sequence[Any]) -> SegmentPair:
    left, right, left_path, right_path, left_at, right_at, score = row[:7]
    return SegmentPair(
        left, right, pair.left.lang, pair.right.lang, pair.left.url, pair.right.url,
        left_path, right_path, score, left_at, right_at,
    )  # fmt: skip
