"""SQL for segments of a run: those to score, to export and to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from diptych.reason import Reason
from diptych.run.database import Database, in_transaction
from diptych.run.queries import SQL
from diptych.types import SegmentPair


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of a run, read pair by pair: all of them may be more than memory holds."""

    store: Database

    def to_score(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """Number, score by itself and keys of the segments that break no rule."""
        values = pair, Reason.LOW_SCORE, Reason.DUPLICATE
        return self.store.db.execute(SQL["segments_to_score"], values)

    @in_transaction
    def save_scores(self, rows: Iterable[tuple[float, bool, str, int, int]]) -> None:
        """Save score, decision, reason and copies of segments by their numbers."""
        self.store.db.executemany(SQL["save_segment_scores"], rows)

    def are_deduplicated(self) -> bool:
        """True if near-duplicates are marked, as they are at the end of a run."""
        return not self.store.count(SQL["unmarked_duplicates"], Reason.LOW_SCORE)

    def chosen(self, pair: int, min_score: float, *, each: bool) -> Iterator[tuple[Any, ...]]:
        """Key, texts, places, scores, flags and copies of the segments with at least this score."""
        duplicate = Reason.DUPLICATE if each else ""
        values = pair, Reason.LOW_SCORE, duplicate, min_score
        return self.store.db.execute(SQL["chosen_segments"], values)

    def all_of(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """Texts, places, score and reason of all segments."""
        return self.store.db.execute(SQL["all_segments"], (pair,))

    def kept_by_pair(self) -> dict[int, int]:
        """How many segments of each pair were kept."""
        query = "SELECT pair, count(*) FROM segments WHERE accept GROUP BY pair"
        return dict(self.store.db.execute(query).fetchall())

    def kept(self, pair: int, place: int) -> SegmentPair:
        """The segment of a pair that is at such a place among those that were kept."""
        row = self.store.db.execute(SQL["kept_segment"], (pair, place)).fetchone()
        return SegmentPair(*row)
