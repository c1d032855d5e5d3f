"""One crawl policy on one site, replayed to its end without network access."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.sites.engine import BuiltSite, Readings, SiteEngine
from diptych import recipes
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext

OWN_RECIPES = {"pplocator": "pplocator", "parallel_links": "dom"}
"""policies that use a pairer or verifier, and the recipes with those of their papers"""


class Finished(NamedTuple):
    """A finished crawl whose run is still open."""

    crawl: Crawl
    engine: SiteEngine
    context: TaskContext

    @property
    def store(self) -> Store:
        """The store of the run."""
        return self.crawl.store


@contextmanager
def policy_crawl(
    site: BuiltSite,
    langs: tuple[str, ...],
    policy: str,
    readings: Readings,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
) -> Iterator[Finished]:
    """Crawl a site from its home page to the end; its run is removed at the end of the context."""
    strategies = build(recipes.load(OWN_RECIPES.get(policy, recipes.DEFAULT), {"crawl": policy}))
    seeds = group([site.home], kind="site")
    polite = Politeness(agent="bench", delay=0.0, connections=1)
    engine = SiteEngine(site, readings)
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder), agent="bench") as store,
    ):
        crawl = Crawl(
            store, seeds, Scope.of(seeds, kind="site"), strategies.crawl, langs,
            politeness=polite, limits=limits, now=0.0,
        )  # fmt: skip
        context = TaskContext(store.folder, strategies, langs)
        here = Workers(0)
        engine.run(crawl, GuideAnswers(crawl, context, here), here, Watcher())
        yield Finished(crawl, engine, context)
