"""Step: align and verify all page pairs, with one transaction for a few pairs.

An interrupted run continues with the pairs that are not aligned yet.  If pages were added in the
meantime, all pairs are aligned again, so that the result is the same as without an interruption.
Only now the titles of all pages are known, from which the name of each site is learned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from diptych.engine.worker import Failed
from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.run.pairs import SegmentRows, UnalignedPair, segment_rows
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.tasks import AlignTask, TaskContext, align_together
from diptych.types import Decision

if TYPE_CHECKING:
    from diptych.engine.workers import Shared, Workers

_MAX_PAIRS, _MAX_SEGMENTS = 16, 1000  # saved in one transaction
# A task aligns several pairs, because judging their segments together saves half of its time.
_MAX_LENGTH = 100_000  # letters of the pages of a task; longer pages gain nothing from it
_MIN_BATCHES = 4  # tasks for each worker, so that all have work until the end


class AlignedRows(NamedTuple):
    """The decision on a pair, and the rows of its segments."""

    decision: Decision
    rows: SegmentRows


class AlignRowsTask(NamedTuple):
    """A task that aligns some page pairs, and prepares their segments for the store."""

    tasks: tuple[AlignTask, ...]

    @property
    def is_batch(self) -> bool:
        """True if there are several pairs; each is aligned alone if the task fails."""
        return len(self.tasks) > 1

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
    total = counts.unaligned_pairs()
    watcher.begin("aligning", total, "page pairs")
    most = total // (_MIN_BATCHES * max(workers.count, 1))
    batches = _batches(store.pairs_to_align(), most)
    _save_all(store, _results(batches, workers, context.shared(store), watcher), watcher)


def _batches(todo: Iterable[UnalignedPair], most: int) -> Iterator[list[UnalignedPair]]:
    """Yield pairs in lists of at most `most` pairs, whose texts are not too long."""
    batch: list[UnalignedPair] = []
    size = 0
    for each in todo:
        if batch and (len(batch) >= min(most, _MAX_PAIRS) or size + each.length > _MAX_LENGTH):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += each.length
    if batch:
        yield batch


def _results(
    batches: Iterable[list[UnalignedPair]],
    workers: Workers,
    shared: Shared[TaskContext],
    watcher: Watcher,
) -> Iterator[tuple[int, AlignedRows | Failed]]:
    """Yield the id and result of each pair; the pairs of a batch that failed are tried one by one.

    All batches go through the workers in one stream, so that no worker waits at the end of a site.
    """
    begun: deque[list[UnalignedPair]] = deque()

    def tasks() -> Iterator[AlignRowsTask]:
        for batch in batches:
            begun.append(batch)
            yield AlignRowsTask(tuple(AlignTask(each.pair, each.site) for each in batch))

    for found in workers.run_tasks(tasks(), shared, tick=watcher.tick):
        batch = begun.popleft()
        if not isinstance(found, Failed):
            yield from zip([each.id for each in batch], found, strict=True)
        elif len(batch) == 1:
            yield batch[0].id, found
        else:
            yield from _results([[each] for each in batch], workers, shared, watcher)


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
