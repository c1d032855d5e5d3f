"""Step: pair the pages of each site."""

from __future__ import annotations

from diptych.engine.task_workers import Failed, attempt
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.tasks import PairTask, TaskContext
from diptych.types import Site


def pair_pages(store: Store, context: TaskContext, watcher: Watcher) -> None:
    """Pair all pages of each site; the pairs take the place of those of an earlier pairing."""
    for id, name in store.sites():
        watcher.stage = "pairing"
        watcher.tick()
        pairs = attempt(PairTask(Site(name, ()), id), context.of(store))
        if isinstance(pairs, Failed):
            watcher.notes.append(f"{name} could not be paired ({pairs.kind}): its pairs stay")
        else:
            store.replace_pairs(id, pairs)
