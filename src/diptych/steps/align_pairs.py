"""Step: align and verify all page pairs, with one transaction for a few pairs.

An interrupted run continues with the pairs that are not aligned yet.  If pages were added in the
meantime, all pairs are aligned again, so that the result is the same as without an interruption.
Only now the titles of all pages are known, from which the name of each site is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.run.pairs import SegmentRows, segment_rows
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.align_pages import TitleCuts
from diptych.steps.tasks import AlignTask, TaskContext
from diptych.text.titles import title_cuts
from diptych.types import Decision

_MAX_PAIRS, _MAX_SEGMENTS = 16, 1000  # saved in one transaction


class AlignedRows(NamedTuple):
    """The decision on a pair, and the rows of its segments."""

    decision: Decision
    rows: SegmentRows


class AlignRowsTask(NamedTuple):
    """A task that aligns two pages, and prepares their segments for the store."""

    task: AlignTask

    def run(self, context: TaskContext) -> AlignedRows:
        """Return the result of `AlignTask` with rows for the store instead of segments."""
        decision, segments = self.task.run(context)
        return AlignedRows(decision, segment_rows(segments))


def align_pairs(store: Store, context: TaskContext, workers: Workers, watcher: Watcher) -> None:
    """Align and verify all pairs that are not aligned yet."""
    counts = Statistics(store)
    watcher.pairs, watcher.segments = counts.aligned_pairs(), counts.kept_segments()
    watcher.begin("aligning", counts.unaligned_pairs(), "page pairs")
    shared = context.shared(store)
    for site, _ in store.sites():
        todo = store.pairs_to_align(site)
        cuts = title_cuts(store.titles(site)) if todo else {}
        tasks = (
            AlignRowsTask(AlignTask(pair, TitleCuts(cuts.get(pair.left), cuts.get(pair.right))))
            for _, pair in todo
        )
        results = workers.run_tasks(tasks, shared, tick=watcher.tick)
        _save_all(store, [id for id, _ in todo], results, watcher)


def _save_all(
    store: Store, ids: Sequence[int], results: Iterator[AlignedRows | Failed], watcher: Watcher
) -> None:
    """Save the results for pairs; if the user stops the run, the finished pairs are kept."""
    pairs = segments = 0
    with store.transaction() as transaction:
        try:
            for id, result in zip(ids, results, strict=True):
                watcher.advance()
                segments += _save(store, id, result, watcher)
                pairs += 1
                if pairs >= _MAX_PAIRS or segments >= _MAX_SEGMENTS:
                    transaction.checkpoint()
                    pairs = segments = 0
        except StoppedError:  # raised between two pairs
            transaction.checkpoint()
            raise


def _save(store: Store, id: int, result: AlignedRows | Failed, watcher: Watcher) -> int:
    """Save the decision on a pair and its segments; return the number of segments."""
    if isinstance(result, Failed):  # the next invocation tries again
        store.save_decision(id, Decision(False, 0.0, result.reason))
        return 0
    decision, rows = result
    store.save_decision(id, decision)
    before, after = store.save_segment_rows(id, rows)
    watcher.pairs += decision.accept
    watcher.segments += after - before
    return len(rows.occurrences)
