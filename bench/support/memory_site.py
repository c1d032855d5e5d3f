"""Bilingual sites in memory, and a crawl of them that can be ended at any commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim
from diptych.frontier.scope import Scope
from diptych.page.answer import ReadAnswer, read_answer
from diptych.protocols import CrawlPolicy, GuidedPolicy
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.text.urls import host_of
from diptych.types import (
    CrawlEvent,
    Decision,
    Failure,
    Kind,
    Link,
    Page,
    PagePair,
    PageRecord,
    PairingResult,
    Response,
    Site,
    Url,
    VerifiedPair,
)

LANGS = ("en", "fr")
START = 1000.0  # seconds; the time of the crawl begins there in each process
ANSWERED_EVERY = 5  # downloads after which the questions of guides are answered


@dataclass(frozen=True)
class MemorySite:
    """A site of documents in two languages, with three sitemaps.

    Some documents are not translated; some links are dead, redirected, forbidden or lead to copies.
    """

    documents: int
    """URLs in each sitemap"""
    name: str = "example.org"
    wide: int = 700
    """links of the home page"""

    @property
    def site(self) -> Site:
        """The site in the form that a crawl expects."""
        return Site(self.name, (self.url("/"),))

    def url(self, path: str) -> Url:
        """An address of the site."""
        return Url(f"http://{self.name}{path}")

    def document(self, lang: str, number: int) -> Url:
        """The address of a document."""
        return self.url(f"/{lang}/section-{number % 40}/document-{number}.html")

    def answer(self, claim: Claim) -> tuple[ReadAnswer | Failure, bytes]:
        """The response to a claim, and its record for the archive."""
        path = claim.url.removeprefix(f"http://{self.name}")
        if claim.kind is not Kind.PAGE:
            body = self._sitemap(path) if claim.kind is Kind.SITEMAP else self._robots()
            response = Response(claim.url, 200 if body else 404, (), body, 0.0)
            return read_answer(claim.kind, response), compose(response)
        reading = ReadAnswer(claim.url, 200, 1000, 0.0)
        if path.startswith("/old/"):
            number = int(path.rpartition("/")[2])
            reading = reading._replace(status=301, redirect=self.document("en", number))
        elif path == "/" or "/document-" in path:
            reading = reading._replace(page=self._page(claim, path))
        else:
            return Failure(claim.url, "http_404"), b""
        return reading, compose(Response(claim.url, reading.status, (), b"x", 0.0))

    def _robots(self) -> bytes:
        maps = "".join(f"Sitemap: {self.url(f'/map-{n}.xml')}\n" for n in range(3))
        return f"User-agent: *\nDisallow: /en/closed\n{maps}".encode()

    def _sitemap(self, path: str) -> bytes:
        """A sitemap: English documents with their translations, French documents, or news."""
        items = []
        for n in range(self.documents):
            here = self.document("fr" if "-1" in path else "en", n)
            if "-2" in path:
                here = self.url(f"/en/news/document-{n}.html")
            more = ""
            if "-0" in path and n % 2:
                other = self.document("fr", n)
                more = f'<xhtml:link rel="alternate" hreflang="fr" href="{other}"/>'
            items.append(f"<url><loc>{here}</loc>{more}</url>")
        return f"<urlset>{''.join(items)}</urlset>".encode()

    def _page(self, claim: Claim, path: str) -> Page:
        lang = "fr" if path.startswith("/fr/") else "en"
        digest = path
        if path == "/":
            near = [n % self.documents for n in range(self.wide)]
            links = [Link(self.document("en", n), anchor=f"Document {n}") for n in near]
            links.append(Link(self.url("/fr/section-0/document-0.html"), anchor="Français"))
        else:
            n = int(path.rpartition("-")[2].partition(".")[0])
            other = "en" if lang == "fr" else "fr"
            near = [(n * 7 + step) % self.documents for step in range(10)]
            links = [Link(self.document(lang, k), anchor=f"Number {k}") for k in near]
            links.append(Link(self.url("/"), anchor="Home"))
            if n % 3 == 0:
                links.append(Link(self.document(other, n), "alternate", other))
            if n % 4 == 0:
                links.append(Link(self.document(other, n), anchor="Français"))
            if n % 10 == 0:
                links.append(Link(self.url(f"/{lang}/gone-{n}"), anchor="Gone"))
            if n % 15 == 0:
                links.append(Link(self.url(f"/old/{(n + 7) % self.documents}"), anchor="Moved"))
            if n % 12 == 5:
                links.append(Link(self.url(f"/en/closed-{n}"), anchor="Closed"))
            if n % 40 == 3:
                digest = f"/{lang}/same-{n // 40 % 5}"
        record = PageRecord(
            claim.url, lang, (), path, claim.depth, 1000, 500, digest, fetched_at=0.0
        )
        return Page(record, tuple(links), ())

    def verdict(self, question: PairQuestion) -> CrawlEvent:
        """The answer to a question of the guide."""
        pair = question.pair
        if pair is None:
            both = [(self.document("en", n), self.document("fr", n)) for n in range(5)]
            return PairingResult(
                tuple(PagePair(one, other, *LANGS, 0.9, "content") for one, other in both)
            )
        one, other = (int(u.rpartition("-")[2].partition(".")[0] or 0) if "document" in u else -1
                      for u in (pair.left, pair.right))  # fmt: skip
        if one != other or one % 7 == 0:
            return VerifiedPair(pair, Decision(False, 0.01, "test"))
        if one % 11 == 0:
            return VerifiedPair(pair, Decision(False, 0.4, "too_little_text"))
        near = [(one * 7 + step) % self.documents for step in range(10)]
        links = tuple((self.document("en", k), self.document("fr", k)) for k in near)
        return VerifiedPair(pair, Decision(True, 0.98), links)


@dataclass
class MemoryCrawl:
    """A crawl of such sites, in as many processes as necessary."""

    folder: Path
    sites: Sequence[MemorySite]
    max_pages: int | None = None
    commit_every: int = 10
    """number of turns; a turn is a download or a part of a sitemap"""
    policy: CrawlPolicy | GuidedPolicy = field(default_factory=Hybrid)
    fetched: list[str] = field(default_factory=list)
    """URLs fetched by this and earlier processes, in order"""
    waiting: list[PairQuestion] = field(default_factory=list)
    """unanswered questions of guides"""
    turns: int = 0

    def __post_init__(self) -> None:
        self._by_name = {site.name: site for site in self.sites}

    def open(self, store: Store) -> Crawl:
        """Open the crawl of a store, like a new process."""
        self.waiting.clear()
        self._now = START
        sites = [site.site for site in self.sites]
        return Crawl(
            store, sites, Scope.of(sites), self.policy, LANGS,
            politeness=Politeness("bench", delay=0.0), limits=Limits(max_pages=self.max_pages),
            now=START,
        )  # fmt: skip

    def run(self, at_commit: Callable[[Crawl, int], bool] = lambda crawl, turns: True) -> bool:
        """Crawl to the end, or until a commit returns False; returns True at the end."""
        self.folder.mkdir(exist_ok=True)
        with Store(self.folder) as store:
            return self.go(self.open(store), at_commit)

    def go(self, crawl: Crawl, at_commit: Callable[[Crawl, int], bool]) -> bool:
        """Continue a crawl; `at_commit` receives the number of turns so far."""
        with crawl.store.transaction() as transaction:
            while self._turn(crawl):
                self.turns += 1
                if self.turns % self.commit_every == 0:
                    crawl.checkpoint(transaction)
                    if not at_commit(crawl, self.turns):
                        return False
            crawl.checkpoint(transaction)
        return True

    def _turn(self, crawl: Crawl) -> bool:
        """Process the work that is due; returns False if nothing is left."""
        self._now += 0.001
        self.waiting.extend(crawl.questions(self._now))
        if len(self.fetched) % ANSWERED_EVERY == 0:
            self._answer(crawl)
        claims = crawl.next(self._now, 1)
        if claims:
            self._fetch(crawl, claims[0], self._now)
            return True
        wake = crawl.wake()
        self._now = max(self._now, wake or 0.0)
        is_over = not self.waiting and wake is None
        self._answer(crawl)
        return not is_over

    def _fetch(self, crawl: Crawl, claim: Claim, now: float) -> None:
        reading, record = self._by_name[host_of(claim.url)].answer(claim)
        pointer = crawl.store.archive.append(record, now) if record else None
        crawl.fetched(claim, reading, now, pointer)
        self.fetched.append(claim.url)

    def _answer(self, crawl: Crawl) -> None:
        for question in self.waiting:
            event = self._by_name[crawl.hosts.site(question.site).site.name].verdict(question)
            if isinstance(event, VerifiedPair):
                crawl.store.save_pair(question.site, event.pair, event.decision, ())
            crawl.answered(question, event)
        self.waiting.clear()
