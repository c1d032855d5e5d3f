"""Running a search for bilingual sites, for `detect` and `discover`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diptych.api.web import Environment, WebOptions, agent_of
from diptych.errors import in_one_line
from diptych.frontier.leads import Leads, Verdict
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.retries import Stats
from diptych.frontier.search import Budget, Discovery, SearchSettings
from diptych.protocols import Detector, DiscoverPolicy
from diptych.registry import make
from diptych.reports.display import Figure
from diptych.reports.progress import Monitor, Progress
from diptych.reports.reasons import counted
from diptych.reports.site_page import SearchSummary, write_sites
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.sources.many import MergedSources
from diptych.types import Url

# A search gives up sooner than a crawl on a site that does not respond or demands long delays.
LIMITS = Limits(attempts=2, refusals=4)
MAX_CRAWL_DELAY = 60.0  # seconds; a site takes three or four downloads
STALL = 10.0  # seconds without data after which a download fails


@dataclass(slots=True)
class Search(Monitor):
    """The monitor of a search for sites, which passes each new verdict to `say`."""

    say: Callable[[Verdict], None] = lambda verdict: None
    """called with each verdict"""
    discovery: Discovery | None = None
    broken: bool = False
    """True if the reader of the output has closed the pipe"""

    def tick(self) -> None:
        """Pass new verdicts to `say`, and report the progress of the search."""
        while self.discovery is not None and self.discovery.new_verdicts:
            try:
                self.say(self.discovery.new_verdicts.popleft())
            except BrokenPipeError:
                self.broken = True
        Monitor.tick(self)

    def stopped(self) -> bool:
        """True if the search should stop, or the reader of the output has closed the pipe."""
        return Monitor.stopped(self) or self.broken

    def stats(self) -> Stats | None:
        """The downloads and pages of the search so far; None before it begins."""
        return None if self.discovery is None else self.discovery.stats

    def figures(self, progress: Progress) -> list[Figure]:
        """The figures to show: sites tested and found, and their cost in downloads."""
        if self.discovery is None:
            return []
        stats = self.discovery.stats
        return [
            Figure("downloads", f"{progress.downloads:,}", 2),
            Figure("pages/s", f"{progress.pages_per_second:.1f}", 4),
            Figure("leads", f"{self.discovery.leads.left():,}", 3),
            Figure("sites tested", f"{stats.tested:,}", 1),
            Figure("bilingual", f"{stats.found:,}", 0),
            Figure(
                "downloads/site", f"{stats.downloads / stats.found:.1f}" if stats.found else "-", 5
            ),
        ]


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search for bilingual sites."""

    verdicts: Sequence[Verdict]
    """verdicts on bilingual sites, with those of earlier invocations first"""
    failed: Sequence[tuple[Url, str]]
    """URLs whose sites could not be tested, with the reasons"""
    summary: SearchSummary
    notes: Sequence[str]
    is_whole: bool
    """True if no leads are left or the budget is used up; False if the user stopped the search"""


def search(
    store: Store, seeds: Sequence[Url], policy: DiscoverPolicy, terms: Terms,
    source: MergedSources, asked: WebOptions, budget: Budget, shown: Search,
    environment: Environment,
) -> Searched:  # fmt: skip
    """Start or continue a search for bilingual sites.

    `shown` receives the verdicts of earlier invocations first, then each new verdict when it is
    available.
    """
    leads = Leads(store, once=True)
    for verdict in leads.verdicts():
        shown.say(verdict)
    agent = agent_of(asked.user_agent)
    politeness = Politeness(agent=agent, delay=asked.delay, max_crawl_delay=MAX_CRAWL_DELAY)
    setting = SearchSettings(politeness, LIMITS, budget)
    engine = environment.live_engine(asked, agent, stall=STALL)
    detector: Detector = make("detect", terms.recipe["detect"])
    discovery = Discovery(store, seeds, policy, detector, terms.langs, setting, now=time.time())
    with environment.start_workers() as workers:
        shown.discovery = discovery
        shown.begin("searching")
        engine.discover(discovery, source, workers, shown)
        shown.tick()
    faults = [f"{counted(count, 'lookup')} failed: {why}" for why, count in source.faults.items()]
    notes = [
        in_one_line(note)
        for note in (*store.archive.notes, *faults, *dict.fromkeys(discovery.hosts.notes))
    ]
    write_sites(store, terms, notes)
    return Searched(
        leads.verdicts(only_bilingual=True), leads.failed(), SearchSummary.of(store), notes,
        is_whole=not shown.stopped(),
    )  # fmt: skip
