"""A crawl driven through its two calls on a clock of our own, over a web of answers; no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim, State
from diptych.frontier.scope import Scope, group
from diptych.page.answer import read_answer
from diptych.protocols import CrawlPolicy, GuidedPolicy
from diptych.reason import SiteEnd
from diptych.run.database import Transaction
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.stages.crawl.bfs import Bfs
from diptych.text.urls import normalise, origin_of
from diptych.types import (
    CrawlEvent,
    Decision,
    Failure,
    Kind,
    PairingResult,
    Response,
    Url,
    VerifiedPair,
)
from support.stores import begin, commit

HOME = "http://example.org"
POLITE = Politeness(agent="DiptychBot/0.1", delay=1.0)
EAGER = Politeness(agent="DiptychBot/0.1", delay=0.0, connections=4)
HTML = (("Content-Type", "text/html"),)

Answer = Response | Failure
Script = Answer | Callable[[int], Answer]
"""an answer, or one for each attempt"""


def url(path: str) -> Url:
    normal = normalise(path if "://" in path else HOME + path)
    assert normal is not None
    return normal


def page(path: str, *links: str, head: str = "", text: str = "") -> Response:
    anchors = "".join(f'<a href="{link}">a link</a> ' for link in links)
    body = f"<html><head>{head}</head><body><p>{text or path}</p>{anchors}</body></html>"
    return Response(url(path), 200, HTML, body.encode(), 0.0)


def status(path: str, code: int, *headers: tuple[str, str], body: bytes = b"x") -> Response:
    return Response(url(path), code, headers, body, 0.0)


def redirect(path: str, target: str) -> Response:
    return status(path, 301, ("Location", target), body=b"")


def robots(text: str, origin: str = HOME) -> Response:
    return status(f"{origin}/robots.txt", 200, body=text.encode())


def failure(path: str, reason: str) -> Failure:
    return Failure(url(path), reason, f"{reason} happened")


def sitemap(path: str, *locations: str, alternates: Mapping[str, str] = {}) -> Response:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{lang}" href="{target}"/>'
        for lang, target in alternates.items()
    )
    items = "".join(f"<url><loc>{location}</loc>{links}</url>" for location in locations)
    return status(path, 200, body=f"<urlset>{items}</urlset>".encode())


def web(*answers: Response | Failure, **scripts: Script) -> dict[Url, Script]:
    """Answers by URL; a keyword is a path of the home host."""
    found: dict[Url, Script] = {answer.url: answer for answer in answers}
    found.update({url(f"/{name}"): script for name, script in scripts.items()})
    return found


def no_pair(question: PairQuestion) -> CrawlEvent:
    """What a guide is told by default: nothing is a pair."""
    return (
        VerifiedPair(question.pair, Decision(False, 0.0, "test"))
        if question.pair
        else PairingResult(())
    )


class ByHand(Transaction):
    """A transaction that was begun and is ended by hand."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store

    def checkpoint(self) -> None:
        commit(self._store)


