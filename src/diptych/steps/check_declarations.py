"""Step: check each site's declarations about its pages against the texts of the pages."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych.engine.limits import SITE_LIMITS
from diptych.engine.worker import Failed
from diptych.page.declarations import (
    Checked,
    canonical_declared,
    hreflang_declared,
    html_lang_declared,
    translations_declared,
)
from diptych.protocols import Watcher
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.stages.pair.shared.site_links import site_links
from diptych.steps.tasks import TaskContext
from diptych.types import Site

if TYPE_CHECKING:
    from diptych.engine.workers import Workers


class CheckTask(NamedTuple):
    """A task that checks a site's declarations about its pages."""

    site: Site
    id: int

    def run(self, context: TaskContext) -> tuple[Checked, ...]:
        """Check the site, and return one result for each kind of declaration that it makes."""
        view = StoreView(context.store, self.site, self.id, context.langs)
        records = view.pages
        links = site_links(view)
        is_alternate = np.array([link.rel == "alternate" for link in links.distinct], np.bool_)
        declared = ((source, links.distinct[at]) for source, at in links.of_kinds(is_alternate))
        alternates = {
            (source, target, link.hreflang)
            for source, link in declared
            if (target := view.resolve(link.url)) is not None
        }
        checked = (
            canonical_declared(view.canonical, view.canonical_holds),
            html_lang_declared(records.values(), context.langs),
            hreflang_declared(records, alternates),
            translations_declared(records, alternates),
        )
        return tuple(each for each in checked if each.checked)


def check_declarations(
    store: Store,
    context: TaskContext,
    workers: Workers,
    watcher: Watcher,
    only: Collection[int] | None = None,
) -> None:
    """Check the declarations of all sites, and save the results for the summary.

    `only` are the ids of the sites to check, if not all.
    """
    sites = [(id, name) for id, name in store.sites() if only is None or id in only]
    watcher.begin("pairing", len(sites), "sites")
    tasks = (CheckTask(Site(name, ()), id) for id, name in sites)
    results = workers.run_tasks(tasks, context.shared(store), tick=watcher.tick, limits=SITE_LIMITS)
    for (id, _), checked in zip(sites, results, strict=True):
        watcher.advance()
        if not isinstance(checked, Failed):  # a failed site is only missing from the summary
            store.save_declarations(id, checked)
