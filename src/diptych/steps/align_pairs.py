"""Step: align and verify all page pairs, with one transaction for a few pairs.

An interrupted run continues with the pairs that are not aligned yet.  If pages were added in the
meantime, all pairs are aligned again, so that the result is the same as without an interruption.
Only now the titles of all pages are known, from which the name of each site is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from diptych.engine.worker import Failed
from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.run.pairs import SegmentRows, segment_rows
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.align_pages import TitleCuts
from diptych.steps.tasks import AlignTask, TaskContext, align_together
from diptych.text.titles import title_cuts
from diptych.types import Decision, PagePair

if TYPE_CHECKING:
    from diptych.engine.workers import Shared, Workers

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

    def run(self, context: TaskContext) -> list[AlignedRows]:
        """Return the results of `AlignTask` with rows for the store instead of segments."""
        return [
            AlignedRows(decision, segment_rows(segments))
            for decision, segments in align_together(self.tasks, context)
        ]


def align_pairs(store: Store, context: TaskContext, workers: Workers, watcher: Watcher) -> None:
    """Align and verify all pairs that are not aligned yet."""
    counts = Statistics(store)
    watcher.pairs, watcher.segments = counts.aligned_pairs(), counts.kept_segments()
    watcher.begin("aligning", counts.unaligned_pairs(), "page pairs")
    shared = context.shared(store)
    for site, _ in store.sites():
        todo = store.pairs_to_align(site)
        cuts = title_cuts(store.titles(site)) if todo else {}
        lengths = store.pair_lengths(site)
        most = len(todo) // (_MIN_BATCHES * max(workers.count, 1))
        batches = [
            AlignRowsTask(
                tuple(
                    AlignTask(pair, TitleCuts(cuts.get(pair.left), cuts.get(pair.right)))
                    for _, pair in batch
                )
            )
            for batch in _batches(todo, lengths, most)
        ]
        results = _results(batches, workers, shared, watcher)
        _save_all(store, [id for id, _ in todo], results, watcher)


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
            alone = [AlignRowsTask((task,)) for task in batch.tasks]
            yield from _results(alone, workers, shared, watcher)


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
