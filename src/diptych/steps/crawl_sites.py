"""Step: crawl all sites."""

from __future__ import annotations

from collections.abc import Sequence

from diptych.engine.engine import Engine
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope
from diptych.kernels import return_memory
from diptych.protocols import Watcher
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.types import Site


def crawl_sites(
    store: Store, context: TaskContext, sites: Sequence[Site], scope: Scope, engine: Engine,
    workers: Workers, watcher: Watcher, *, politeness: Politeness, limits: Limits, now: float,
) -> None:  # fmt: skip
    """Start or resume the crawl of all sites; workers answer the questions of its guides."""
    watcher.segments = Statistics(store).kept_segments()
    watcher.begin("crawling")
    crawl = Crawl(
        store, sites, scope, context.strategies.crawl, context.langs,
        politeness=politeness, limits=limits, now=now,
    )  # fmt: skip
    watcher.crawl = crawl
    engine.run(crawl, GuideAnswers(crawl, context, workers), workers, watcher)
    watcher.segments += crawl.stats.segments
    crawl.finish(interrupted=watcher.stopped())
    return_memory()
    watcher.notes.extend(crawl.hosts.notes)
