"""SQL for the segments of a run, to score, export and show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from diptych.reason import Reason
from diptych.run.database import Database, in_transaction
from diptych.run.queries import SQL
from diptych.types import SegmentPair

VIEWS = f"""
CREATE TEMP VIEW sound_segments AS SELECT * FROM segments
    WHERE reason IN ('', '{Reason.LOW_SCORE}', '{Reason.DUPLICATE}');
CREATE TEMP VIEW kept_segments AS SELECT * FROM sound_segments WHERE accept;
"""
"""Sound segments break no rule: only their scores and duplicates decide whether they are kept.
Kept segments are in the corpus.
"""


def reason_at(threshold: float, score: float, reason: str) -> str:
    """The reason why a corpus with this threshold excludes a segment; empty if it does not."""
    if reason in ("", Reason.LOW_SCORE):
        return "" if score >= threshold else Reason.LOW_SCORE
    return reason


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of a run, read pair by pair because all segments may not fit in memory."""

    store: Database

    def to_score(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """The id, own score and keys of each segment of a pair that breaks no rule."""
        return self.store.db.execute(SQL["segments_to_score"], (pair,))

    @in_transaction
    def save_scores(self, rows: Iterable[tuple[float, bool, str, int, int]]) -> None:
        """Save the (score, accept, reason, copies, id) of each segment."""
        self.store.db.executemany(SQL["save_segment_scores"], rows)

    def are_deduplicated(self) -> bool:
        """True if near-duplicates have been marked, which happens at the end of a run."""
        return not self.store.count(SQL["unmarked_duplicates"], Reason.DUPLICATE)

    def chosen(self, pair: int, min_score: float, *, each: bool) -> Iterator[tuple[Any, ...]]:
        """Key, texts, places, scores, flags and copies of each segment with at least this score."""
        values = pair, min_score, None if each else Reason.DUPLICATE
        return self.store.db.execute(SQL["chosen_segments"], values)

    def all_of(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """The texts, places, score and reason of each segment of a pair."""
        return self.store.db.execute(SQL["all_segments"], (pair,))

    def kept_by_pair(self) -> dict[int, int]:
        """The number of kept segments for each pair."""
        query = "SELECT pair, count(*) FROM kept_segments GROUP BY pair"
        return dict(self.store.db.execute(query).fetchall())

    def kept(self, pair: int, place: int) -> SegmentPair:
        """The kept segment at a position among a pair's kept segments, counted from 0."""
        row = self.store.db.execute(SQL["kept_segment"], (pair, place)).fetchone()
        return SegmentPair(*row)
