"""A search for bilingual sites over a web of fakes: what is downloaded, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diptych.engine.link_answers import query_links
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim
from diptych.frontier.search import Budget, Discovery, SearchSettings
from diptych.page.answer import ReadAnswer, read_answer
from diptych.protocols import Detector, DiscoverPolicy
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.types import Decision, Failure, Link, Page, Response, Url
from support.stores import commit

WORDS = {
    "en": "The museum is open every day of the week and the children of the town visit it gladly.",
    "es": "El museo está abierto todos los días de la semana y los niños del pueblo lo visitan.",
}


def page_of(lang: str, *links: str) -> str:
    """HTML of a page in a language; a link is `text -> address`."""
    anchors = []
    for link in links:
        text, _, address = link.rpartition(" -> ")
        anchors.append(f'<p><a href="{address}">{text or "more"}</a></p>')
    return f"<html><body><p>{WORDS[lang]}</p>{''.join(anchors)}</body></html>"


@dataclass
class FakeWeb:
    """Address -> HTML, or a number (a status), or `-> address` (a redirect)."""

    pages: Mapping[str, str | int]
    backs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """page -> those that link to it, as a source of links knows them"""
    outs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """all that was downloaded but robots.txt, in order"""
    looked: list[str] = field(default_factory=list)
    unreadable: set[str] = field(default_factory=set)
    """pages for which this machine has too little memory"""

    def answer(self, url: Url) -> Response:
        found = self.pages.get(url, 404)
        if not url.endswith("/robots.txt"):
            self.asked.append(url)
        if isinstance(found, int):
            return Response(url, found, (), b"", 0.0)
        if found.startswith("-> "):
            return Response(url, 301, (("Location", found[3:]),), b"", 0.0)
        kind = "text/plain" if url.endswith("/robots.txt") else "text/html; charset=utf-8"
        return Response(url, 200, (("Content-Type", kind),), found.encode(), 0.0)

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        self.looked.append(url)
        return [Link(Url(each), "back") for each in self.backs.get(url, ())][:limit]

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | Failure | None:
        if url not in self.outs:
            return None
        return [Link(Url(each)) for each in self.outs[url]][:limit]


@dataclass
class _Reading:
    """Bilingual when the start page and one that it calls `other` are in both languages."""

    langs: Sequence[str]
    shown: dict[str, Url] = field(default_factory=dict)
    wanted: list[Link] = field(default_factory=list)
    is_begun: bool = False

    def read(self, page: Page) -> None:
        self.shown.setdefault(page.lang, page.url)
        if not self.is_begun:
            self.wanted = [link for link in page.links if link.anchor == "other"]
        self.is_begun = True

    def miss(self, url: Url) -> None:
        pass

    def wanted_links(self) -> Sequence[Link]:
        wanted, self.wanted = self.wanted, []
        return wanted

    def decision(self) -> Decision:
        if all(lang in self.shown for lang in self.langs):
            return Decision(True, 1.0)
        return Decision(False, 0.0, "one_language")

    def pages(self) -> Sequence[tuple[str, Url]]:
        return [(lang, url) for lang, url in self.shown.items() if lang in self.langs]


@dataclass(frozen=True)
class Plain:
    """A detector that believes links called `other`."""

    def new_test(self, langs: Sequence[str]) -> _Reading:
        return _Reading(langs)


def search_of(
    store: Store, web: FakeWeb, policy: DiscoverPolicy, seeds: Sequence[str], *,
    budget: Budget | None = None, width: int = 1, detector: Detector | None = None,
) -> Discovery:  # fmt: skip
    """A search that nobody drives yet."""
    polite = Politeness("TestBot/1.0", delay=0.0, backoff=0.01)
    setting = SearchSettings(polite, Limits(), budget or Budget(), width)
    urls = [Url(each) for each in seeds]
    return Discovery(store, urls, policy, detector or Plain(), ("en", "es"), setting, now=0.0)


def drive(machine: Discovery, web: FakeWeb, steps: int, now: float = 0.0) -> float:
    """Fetch some of what a search asks for, and look nothing up."""
    for _ in range(steps):
        for claim in machine.next(now, 1):
            now += 1.0
            _fetch(machine, web, claim, now)
    return now


def _fetch(machine: Discovery, web: FakeWeb, claim: Claim, now: float) -> None:
    response = web.answer(claim.url)
    reading: ReadAnswer | Failure = read_answer(claim.kind, response, langs=machine.langs)
    if not response.status:
        reading = Failure(claim.url, "connect", "nobody is there")
    elif claim.url in web.unreadable:
        reading = Failure(claim.url, "failed:MemoryError")
    machine.fetched(claim, reading, now, Pointer(_warc(machine.store), 0, 0))


def discovery(
    folder: Path, web: FakeWeb, policy: DiscoverPolicy, *seeds: str,
    budget: Budget | None = None, width: int = 1, detector: Detector | None = None,
    steps: int | None = None,
) -> list[str]:  # fmt: skip
    """Search until nothing is left, or for some downloads, and give the bilingual sites found."""
    folder.mkdir(exist_ok=True)
    with Store(folder, agent="TestBot/1.0") as store:
        machine = search_of(
            store, web, policy, seeds, budget=budget, width=width, detector=detector
        )
        now, done = float(machine.stats.downloads), 0
        while steps is None or done < steps:
            while link_queries := machine.link_queries(now):
                for asked in link_queries:
                    machine.answered(asked, query_links(web, asked), now)
            if machine.is_learning_due:
                machine.learn()
            claims = machine.next(now, width)
            for claim in claims:
                now += 1.0
                _fetch(machine, web, claim, now)
                done += 1
            commit(store)
            wake = machine.wake()
            if not claims and wake is None and not machine.has_link_queries:
                break
            now = max(now, wake or 0.0)
        return [verdict.site for verdict in machine.leads.verdicts(only_bilingual=True)]


def _warc(store: Store) -> int:
    """A WARC that pages are said to be in."""
    store.db.execute("INSERT OR IGNORE INTO warcs (id, path, size) VALUES (1, 'fake.warc', 0)")
    return 1
