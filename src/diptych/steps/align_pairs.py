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
from dataclasses import dataclass
from typing import NamedTuple

from diptych.engine.worker import Failed
from diptych.engine.workers import Shared, Workers
from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.run.pairs import SegmentRows, segment_rows
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.align_pages import TitleCuts
from diptych.steps.recurring_blocks import Recurring, Seen, recurring, sampled
from diptych.steps.tasks import AlignTask, SampleTask, TaskContext, align_together
from diptych.text.titles import Cut, title_cuts
from diptych.types import Decision, LangPair, PagePair

_MAX_PAIRS, _MAX_SEGMENTS = 16, 1000  # saved in one transaction
# A task aligns several pairs, because judging their segments together saves half of its time.
_MAX_LENGTH = 100_000  # letters of the pages of a task; longer pages gain nothing from it
_MIN_BATCHES = 4  # tasks of a site for each worker, so that all have work until the end


class AlignedRows(NamedTuple):
    """The decision on a pair, and the rows of its segments."""

    decision: Decision
    rows: SegmentRows


class AlignRowsTask(NamedTuple):
    """A task that aligns some page pairs, and prepares their segments for the store."""

    tasks: tuple[AlignTask, ...]
    recurring: Mapping[LangPair, Recurring]
    """the recurring blocks of the site"""

    def run(self, context: TaskContext) -> list[AlignedRows]:
        """Return the results of `AlignTask` with rows for the store instead of segments."""
        return [
            AlignedRows(decision, segment_rows(segments))
            for decision, segments in align_together(self.tasks, context, self.recurring)
        ]


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
    shared = context.shared(store)
    for site, _ in store.sites():
        if todo := dict(store.pairs_to_align(site)):
            cuts = title_cuts(store.titles(site))
            site_pairs = _SitePairs(store, site, todo, cuts, workers, shared, watcher)
            site_pairs.align_rest(site_pairs.align_sample(sampled(store.pairs(site))))


@dataclass(frozen=True, slots=True)
class _SitePairs:
    """Aligns and saves the pairs of a site."""

    store: Store
    site: int
    todo: dict[int, PagePair]
    """the pairs that are not aligned yet, by id"""
    cuts: Mapping[str, Cut]
    """where the name of the site begins or ends in the title of each page"""
    workers: Workers
    shared: Shared[TaskContext]
    watcher: Watcher

    def _task(self, pair: PagePair) -> AlignTask:
        return AlignTask(pair, TitleCuts(self.cuts.get(pair.left), self.cuts.get(pair.right)))

    def align_sample(self, sample: Sequence[tuple[int, PagePair]]) -> dict[LangPair, Recurring]:
        """Align a sample of all pairs, and return the recurring blocks for each language pair."""
        if not sample:
            return {}
        seen: dict[LangPair, list[Seen]] = defaultdict(list)
        tasks = (SampleRowsTask(self._task(pair)) for _, pair in sample)
        results = self.workers.run_tasks(tasks, self.shared, tick=self.watcher.tick)

        def rows() -> Iterator[tuple[int, AlignedRows | Failed]]:
            for (id, pair), result in zip(sample, results, strict=True):
                if not isinstance(result, Failed):
                    seen[pair.langs].append(result[1])
                if self.todo.pop(id, None):
                    yield id, result if isinstance(result, Failed) else result[0]

        _save_all(self.store, rows(), self.watcher)
        return {langs: recurring(each) for langs, each in seen.items()}

    def align_rest(self, known: Mapping[LangPair, Recurring]) -> None:
        """Align all pairs that are left, given the recurring blocks."""
        most = len(self.todo) // (_MIN_BATCHES * max(self.workers.count, 1))
        lengths = self.store.pair_lengths(self.site)
        batches = [
            AlignRowsTask(tuple(self._task(pair) for _, pair in batch), known)
            for batch in _batches([*self.todo.items()], lengths, most)
        ]
        results = _results(batches, self.workers, self.shared, self.watcher)
        _save_all(self.store, zip(self.todo, results, strict=True), self.watcher)


def _batches(
    todo: Sequence[tuple[int, PagePair]], lengths: Mapping[int, int], most: int
) -> Iterator[list[tuple[int, PagePair]]]:
    """Yield pairs in lists of at most `most` pairs, whose texts are not too long."""
    batch: list[tuple[int, PagePair]] = []
    size = 0
    for id, pair in todo:
        length = lengths.get(id, 0)
        if batch and (len(batch) >= min(most, _MAX_PAIRS) or size + length > _MAX_LENGTH):
            yield batch
            batch, size = [], 0
        batch.append((id, pair))
        size += length
    if batch:
        yield batch


def _results(
    batches: Sequence[AlignRowsTask],
    workers: Workers,
    shared: Shared[TaskContext],
    watcher: Watcher,
) -> Iterator[AlignedRows | Failed]:
    """Yield the result of each pair; the pairs of a batch that failed are tried one by one."""
    found = workers.run_tasks(batches, shared, tick=watcher.tick)
    for batch, results in zip(batches, found, strict=True):
        if not isinstance(results, Failed):
            yield from results
        elif len(batch.tasks) == 1:
            yield results
        else:
            alone = [batch._replace(tasks=(task,)) for task in batch.tasks]
            yield from _results(alone, workers, shared, watcher)


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
    return len(rows.occurrences)
