"""Step: align and verify all page pairs, with one transaction per pair.

An interrupted run continues with the pairs that are not aligned yet.  If pages were added in the
meantime, all pairs are aligned again, so that the result is the same as without an interruption.
Only now the titles of all pages are known, from which the name of each site is learned.
"""

from __future__ import annotations

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.protocols import Watcher
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.align_pages import TitleCuts
from diptych.steps.tasks import AlignTask, TaskContext
from diptych.text.titles import title_cuts
from diptych.types import Decision


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
            AlignTask(pair, TitleCuts(cuts.get(pair.left), cuts.get(pair.right)))
            for _, pair in todo
        )
        results = workers.run_tasks(tasks, shared, tick=watcher.tick)
        for (id, _), result in zip(todo, results, strict=True):
            watcher.advance()
            if isinstance(result, Failed):  # the next invocation tries again
                with store.transaction():
                    store.save_decision(id, Decision(False, 0.0, result.reason))
                continue
            decision, segments = result
            with store.transaction():
                store.save_decision(id, decision)
                before, after = store.save_segments(id, segments)
            watcher.pairs += decision.accept
            watcher.segments += after - before
