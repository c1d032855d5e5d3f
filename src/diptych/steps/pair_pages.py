"""Step: pair the pages of each site."""

from __future__ import annotations

from diptych.protocols import Watcher
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.steps.tasks import TaskContext
from diptych.types import Site


def pair_pages(store: Store, context: TaskContext, watcher: Watcher) -> None:
    """Pair all pages of each site; the pairs take the place of those of an earlier pairing."""
    for id, name in store.sites():
        watcher.stage = "pairing"
        watcher.tick()
        view = StoreView(store, Site(name, ()), id, context.langs, context.lexicons)
        store.replace_pairs(id, context.strategies.pair.pair(view))
