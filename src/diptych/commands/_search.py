"""A search for bilingual sites from beginning to end, and what a person sees of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from diptych.commands._verdicts import Printer
from diptych.commands.options import WebOptions, agent_of, displayed, live_engine, workers_of
from diptych.errors import in_one_line
from diptych.frontier.leads import Leads, Verdict
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.retries import Stats
from diptych.frontier.search import Budget, Discovery, SearchSettings
from diptych.protocols import Detector, DiscoverPolicy
from diptych.registry import make
from diptych.reports.display import Figure
from diptych.reports.progress import Monitor, Progress
from diptych.reports.site_page import SearchSummary, write_sites
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.sources.many import MergedSources
from diptych.types import Url

# A site that does not answer, or asks for long waits, is given up sooner than one to be mined.
LIMITS = Limits(attempts=2, refusals=4)
MAX_CRAWL_DELAY = 60.0  # seconds; a site takes three downloads or four
STALL = 10.0  # seconds
NOTES = 10  # that are printed


@dataclass(slots=True)
class Search(Monitor):
    """Shows how a search gets on, and says what is found."""

    say: Callable[[Verdict], None] = lambda verdict: None
    discovery: Discovery | None = None
    broken: bool = False
    """True if the reader of the list has closed the pipe"""

    def tick(self) -> None:
        """Say what was found, and show where the search is."""
        while self.discovery is not None and self.discovery.new_verdicts:
            try:
                self.say(self.discovery.new_verdicts.popleft())
            except BrokenPipeError:
                self.broken = True
        Monitor.tick(self)

    def stopped(self) -> bool:
        """True if the user pressed Ctrl-C, or the reader of the list has closed the pipe."""
        return Monitor.stopped(self) or self.broken

    def stats(self) -> Stats | None:
        """Downloads and pages of the search so far."""
        return None if self.discovery is None else self.discovery.stats

    def figures(self, progress: Progress) -> list[Figure]:
        """Sites tested and found, and what they have cost."""
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
    """The result of a search."""

    verdicts: Sequence[Verdict]
    """of bilingual sites, those of earlier invocations first"""
    failed: Sequence[tuple[Url, str]]
    """where a site could not be tested, and why"""
    is_whole: bool
    """True if no lead is left, or the budget is spent; False if the search was stopped"""


def search(
    store: Store, seeds: Sequence[Url], policy: DiscoverPolicy, terms: Terms,
    source: MergedSources, asked: WebOptions, budget: Budget, printer: Printer,
) -> Searched:  # fmt: skip
    """Search, or go on with a search, and print all verdicts: earlier ones, then new ones."""
    leads = Leads(store, once=True)
    for verdict in leads.verdicts():
        printer.say(verdict)
    agent = agent_of(asked.user_agent)
    politeness = Politeness(agent=agent, delay=asked.delay, max_crawl_delay=MAX_CRAWL_DELAY)
    setting = SearchSettings(politeness, LIMITS, budget)
    engine = live_engine(asked, agent, stall=STALL)
    detector: Detector = make("detect", terms.recipe["detect"])
    discovery = Discovery(store, seeds, policy, detector, terms.langs, setting, now=time.time())
    shown = Search(say=printer.say, discovery=discovery)
    with displayed(shown, quiet=asked.quiet, figures=shown.figures), workers_of() as workers:
        shown.begin("searching")
        engine.discover(discovery, source, workers, shown)
        shown.tick()
    faults = [f"{count:,} look-ups failed: {why}" for why, count in source.faults.items()]
    notes = [
        in_one_line(note)
        for note in (*store.archive.notes, *faults, *dict.fromkeys(discovery.hosts.notes))
    ]
    write_sites(store, terms, notes)
    if not asked.quiet:
        _print_end(store, notes)
    return Searched(leads.verdicts(only_bilingual=True), leads.failed(), not shown.stopped())


def _print_end(store: Store, notes: Sequence[str]) -> None:
    """Say on standard error how a search has ended."""
    lines = SearchSummary.of(store).lines() + [f"note: {note}" for note in notes[:NOTES]]
    if len(notes) > NOTES:
        lines.append(f"note: and {len(notes) - NOTES:,} more")
    for line in lines:
        click.echo(line, err=True)
