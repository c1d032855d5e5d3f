"""SQL queries to score, export and display the segments of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from diptych.reason import Reason
from diptych.run.database import Database, in_transaction
from diptych.run.queries import SQL
from diptych.types import SegmentPair

LOW_SCORES = (Reason.LOW_SCORE, Reason.PARTIAL)
"""the reasons of segments that a lower threshold would keep"""
VIEWS = f"""
CREATE TEMP VIEW sound_segments AS SELECT * FROM segments
    WHERE reason IN ('', '{Reason.LOW_SCORE}', '{Reason.PARTIAL}', '{Reason.DUPLICATE}',
                     '{Reason.TEMPLATE}');
CREATE TEMP VIEW kept_segments AS SELECT * FROM sound_segments WHERE accept;
"""
"""Sound segments break no rule: they are kept unless their score is low, they are duplicates, or
there are enough other examples of the same template.
Kept segments are in the corpus.
"""


def reason_at(threshold: float, score: float, reason: str, *, keep_templates: bool = False) -> str:
    """The reason why a segment is excluded at this score threshold; empty if it is included.

    `reason` is the stored reason, which depends on the threshold of the run.  Further examples of
    templates are included only if `keep_templates` is True.
    """
    if reason in ("", *LOW_SCORES) or (keep_templates and reason == Reason.TEMPLATE):
        is_partial = reason == Reason.PARTIAL
        return "" if score >= threshold else Reason.PARTIAL if is_partial else Reason.LOW_SCORE
    return reason


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of a run; they are read pair by pair, as they may not all fit in memory."""

    store: Database

    def to_score(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """The id, original score, keys and partiality of a pair's segments that break no rule."""
        return self.store.db.execute(SQL["segments_to_score"], (pair,))

    @in_transaction
    def save_scores(self, rows: Iterable[tuple[float, bool, str, int, int]]) -> None:
        """Update segments with the values in rows of (score, accept, reason, copies, id)."""
        self.store.db.executemany(SQL["save_segment_scores"], rows)

    @in_transaction
    def delete_unused_texts(self) -> None:
        """Delete the texts of pairs that were aligned again, if no segment has them any more."""
        self.store.db.execute(SQL["delete_unused_texts"])

    def are_deduplicated(self) -> bool:
        """True if near-duplicates have been marked, which happens at the end of a run."""
        return not self.store.count(SQL["unmarked_duplicates"], Reason.DUPLICATE)

    def texts(self, ids: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """The site and both texts of each segment with an id in `ids`, in the same order."""
        return self.store.db.execute(SQL["segment_texts"], (orjson.dumps(ids).decode(),))

    def chosen(
        self, pair: int, min_score: float, *, each: bool, keep_templates: bool
    ) -> Iterator[tuple[Any, ...]]:
        """The rows to export for a pair: its segments that score at least `min_score`.

        The columns are key, texts, locations, scores, flags and copies.  Near-duplicates are
        included only if `each` is True, further examples of templates if `keep_templates` is True.
        """
        left_out = None if each else Reason.DUPLICATE, None if keep_templates else Reason.TEMPLATE
        values = pair, min_score, *left_out
        return self.store.db.execute(SQL["chosen_segments"], values)

    def template_keys(self) -> frozenset[int]:
        """The keys of the further examples of templates; their near-duplicates share them."""
        query = "SELECT key FROM segments WHERE reason = ?"
        return frozenset(key for (key,) in self.store.db.execute(query, (Reason.TEMPLATE,)))

    def all_of(self, pair: int) -> Iterator[tuple[Any, ...]]:
        """The texts, locations, score and reason of each segment of a pair."""
        return self.store.db.execute(SQL["all_segments"], (pair,))

    def kept_by_pair(self) -> dict[int, int]:
        """The number of kept segments of each pair, by pair id."""
        query = "SELECT pair, count(*) FROM kept_segments GROUP BY pair"
        return dict(self.store.db.execute(query).fetchall())

    def kept(self, pair: int, place: int) -> SegmentPair:
        """The segment at the zero-based index `place` among the kept segments of a pair."""
        row = self.store.db.execute(SQL["kept_segment"], (pair, place)).fetchone()
        return SegmentPair(*row)
