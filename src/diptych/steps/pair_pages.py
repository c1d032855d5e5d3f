"""Step: pair the pages of each site."""

from __future__ import annotations

from collections.abc import Collection

from diptych.engine.limits import SITE_LIMITS
from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.tasks import PairTask, TaskContext
from diptych.types import Site


def pair_pages(
    store: Store,
    context: TaskContext,
    workers: Workers,
    watcher: Watcher,
    only: Collection[int] | None = None,
) -> bool:
    """Pair all pages of each site; the new pairs replace those of an earlier pairing.

    `only` are the ids of the sites to pair, if not all.  Return False if any of them could not be
    paired.
    """
    sites = [(id, name) for id, name in store.sites() if only is None or id in only]
    watcher.begin("pairing", len(sites), "sites")
    tasks = (PairTask(Site(name, ()), id) for id, name in sites)
    results = workers.run_tasks(tasks, context.shared(store), tick=watcher.tick, limits=SITE_LIMITS)
    is_whole = True
    for (id, name), pairs in zip(sites, results, strict=True):
        watcher.advance()
        if isinstance(pairs, Failed):
            is_whole = False
            watcher.notes.append(
                f"{name} could not be paired ({pairs.kind}): earlier pairs are kept"
            )
        else:
            store.replace_pairs(id, pairs)
    return is_whole
