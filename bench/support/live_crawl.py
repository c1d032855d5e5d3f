"""Crawl served sites with Diptych like its command line, and answer the questions of guides.

    python -m bench.support.live_crawl HOME... --policy hybrid --delay 0.2

Prints one JSON object: counts, seconds, CPU time, memory, and delays of the event loop.  It does
nothing after the crawl.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread, get_ident
from typing import Any

from bench.support.processes import give_up, last_line
from diptych import recipes
from diptych.engine.fetch import FetchSettings
from diptych.engine.live import LiveEngine
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise

AGENT = "DiptychBot/bench"
LANGS = ("en", "fr")
NAP = 0.005  # seconds between two looks at whether the loop is on time
LATE = 0.05  # seconds that the event loop may be held up
TIMEOUT = 3600  # seconds


@dataclass(slots=True)
class Lateness:
    """How late a repeatedly sleeping coroutine wakes up, and what the loop did meanwhile.

    On a busy machine, the coroutine is also late; the CPU time of the thread shows the difference.
    """

    late: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    since: list[float] = field(default_factory=list)
    places: dict[float, Counter[str]] = field(default_factory=dict)
    """where the loop was, by the last time at which it was punctual"""
    _woke: float = 0.0
    _task: asyncio.Task[None] | None = None

    def start(self, *, blame: bool) -> None:
        """Begin measuring, in the running event loop."""
        if self._task is None:
            self._woke = time.perf_counter()
            self._task = asyncio.get_running_loop().create_task(self._watch())
            if blame:
                Thread(target=self._blame, args=(get_ident(),), daemon=True).start()

    async def _watch(self) -> None:
        while True:
            worked = time.thread_time()
            await asyncio.sleep(NAP)
            now = time.perf_counter()
            self.late.append(max(0.0, now - self._woke - NAP))
            self.worked.append(time.thread_time() - worked)
            self.since.append(self._woke)
            self._woke = now

    def _blame(self, thread: int) -> None:
        """From another thread, record where the loop is whenever it is late."""
        pause = Event()
        while not pause.wait(NAP):
            if time.perf_counter() - self._woke > LATE / 2:
                stack = traceback.extract_stack(sys._current_frames()[thread])
                own = [frame for frame in stack if "diptych" in frame.filename][-4:]
                places = (f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in own)
                self.places.setdefault(self._woke, Counter())[" > ".join(places)] += 1

    def blamed(self) -> list[str]:
        """Where the loop was when it was blocked longest."""
        worst = sorted(zip(self.worked, self.since, strict=True), reverse=True)[:20]
        return [
            f"{1000 * worked:.0f} ms: "
            + "; ".join(f"{n} {place}" for place, n in self.places[since].most_common(3))
            for worked, since in worst
            if since in self.places
        ]

    def figures(self) -> dict[str, Any]:
        """The longest and the typical delay, in milliseconds."""
        found: dict[str, Any] = {"looks": len(self.late)}
        for name, values in (("late", self.late), ("worked", self.worked)):
            ordered = sorted(values) or [0.0]
            for share, word in ((0.5, "median"), (0.99, "99%"), (0.999, "99.9%"), (1.0, "max")):
                place = min(len(ordered) - 1, int(share * len(ordered)))
                found[f"{name} {word}"] = round(1000 * ordered[place], 1)
        found["over"] = sum(value > LATE for value in self.late)
        return found


@dataclass(slots=True)
class InFlight(Watcher):
    """Counts the mean number of simultaneous fetches; starts the clock when everything is ready."""

    lateness: Lateness = field(default_factory=Lateness)
    blame: bool = False
    began: tuple[float, float] = (0.0, 0.0)
    seconds: float = 0.0
    fetch_seconds: float = 0.0
    """total seconds of all fetches"""
    most: int = 0
    _at: float = 0.0
    _count: int = 0

    def stopped(self) -> bool:
        """Called before each step, for the first time when everything is ready."""
        if not self.began[0]:
            self.began = time.perf_counter(), _processor_seconds()
        self.lateness.start(blame=self.blame)
        return False

    def tick(self) -> None:
        """Count the fetches in progress."""
        assert self.crawl is not None
        now = time.perf_counter()
        if self._at:
            self.fetch_seconds += self._count * (now - self._at)
            self.seconds += now - self._at
        self._at, self._count = now, self.crawl.frontier.active
        self.most = max(self.most, self._count)


def crawl(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Crawl sites to their end into a run folder."""
    seeds = [url for home in options.homes if (url := normalise(home)) is not None]
    sites = group(seeds, kind="host")
    recipe = recipes.load("hybrid", {})
    recipe["crawl"] = {"use": options.policy}
    strategies = build(recipe)
    settings = FetchSettings(AGENT, allow_private=True, concurrency=options.concurrency)
    polite = Politeness(AGENT, delay=options.delay, connections=options.connections)
    limits = Limits(max_pages=options.max_pages, patience=options.patience or None)
    lateness = Lateness()
    with Store(folder, agent=AGENT) as store, Workers(os.cpu_count() or 1) as workers:
        run = Crawl(
            store, sites, Scope.of(sites, kind="host"), strategies.crawl, LANGS,
            politeness=polite, limits=limits, now=time.time(),
        )  # fmt: skip
        flight = InFlight(crawl=run, lateness=lateness, blame=options.blame)
        engine = LiveEngine(settings)
        context = TaskContext(folder, strategies, LANGS)
        engine.run(run, GuideAnswers(run, context, workers), workers, flight)
        started, used = flight.began
        found = _figures(run, time.perf_counter() - started, _processor_seconds() - used)
    found |= {
        "in flight": round(flight.fetch_seconds / max(flight.seconds, 1e-9), 1),
        "most": flight.most,
    }
    return found | {"loop": lateness.figures(), "blamed": lateness.blamed()}


def _processor_seconds() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _figures(run: Crawl, seconds: float, processor: float) -> dict[str, Any]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    pairs = run.store.db.execute(
        "SELECT l.url, r.url FROM pairs JOIN decisions ON decisions.pair = pairs.id"
        " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right WHERE accept"
    ).fetchall()
    return {
        "pages": run.stats.pages,
        "downloads": run.stats.downloads,
        "seconds": seconds,
        "processor_seconds": processor,
        "own_seconds": own.ru_utime + own.ru_stime,
        "peak_mb": round(own.ru_maxrss / 1024),
        "peak_mb_of_a_worker": round(children.ru_maxrss / 1024),
        "pairs": pairs,
    }


def crawl_apart(homes: Sequence[str], options: dict[str, object]) -> dict[str, Any]:
    """Crawl in a separate process, so that time and memory are measured separately."""
    command = [sys.executable, "-m", "bench.support.live_crawl"]
    for name, value in options.items():
        command += [f"--{name}", *([] if value is True else [str(value)])]
    done = subprocess.run(
        command, input="\n".join(homes), capture_output=True, text=True, check=False,
        timeout=TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        give_up(f"the crawl failed with status {done.returncode}: {last_line(done.stderr)}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Crawl the given sites, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("homes", nargs="*", help="home pages; without any, lines of the input")
    parser.add_argument("--policy", default="hybrid")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--connections", type=int, default=1, help="for each host")
    parser.add_argument("--concurrency", type=int, default=64, help="for all hosts")
    parser.add_argument("--patience", type=float, default=100.0)
    parser.add_argument("--max-pages", type=int)
    parser.add_argument("--blame", action="store_true", help="note where the loop is when late")
    options = parser.parse_args()
    options.homes = options.homes or sys.stdin.read().split()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(crawl(options, Path(folder))))


if __name__ == "__main__":
    main()
