"""Crawl a site with Diptych like its command line, without pairing and aligning.

    python -m bench.support.diptych_crawl http://127.0.0.1:9001/ 16

Prints the number of pages and the seconds as JSON.  As for the other programs, the time begins when
everything is imported and ready to fetch, after each worker process has read a page.  With --cold,
the time includes the start of the worker processes, as in the first seconds of a real crawl.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.support.arguments import crawl_arguments
from diptych import recipes
from diptych.engine.fetch import FetchSettings
from diptych.engine.live import LiveEngine
from diptych.engine.reading import ReadTask
from diptych.engine.workers import ALONE, Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.run.store import Store
from diptych.stages.crawl.bfs import Bfs
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise
from diptych.types import Kind, Response, Url

AGENT = "DiptychBot/bench"
PAGE = b"<p>" + b"A page that a worker reads before the clock starts. " * 5


@dataclass(slots=True)
class _Clock(Watcher):
    """A clock that starts when the crawl first checks if it should stop: all is ready then."""

    began: float = 0.0

    def stopped(self) -> bool:
        self.began = self.began or time.perf_counter()
        return False


def warm_up(workers: Workers) -> None:
    """Start all workers, and load their models."""
    page = Response(Url("http://127.0.0.1/"), 200, (("Content-Type", "text/html"),), PAGE, 0.0)
    read = ReadTask(Kind.PAGE, page, 0, ("en", "fr"))
    while len(workers.processes) < workers.count:
        for _ in workers.run_tasks([read] * 100, ALONE, tick=lambda: None):
            pass


def crawl(home: str, connections: int, folder: Path, *, is_cold: bool) -> dict[str, float]:
    """Crawl a site to its end into a run folder, with frontier, WARC, pages and links."""
    seed = normalise(home)
    assert seed is not None
    sites = group([seed])
    polite = Politeness(AGENT, delay=0.0, connections=connections)
    settings = FetchSettings(AGENT, allow_private=True)
    engine = LiveEngine(settings)
    with Store(folder, agent=AGENT) as store, Workers(os.cpu_count() or 1) as workers:
        run = Crawl(
            store, sites, Scope.of(sites), Bfs(), ("en", "fr"),
            politeness=polite, limits=Limits(), now=time.time(),
        )  # fmt: skip
        context = TaskContext(folder, build(recipes.load("bfs", {})), ("en", "fr"))
        clock = _Clock()
        if not is_cold:
            warm_up(workers)
        engine.run(run, GuideAnswers(run, context, workers), workers, clock)
        seconds = time.perf_counter() - clock.began
        return {"pages": run.stats.pages, "downloads": run.stats.downloads, "seconds": seconds}


def main() -> int:
    """Crawl the given site, and print the result."""
    parser = crawl_arguments(__doc__)
    parser.add_argument("--cold", action="store_true", help="count starting the workers too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = crawl(options.home, options.connections, Path(folder), is_cold=options.cold)
    print(json.dumps(done))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