@dataclass
class Drive:
    """Drives a crawl over a web of answers: the clock, the flights and the log."""

    folder: Path
    answers: Mapping[Url, Script]
    policy: CrawlPolicy | GuidedPolicy = field(default_factory=Bfs)
    seeds: Sequence[str] = (HOME + "/",)
    scope: str = "site"
    politeness: Politeness = POLITE
    limits: Limits = field(default_factory=Limits)
    room: int = 8
    latency: Callable[[], float] = lambda: 0.1
    now: float = 1000.0
    with_sketches: bool = False
    log: list[tuple[str, float]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ends: dict[str, SiteEnd] = field(default_factory=dict)
    ended: list[tuple[str, float]] = field(default_factory=list)
    most_in_flight: int = 0
    guides: list[int] = field(default_factory=list)
    """how many were in memory after each commit"""
    finished: bool = False
    answered: int = 0
    looks: int = 0
    answer_to: Callable[[PairQuestion], CrawlEvent] = no_pair
    thinking: float = 0.0
    """seconds until what a guide wants to know is found out"""

    @contextmanager
    def opened(self) -> Iterator[Crawl]:
        self.folder.mkdir(exist_ok=True)
        with Store(self.folder, agent="test") as store:
            yield self.crawl(store)

    def crawl(self, store: Store) -> Crawl:
        sites = group([url(seed) for seed in self.seeds], kind=self.scope)
        crawl = Crawl(
            store, sites, Scope.of(sites, kind=self.scope), self.policy, ("en", "fr"),
            politeness=self.politeness, limits=self.limits, now=self.now,
        )  # fmt: skip
        claim = crawl.frontier.claim

        def counted(now: float, limit: int) -> list[Claim]:
            self.looks += 1
            assert self.looks < 20_000, "the crawl goes on for ever"
            return claim(now, limit)

        crawl.frontier.claim = counted  # type: ignore[method-assign]
        return crawl

    def run(self, *, kill_after: int | None = None) -> Drive:
        """Crawl to the end, or die without a word after so many answers."""
        with self.opened() as crawl:
            self.steer(crawl, kill_after)
            self.notes = list(crawl.hosts.notes)
            self.ends = dict(Statistics(crawl.store).site_ends())
        return self

    def steer(self, crawl: Crawl, kill_after: int | None = None) -> None:
        flights: list[tuple[float, int, Claim]] = []
        thoughts: list[tuple[float, PairQuestion]] = []
        answered = 0
        while True:
            thoughts += [
                (self.now + self.thinking, question) for question in crawl.questions(self.now)
            ]
            for claim in crawl.next(self.now, self.room - len(flights)):
                self.claims.append(claim)
                self.log.append((claim.url, self.now))
                flights.append((self.now + self.latency(), len(self.claims), claim))
            self.most_in_flight = max(self.most_in_flight, len(flights))
            crawl.checkpoint(ByHand(crawl.store))
            self.guides.append(len(crawl.guides))
            wake = crawl.wake()
            if not flights and wake is None and not thoughts:
                break
            ahead = [flight[0] for flight in flights] + [due for due, _ in thoughts]
            if wake is not None and len(flights) < self.room:
                ahead.append(wake)
            self.now = max(self.now, min(ahead))
            for _, question in (thought for thought in thoughts if thought[0] <= self.now):
                crawl.answered(question, self.answer_to(question))
            thoughts = [thought for thought in thoughts if thought[0] > self.now]
            landed = sorted(flight for flight in flights if flight[0] <= self.now)
            flights = [flight for flight in flights if flight[0] > self.now]
            for _, _, claim in landed:
                self.ended.append((claim.url, self.now))
                self.report(crawl, claim)
                answered += 1
                self.answered += 1
                if answered == kill_after:
                    # A killed process loses its open transaction; bytes may have reached the disk.
                    if crawl.store.db.in_transaction:
                        crawl.store.db.execute("ROLLBACK")
                    return
        commit(crawl.store)
        self.finished = True

    def report(self, crawl: Crawl, claim: Claim) -> None:
        answer = self.answer(claim)
        if isinstance(answer, Failure):
            crawl.fetched(claim, answer, self.now)
            return
        begin(crawl.store)
        pointer = crawl.store.archive.append(compose(answer), self.now)
        reading = read_answer(
            claim.kind, answer, depth=claim.depth, langs=crawl.langs, with_sketch=self.with_sketches
        )
        crawl.fetched(claim, reading, self.now, pointer)

    def answer(self, claim: Claim) -> Answer:
        script = self.answers.get(claim.url, status(claim.url, 404))
        if not isinstance(script, Response | Failure):
            script = script(self.fetches(claim.url))
        if isinstance(script, Failure):
            return replace(script, url=claim.url)
        return replace(script, url=claim.url, fetched_at=self.now)

    def fetches(self, path: str) -> int:
        return sum(fetched == url(path) for fetched, _ in self.log)

    @property
    def order(self) -> list[str]:
        """What was fetched, as paths of the home host, robots.txt and sitemaps apart."""
        return [claim.url.removeprefix(HOME) for claim in self.claims if claim.kind is Kind.PAGE]

    def starts(self, origin: str = HOME) -> list[float]:
        return [when for fetched, when in self.log if origin_of(fetched) == origin]

    def states(self) -> dict[str, tuple[State, str]]:
        with Store(self.folder, write=False) as store:
            rows = store.db.execute("SELECT url, state, reason FROM urls").fetchall()
        return {found.removeprefix(HOME): (State(state), why) for found, state, why in rows}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with Store(self.folder, write=False) as store:
            return store.db.execute(query).fetchall()
