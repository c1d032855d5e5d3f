"""Step: align and verify all page pairs, with one transaction for a few pairs.

An interrupted run continues with the pairs that are not aligned yet.  If pages were added in the
meantime, all pairs are aligned again, so that the result is the same as without an interruption.
Only now the titles of all pages are known, from which the name of each site is learned.  On a site
with many pairs, some are aligned first, from which its recurring blocks are learned; after an
interruption they are aligned once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.run.pairs import SegmentRow, segment_rows
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.align_pages import TitleCuts
from diptych.steps.recurring_blocks import Recurring, Seen, recurring, sampled
from diptych.steps.tasks import AlignTask, SampleTask, TaskContext
from diptych.text.titles import Cut, title_cuts
from diptych.types import Decision, LangPair, PagePair

_MAX_PAIRS, _MAX_SEGMENTS = 16, 1000  # saved in one transaction


class AlignedRows(NamedTuple):
    """The decision on a pair, and the rows of its segments."""

    decision: Decision
    rows: list[SegmentRow]


class AlignRowsTask(NamedTuple):
    """A task that aligns two pages, and prepares their segments for the store."""

    task: AlignTask

    def run(self, context: TaskContext) -> AlignedRows:
        """Return the result of `AlignTask` with rows for the store instead of segments."""
        decision, segments = self.task.run(context)
        return AlignedRows(decision, segment_rows(segments))


class SampleRowsTask(NamedTuple):
    """A task that does the same as `AlignRowsTask`, and records the pairs of blocks."""

    task: AlignTask

    def run(self, context: TaskContext) -> tuple[AlignedRows, Seen]:
        """Return the result of `SampleTask` with rows for the store instead of segments."""
        (decision, segments), seen = SampleTask(self.task).run(context)
        return AlignedRows(decision, segment_rows(segments)), seen


def align_pairs(store: Store, context: TaskContext, workers: Workers, watcher: Watcher) -> None:
    """Align and verify all pairs that are not aligned yet."""
    counts = Statistics(store)
    watcher.pairs, watcher.segments = counts.aligned_pairs(), counts.kept_segments()
    watcher.begin("aligning", counts.unaligned_pairs(), "page pairs")
    for site, _ in store.sites():
        if todo := dict(store.pairs_to_align(site)):
            site_pairs = _SitePairs(store, todo, title_cuts(store.titles(site)), workers, watcher)
            known = site_pairs.align_sample(sampled(store.pairs(site)), context)
            site_pairs.align_rest(replace(context, recurring=known))


@dataclass(frozen=True, slots=True)
class _SitePairs:
    """Aligns and saves the pairs of a site."""

    store: Store
    todo: dict[int, PagePair]
    """the pairs that are not aligned yet, by id"""
    cuts: Mapping[str, Cut]
    """where the name of the site begins or ends in the title of each page"""
    workers: Workers
    watcher: Watcher

    def _task(self, pair: PagePair) -> AlignTask:
        return AlignTask(pair, TitleCuts(self.cuts.get(pair.left), self.cuts.get(pair.right)))

    def align_sample(
        self, sample: Sequence[tuple[int, PagePair]], context: TaskContext
    ) -> dict[LangPair, Recurring]:
        """Align a sample of all pairs, and return the recurring blocks for each language pair."""
        if not sample:
            return {}
        seen: dict[LangPair, list[Seen]] = defaultdict(list)
        tasks = (SampleRowsTask(self._task(pair)) for _, pair in sample)
        shared, tick = context.shared(self.store), self.watcher.tick
        results = self.workers.run_tasks(tasks, shared, tick=tick)

        def rows() -> Iterator[tuple[int, AlignedRows | Failed]]:
            for (id, pair), result in zip(sample, results, strict=True):
                if not isinstance(result, Failed):
                    seen[pair.langs].append(result[1])
                if self.todo.pop(id, None):
                    yield id, result if isinstance(result, Failed) else result[0]

        _save_all(self.store, rows(), self.watcher)
        return {langs: recurring(each) for langs, each in seen.items()}

    def align_rest(self, context: TaskContext) -> None:
        """Align all pairs that are left."""
        tasks = (AlignRowsTask(self._task(pair)) for pair in self.todo.values())
        shared, tick = context.shared(self.store), self.watcher.tick
        results = self.workers.run_tasks(tasks, shared, tick=tick)
        _save_all(self.store, zip(self.todo, results, strict=True), self.watcher)


def _save_all(
    store: Store, results: Iterable[tuple[int, AlignedRows | Failed]], watcher: Watcher
) -> None:
    """Save the results for pairs; if the user stops the run, the finished pairs are kept."""
    pairs = segments = 0
    with store.transaction() as transaction:
        try:
            for id, result in results:
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
    return len(rows)
