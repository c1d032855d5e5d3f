"""Answers a discovery out of the simulated web, without a network.

Time is the number of answers so far.  What is fetched is read as on the live web, and each
download but those of robots.txt is one on the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.web.simulated_web import SimulatedWeb
from diptych.engine.link_answers import query_links
from diptych.frontier.queue import Claim
from diptych.frontier.search import Discovery
from diptych.page.answer import read_answer
from diptych.protocols import LinkSource
from diptych.run.warc import compose
from diptych.types import Kind


@dataclass(slots=True)
class WebEngine:
    """Drives one discovery, one request after the other."""

    web: SimulatedWeb
    source: LinkSource
    verdicts: list[tuple[int, str, bool]] = field(default_factory=list)
    """the number of the download with which a site was decided, the site, and what was decided"""
    link_queries: int = 0
    """how often the source was asked"""

    def run(self, discovery: Discovery) -> None:
        """Go on until nothing is left or the budget is spent."""
        now = 0.0
        with discovery.store.transaction() as transaction:
            while True:
                self._look_up(discovery, now)
                claims = discovery.next(now, 1)
                if not claims:
                    wake = discovery.wake()
                    if not self._look_up(discovery, now) and wake is None:
                        break
                    now = max(now, wake or now)
                    continue
                now += 1.0
                self._answer(discovery, claims[0], now)
                if discovery.stats.downloads % 256 == 0:
                    transaction.checkpoint()

    def _look_up(self, discovery: Discovery, now: float) -> bool:
        """Answer what it wants to know, and have it learn if it is time; True if it asked."""
        link_queries = discovery.link_queries(now)
        for asked in link_queries:
            discovery.answered(asked, query_links(self.source, asked), now)
        self.link_queries += len(link_queries)
        if discovery.is_learning_due:
            discovery.learn()
        return bool(link_queries)

    def _answer(self, discovery: Discovery, claim: Claim, now: float) -> None:
        response = self.web.answer(claim.url, now)
        if claim.kind is Kind.ROBOTS:
            discovery.fetched(claim, read_answer(claim.kind, response), now)
            return
        reading = read_answer(claim.kind, response, depth=claim.depth, langs=discovery.langs)
        pointer = discovery.store.archive.append(compose(response), now)
        discovery.fetched(claim, reading, now, pointer)
        downloads = discovery.stats.downloads - discovery.stats.robots
        while discovery.new_verdicts:
            verdict = discovery.new_verdicts.popleft()
            self.verdicts.append((downloads, verdict.site, verdict.decision.accept))
