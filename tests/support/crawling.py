"""A crawl through the real pieces, and what became of each URL."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diptych import recipes
from diptych.engine.engine import Engine
from diptych.engine.fetch import FetchSettings
from diptych.engine.live import LiveEngine
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import State
from diptych.frontier.scope import Scope, group
from diptych.page.read import read_page
from diptych.registry import build
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise, origin_of
from diptych.types import PageRecord, Site, Url
from support.names import LOOPBACK
from support.watching import Watching

AGENT = "ZooBot/1.0 (+https://example.org/zoo)"
PATIENCE = 180.0  # seconds after which a crawl of the zoo can only be one without end


@dataclass
class Outcome:
    """What a crawl left behind; URLs of the first host are told by their path."""

    folder: Path
    pages: dict[str, PageRecord] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(page, rel, hreflang, target)"""
    distinct: set[str] = field(default_factory=set)
    """pages that no other stands for"""
    redirected: set[str] = field(default_factory=set)
    stopped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    base: str = ""

    def text(self, path: str) -> str:
        """The text of a stored page, read again out of the WARC."""
        with Store(self.folder, write=False) as store:
            response = store.response(Url(self.base + path))
            assert response is not None, f"no answer of {path} was kept"
            return "\n".join(block.text for block in read_page(response, with_blocks=True).blocks)


def crawl(
    *seeds: str,
    folder: Path,
    policy: str = "bfs",
    together: bool = False,
    delay: float = 0.0,
    connections: int = 1,
    backoff: float = 0.01,
    max_wait: float = 600.0,
    limits: Limits | None = None,
    workers: int = 0,
    engine: Engine | None = None,
    stop: Callable[[Crawl], bool] = lambda machine: False,
    **settings: Any,
) -> Outcome:
    """Crawl some sites until nothing is left; `together` makes them one site."""
    urls = [url for seed in seeds if (url := normalise(seed)) is not None]
    sites = group(urls)
    if together:
        sites = [Site(sites[0].name, tuple(urls))]
    politeness = Politeness(
        AGENT, delay=delay, connections=connections, backoff=backoff, max_wait=max_wait,
    )  # fmt: skip
    usual = {"allow_private": True, "timeout": 20.0, "resolver": LOOPBACK}
    fetching = FetchSettings(AGENT, **{**usual, **settings})
    strategies = build(recipes.load(policy, {}))
    deadline = time.monotonic() + PATIENCE
    with Store(folder, agent=AGENT) as store, Workers(workers) as pool:
        machine = Crawl(
            store, sites, Scope.of(sites), strategies.crawl, ("en", "fr"),
            politeness=politeness, limits=limits or Limits(), now=time.time(),
        )  # fmt: skip
        (engine or LiveEngine(fetching)).run(
            machine,
            GuideAnswers(machine, TaskContext(folder, strategies, ("en", "fr")), pool),
            pool,
            Watching(is_over=lambda: time.monotonic() > deadline or stop(machine)),
        )
        assert time.monotonic() < deadline, "the crawl does not end"
        return _outcome(store, machine, origin_of(urls[0]))


def _outcome(store: Store, machine: Crawl, base: str) -> Outcome:
    def short(url: str) -> str:
        return url.removeprefix(base) if url.startswith(base + "/") else url

    outcome = Outcome(store.folder, notes=machine.hosts.notes, base=base)
    for url, state, reason, attempts, redirect in store.db.execute(
        "SELECT url, state, reason, attempts, redirect FROM urls"
    ):
        outcome.redirected |= set() if redirect is None else {short(url)}
        outcome.states[short(url)] = State(state)
        outcome.attempts[short(url)] = attempts
        if reason:
            outcome.reasons[short(url)] = reason
    for info in machine.hosts.sites.values():
        outcome.pages |= {short(record.url): record for record in store.records(info.id)}
        view = StoreView(store, info.site, info.id, machine.langs)
        outcome.distinct |= {short(url) for url in view.pages}
        outcome.links += [
            (short(source), link.rel, link.hreflang, short(link.url))
            for source, link in view.links()
        ]
    outcome.stopped = dict(
        store.db.execute("SELECT origin, stopped FROM hosts WHERE stopped != ''").fetchall()
    )
    return outcome
