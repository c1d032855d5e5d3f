"""Talks with a guide, and whole crawls of sites of fakes: what is downloaded, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from diptych.protocols import Guide, GuidedPolicy
from diptych.types import (
    CrawlEvent,
    Decision,
    Link,
    Missing,
    Moved,
    Page,
    PagePair,
    PairingResult,
    Ranked,
    Url,
    VerifiedPair,
)
from support.fakes import FakeSite, at, make_page

Pair = tuple[str, str]


def path_of(url: Url) -> str:
    """What comes after the host of the fake site; of another host, the whole address."""
    return url.removeprefix(at("/")[:-1])


def to(target: str, anchor: str = "", *, rel: str = "a", hreflang: str = "", alt: str = "") -> Link:
    """A link."""
    return Link(at(target), rel, hreflang, anchor, alt=alt)


def alternate(target: str, hreflang: str) -> Link:
    """A translation that a page announces."""
    return Link(at(target), "alternate", hreflang)


def links(*targets: str | Link) -> list[Link]:
    """Links, those that are only told by their path without a text."""
    return [link if isinstance(link, Link) else to(link) for link in targets]


@dataclass
class Talk:
    """A conversation with a guide, by paths; it keeps the values of what is pending."""

    guide: Guide
    langs: tuple[str, ...] = ("en", "fr")
    values: dict[str, float] = field(default_factory=dict)
    """of URLs that were ranked and of which nothing was told since, in order of discovery"""
    done: set[str] = field(default_factory=set)

    def page(self, path: str, lang: str, *targets: str | Link, text: str = "") -> Talk:
        """A page was fetched; pages with the same text are copies."""
        return self.read(make_page(path, lang, *([text] if text else []), links=links(*targets)))

    def read(self, page: Page) -> Talk:
        self.close(page.url)
        return self.keep(self.guide.rank(page, FakeSite(*self.langs)))

    def sitemap(self, *groups: Sequence[str | tuple[str, str]]) -> Talk:
        """A sitemap was read: each entry is a path, and its alternates as (hreflang, path)."""
        found: list[Link] = []
        for entry, *alternates in groups:
            found.append(Link(at(str(entry)), "sitemap"))
            found.extend(alternate(target, lang) for lang, target in alternates)
        page = make_page("/sitemap.xml", "", links=found)
        return self.read(page)

    def missing(self, path: str, reason: str = "http_404") -> Talk:
        self.close(at(path))
        return self.learn(Missing(at(path), reason))

    def moved(self, path: str, target: str) -> Talk:
        self.close(at(path))
        return self.learn(Moved(at(path), at(target)))

    def found(
        self, left: str, right: str, *aligned: Pair, accept: bool = True, reason: str = "test"
    ) -> Talk:
        """A pair was looked at."""
        decision = Decision(accept, 0.99 if accept else 0.001, "" if accept else reason)
        pair = PagePair(at(left), at(right), *self.langs[:2], 0.5, "test")
        both = tuple((at(one), at(other)) for one, other in aligned)
        return self.learn(VerifiedPair(pair, decision, both))

    def settled(self, *pairs: Pair, score: float = 0.9) -> Talk:
        """All pages were paired."""
        made = (PagePair(at(one), at(two), *self.langs[:2], score, "content") for one, two in pairs)
        return self.learn(PairingResult(tuple(made)))

    def learn(self, news: CrawlEvent) -> Talk:
        return self.keep(self.guide.learn(news, FakeSite(*self.langs)))

    def questions(self) -> list[Pair | None]:
        return [
            pair if pair is None else (path_of(pair.left), path_of(pair.right))
            for pair in self.guide.questions()
        ]

    def close(self, url: Url) -> None:
        self.done.add(path_of(url))
        self.values.pop(path_of(url), None)

    def keep(self, ranked: Iterable[Ranked]) -> Talk:
        for link, priority, lowers in ranked:
            path = path_of(link.url)
            if path not in self.done:
                known = self.values.get(path, priority)
                self.values[path] = priority if lowers else max(priority, known)
        return self

    @property
    def next(self) -> str:
        """What would be fetched next: the highest value, then the order of discovery."""
        return max(self.values, key=lambda path: self.values[path])


@dataclass(frozen=True)
class Fake:
    """A page of a site of fakes; `text` is what copies have in common."""

    lang: str = ""
    links: tuple[str | Link, ...] = ()
    text: str = ""
    moved: str = ""
    """where it leads, if it is none"""


def page(lang: str, *targets: str | Link, text: str = "") -> Fake:
    return Fake(lang, targets, text)


@dataclass
class Web:
    """A site of fakes, and what its pages would be found to be."""

    pages: Mapping[str, Fake]
    pairs: Iterable[Pair] = ()
    undecided: Iterable[Pair] = ()
    aligned: Mapping[Pair, Sequence[Pair]] = field(default_factory=dict)
    content: Iterable[Pair] = ()
    """what pairing by content would find, of pages that are there"""

    def answer(self, question: PagePair | None, there: set[str]) -> CrawlEvent:
        if question is None:
            pairs = [pair for pair in self.content if there.issuperset(pair)]
            made = (PagePair(at(one), at(two), "en", "fr", 0.9, "content") for one, two in pairs)
            return PairingResult(tuple(made))
        pair = path_of(question.left), path_of(question.right)
        accept = pair in set(self.pairs)
        reason = "" if accept else "too_little_text" if pair in set(self.undecided) else "test"
        links = self.aligned.get(pair, ()) if reason != "test" else ()
        both = tuple((at(one), at(other)) for one, other in links)
        return VerifiedPair(question, Decision(accept, 0.99 if accept else 0.001, reason), both)


@dataclass
class Walk:
    """A whole crawl."""

    order: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    requested: list[Pair | None] = field(default_factory=list)
    found: list[Pair] = field(default_factory=list)
    outlooks: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    """the values of what was pending, summed up, after each download"""

    def place(self, path: str) -> int:
        return self.order.index(path)

    def apart(self, left: str, right: str) -> int:
        """How far apart two pages were fetched: 1 is together."""
        return abs(self.place(left) - self.place(right))


def walk(
    web: Web,
    policy: GuidedPolicy,
    *langs: str,
    start: str = "/",
    watch: Callable[[Talk], None] = lambda talk: None,
) -> Walk:
    """Crawl a site of fakes to its end; questions are answered at once."""
    asked = langs or ("en", "fr")
    talk, made = Talk(policy.guide(asked), asked), Walk()
    talk.values[start] = 1000.0
    there: set[str] = set()
    while talk.values:
        path = talk.next
        made.order.append(path)
        fake = web.pages.get(path)
        if fake is None:
            made.missed.append(path)
            talk.missing(path)
        elif fake.moved:
            talk.moved(path, fake.moved)
        else:
            there.add(path)
            talk.page(path, fake.lang, *fake.links, text=fake.text)
        while questions := talk.guide.questions():
            for question in questions:
                news = web.answer(question, there)
                made.requested.append(
                    question and (path_of(question.left), path_of(question.right))
                )
                if isinstance(news, VerifiedPair) and news.decision.accept:
                    made.found.append((path_of(news.pair.left), path_of(news.pair.right)))
                talk.learn(news)
        watch(talk)
        outlook = talk.guide.outlook()
        made.outlooks.append(outlook.left if outlook else 0.0)
        made.left.append(sum(talk.values.values()))
    return made
