"""A search for bilingual sites from beginning to end, and what a person sees of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click
import orjson

from diptych.crawl.frontier import Kind
from diptych.crawl.politeness import Limits, Politeness
from diptych.discover.leads import Leads, Verdict
from diptych.discover.machine import ROBOTS_DOWNLOADS, Budget, Discovery, Setting
from diptych.options import agent_of, live_engine
from diptych.progress import Progress, watching
from diptych.summary import in_words
from diptych.types import Url

if TYPE_CHECKING:
    from diptych.protocols import Detector, DiscoverPolicy, LinkSource
    from diptych.store import Store

__all__ = ["Search", "Searched", "Standing", "search"]

# A site that does not answer is given up sooner than one that is to be mined.
LIMITS = Limits(attempts=2, refusals=4)
STALL = 10.0  # seconds


@dataclass(slots=True)
class Search(Progress):
    """Shows how a search gets on, and says what is found."""

    say: Callable[[Verdict], None] = lambda verdict: None
    discovery: Discovery | None = None
    broken: bool = False
    """whether nobody listens any more"""
    _began: float = field(default_factory=time.monotonic)
    _pages: int = 0

    def watch(self, discovery: Discovery) -> None:
        """Begin with a search, which may go on with an earlier one."""
        self.discovery, self._pages, self._began = (
            discovery,
            discovery.stats.pages,
            time.monotonic(),
        )

    def tick(self) -> None:
        """Say what was found, and show where the search is."""
        while self.discovery is not None and self.discovery.news:
            try:
                self.say(self.discovery.news.popleft())
            except BrokenPipeError:
                self.broken = True
        Progress.tick(self)

    def stopped(self) -> bool:
        """Whether the user pressed Ctrl-C, or whoever reads the list has left."""
        return self.interrupted or self.broken

    def figures(self) -> list[tuple[str, str]]:
        """Sites tested and found, and what they have cost."""
        if self.discovery is None:
            return [("stage", self.stage)]
        stats, seconds = self.discovery.stats, max(time.monotonic() - self._began, 1e-3)
        waiting = self.discovery.store.count("SELECT count(*) FROM leads WHERE state = 0")
        return [
            ("stage", self.stage),
            ("downloads", f"{stats.downloads:,}"),
            ("pages/s", f"{(stats.pages - self._pages) / seconds:.1f}"),
            ("leads", f"{waiting:,}"),
            ("sites tested", f"{stats.tested:,}"),
            ("bilingual", f"{stats.found:,}"),
            ("downloads/site", f"{stats.downloads / stats.found:.1f}" if stats.found else "-"),
        ]


@dataclass(frozen=True, slots=True)
class Searched:
    """How a search has ended."""

    verdicts: Sequence[Verdict]
    """of bilingual sites, those of earlier invocations first"""
    failed: Sequence[tuple[Url, str]]
    """where a site could not be tested, and why"""
    is_whole: bool
    """whether it came to its own end: nothing left, or the budget is spent"""


def search(
    store: Store, seeds: Sequence[Url], policy: DiscoverPolicy, detector: Detector,
    langs: Sequence[str], source: LinkSource, options: dict[str, Any],
    say: Callable[[Verdict], None],
) -> Searched:  # fmt: skip
    """Search, or go on with a search, and say what is found as it is found."""
    agent = agent_of(options["user_agent"])
    minutes = options.get("max_minutes")
    budget = Budget(
        downloads=options.get("max_downloads"),
        sites=options.get("max_sites"),
        seconds=minutes * 60 if minutes else None,
    )
    setting = Setting(Politeness(agent=agent, delay=options["delay"]), LIMITS, budget)
    engine = live_engine(options, agent, stall=STALL)
    discovery = Discovery(store, seeds, policy, detector, langs, setting, now=time.time())
    with watching(Search(say=say, stage="searching"), quiet=options["quiet"]) as shown:
        shown.watch(discovery)
        engine.discover(discovery, source, tick=shown.tick, stopped=shown.stopped)
        shown.tick()
    if not options["quiet"]:
        _tell(discovery)
    leads = Leads(store, once=True)
    return Searched(leads.verdicts("accept"), leads.failed(), not shown.stopped())


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a search has come, all invocations together."""

    downloads: int
    robots: int
    tested: int
    bilingual: int
    leads: int
    failed: int
    reasons: Sequence[tuple[str, int]]
    """why sites are not bilingual, the most frequent first"""

    @classmethod
    def of(cls, store: Store) -> Standing:
        """As the store knows it."""
        count = store.count
        reasons = store.db.execute(
            "SELECT reason, count(*) FROM verdicts WHERE NOT accept GROUP BY reason"
            " ORDER BY 2 DESC, 1"
        ).fetchall()
        return cls(
            downloads=count("SELECT count(*) FROM fetches WHERE status > 0"),
            robots=count(ROBOTS_DOWNLOADS, int(Kind.ROBOTS)),
            tested=count("SELECT count(*) FROM verdicts"),
            bilingual=count("SELECT count(*) FROM verdicts WHERE accept"),
            leads=count("SELECT count(*) FROM leads WHERE state = 0"),
            failed=len(Leads(store, once=True).failed()),
            reasons=reasons,
        )

    def to_json(self) -> str:
        """As one JSON object."""
        return orjson.dumps({**asdict(self), "reasons": dict(self.reasons)}).decode()

    def lines(self) -> list[str]:
        """What was found, what it has cost, and why not more."""
        lost = [f"  {count:,} are not: {in_words(reason)}" for reason, count in self.reasons[:5]]
        failed = [f"  {self.failed:,} leads could not be followed"] if self.failed else []
        return [
            f"{self.bilingual:,} of {self.tested:,} sites tested are bilingual;"
            f" {self.downloads:,} downloads, {self.robots:,} of them robots.txt;"
            f" {self.leads:,} leads are left",
            *lost,
            *failed,
        ]


def _tell(discovery: Discovery) -> None:
    """Say on standard error how a search has ended."""
    notes = list(dict.fromkeys(discovery.hosts.notes))
    lines = Standing.of(discovery.store).lines() + [f"note: {note}" for note in notes[:10]]
    if len(notes) > 10:
        lines.append(f"note: and {len(notes) - 10:,} more")
    for line in lines:
        click.echo(line, err=True)
