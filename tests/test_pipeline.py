"""A run from its crawl to its corpus, as whoever watches it sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support import zoo
from support.commands import placeless
from support.runs import LANGS, context, crawled, strategies
from support.serving import serve
from support.watching import Watching

from diptych.engine.fetch import FetchSettings
from diptych.engine.live import LiveEngine
from diptych.engine.workers import Workers
from diptych.errors import StoppedError
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.pipeline import Plan, run
from diptych.protocols import Watcher
from diptych.reports.progress import Monitor, Progress
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.types import Site, Url


@dataclass(slots=True)
class Stages(Watcher):
    """Keeps each stage with the parts that were done, and all, when the next one began."""

    ended: tuple[tuple[str, int, int | None, str], ...] = ()

    def begin(self, stage: str, total: int | None = None, unit: str = "") -> None:
        self.ended += ((self.stage, self.done, self.total, self.unit),)
        Watcher.begin(self, stage, total, unit)


class Offline:
    """Answers nothing: all that is there was fetched before."""

    def run(self, crawl, answers, workers, watcher) -> None:
        """Fetch nothing."""


def test_each_part_of_each_stage_is_counted(recorded: Path, tmp_path: Path) -> None:
    watcher = Stages()
    with crawled(recorded, tmp_path / "run") as store:
        sites = [Site(name, ()) for _, name in store.sites()]
        plan = Plan(sites, Scope.of(sites), LANGS, Politeness(agent="test"), Limits())
        store.db.execute("DELETE FROM sketches")
        run(plan, context(store).strategies, store, Offline(), Workers(0), watcher, 0.0)
        counts = Statistics(store)
        pairs, segments = counts.pairs(), counts.kept_segments()
        assert (watcher.pairs, watcher.segments) == (counts.verified_pairs(), segments)
    watcher.begin("")
    assert all(total in (None, done) for _, done, total, _ in watcher.ended)
    last = {(stage, unit): (done, total) for stage, done, total, unit in watcher.ended}
    scored = last.pop(("scoring", "segments"))
    assert scored[0] == scored[1] > segments
    assert last.pop(("learning words", "page pairs")) == (pairs, pairs)
    assert last.pop(("reading", "pages")) == (41, 41)
    assert last == {
        ("", ""): (0, None),
        ("crawling", ""): (0, None),
        ("pairing", "sites"): (1, 1),
        ("learning words", ""): (0, None),
        ("aligning", "page pairs"): (pairs, pairs),
        ("scoring", ""): (0, None),
        ("scoring", "page pairs"): (pairs, pairs),
        ("writing", "lines"): (2 * segments, 2 * segments),
    }


# -- cancelled -------------------------------------------------------------------------------------


def mined(url: str, folder: Path, watcher: Watcher) -> None:
    """Mine the demo site in this process."""
    sites = group([Url(url)])
    plan = Plan(
        sites, Scope.of(sites), LANGS, Politeness(agent="test/1", delay=0.0), Limits(share=None)
    )
    engine = LiveEngine(FetchSettings(agent="test/1", allow_private=True))
    folder.mkdir(exist_ok=True)
    with Store(folder, agent="test/1") as store, Workers(0) as workers:
        run(plan, strategies(), store, engine, workers, watcher, 0.0)


@pytest.mark.slow
def test_run_that_is_cancelled_at_any_stage_goes_on_later(tmp_path: Path) -> None:
    def cancel_at(stage: str) -> Monitor:
        def report(progress: Progress) -> None:
            if progress.stage == stage:
                monitor.cancel()

        monitor = Monitor(report=report)
        return monitor

    with serve(zoo.demo_site) as server:
        mined(server.url, tmp_path / "whole", Watching())
        crawling = Monitor()
        before = len(server.log)
        server.before = lambda request: len(server.log) != before + 15 or crawling.cancel()
        with pytest.raises(StoppedError, match="Stopped while crawling\\."):
            mined(server.url, tmp_path / "run", crawling)
        assert len(server.log) < before + 20
        for stage in ("pairing", "aligning", "scoring", "writing"):
            with pytest.raises(StoppedError, match=f"Stopped while {stage}\\."):
                mined(server.url, tmp_path / "run", cancel_at(stage))
        mined(server.url, tmp_path / "run", Watching())
    assert placeless(tmp_path / "run", "fetched") == placeless(tmp_path / "whole", "fetched")
