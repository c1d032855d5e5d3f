"""Guides of a crawl, one for each site: their questions, events, and replay on resume.

All that a guide observes is saved as events, so that a crawl that was killed goes on with a guide
that knows the same: the events are replayed to it, in the same order.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from diptych.frontier.hosts import SiteInfo
from diptych.page.answer import read_answer
from diptych.page.sitemaps import Sitemap
from diptych.protocols import CrawlPolicy, Guide, GuidedPolicy, SiteView
from diptych.run.encoding import read_event, write_event
from diptych.run.store import Store
from diptych.text.urls import normalise
from diptych.types import (
    CrawlEvent,
    Kind,
    Link,
    Outlook,
    Page,
    PagePair,
    PageRecord,
    PairingResult,
    Ranked,
    Site,
    Url,
    VerifiedPair,
)

PAGE, SITEMAP = "page", "sitemap"
SITEMAP_PART = 30  # entries of a sitemap that are ranked at a time: the crawl goes on meanwhile
_MAX_PART_LINKS = 4 * SITEMAP_PART  # with the translations they announce


class PairQuestion(NamedTuple):
    """A question of a guide: verify this pair or, if pair is None, pair all pages of the site."""

    site: int
    pair: PagePair | None


@dataclass(frozen=True, slots=True)
class _PolicyAsGuide:
    """A policy without memory as a guide: it learns nothing and has no questions."""

    policy: CrawlPolicy

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        return self.policy.rank(page, site)

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        return self.policy.refill(site)

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        return ()

    def questions(self) -> Sequence[PagePair | None]:
        return ()

    def outlook(self) -> Outlook | None:
        return None


@dataclass(slots=True)
class _SiteGuide:
    """One site and its guide."""

    site: SiteInfo
    guide: Guide
    new_questions: list[PagePair | None] = field(default_factory=list)
    """questions that were not taken up yet"""
    open_questions: int = 0
    """questions that were taken up and are not answered yet"""
    open_since: float = 0.0
    """when the first of them was taken up"""


class Guides:
    """The guides of all sites of a crawl."""

    def __init__(
        self,
        store: Store,
        policy: CrawlPolicy | GuidedPolicy,
        langs: Sequence[str],
        view: Callable[[SiteInfo], SiteView],
        may: Callable[[Url, str], bool],
    ) -> None:
        self._store = store
        self._policy = policy
        self._langs = langs
        self._view = view
        self._may_be_page = may
        self._known: dict[int, _SiteGuide] = {}
        self._changed: dict[int, _SiteGuide] = {}
        """guides that observed something since they were last asked for their questions"""
        self._waiting: set[int] = set()
        """sites whose guides wait for an answer"""
        self._last_sitemap: tuple[str, Sitemap | None] = ("", None)
        self.has_memory = isinstance(policy, GuidedPolicy)
        """True if guides observe events, and these are saved"""

    def warm_up(self) -> None:
        """Load the models, which are loaded on first use: a guide of no site ranks some pages."""
        if isinstance(self._policy, GuidedPolicy):
            guide = self._policy.guide(self._langs)
            view = self._view(SiteInfo(0, Site("example.org", ())))
            for page in _warm_up_pages(self._langs):
                deque(guide.rank(page, view), maxlen=0)

    def resume(self, sites: Iterable[SiteInfo]) -> None:
        """Take up the crawls of an earlier invocation: open questions of guides come first.

        It may be all that is left of a crawl.
        """
        rows = self._store.db.execute("SELECT DISTINCT site FROM events").fetchall()
        begun = {id for (id,) in rows} if self.has_memory else set()
        for site in sites:
            if site.id in begun:
                self._guide_of(site)

    def outlook(self, site: SiteInfo) -> Outlook | None:
        """The pairs found and still expected in a site; None if its guide makes no estimate."""
        return self._guide_of(site).guide.outlook()

    def rank_page(self, site: SiteInfo, page: Page) -> Iterable[Ranked]:
        """Rank the links of a page."""
        self._save_event(site, PAGE, page.url)
        return self._guide_of(site).guide.rank(
            self._with_allowed_links(page, site), self._view(site)
        )

    def rank_sitemap(
        self, site: SiteInfo, url: Url, sitemap: Sitemap, start: int
    ) -> Iterable[Ranked]:
        """Rank the URLs of a part of a sitemap, as links of an empty page."""
        self._save_event(site, SITEMAP, f"{start} {url}")
        page = self._with_allowed_links(_page_of_part(url, sitemap, start), site)
        return self._guide_of(site).guide.rank(page, self._view(site))

    def learn(self, site: SiteInfo, event: CrawlEvent) -> Iterable[Ranked]:
        """Rank links after any other event."""
        if not self.has_memory:
            return ()
        if event != PairingResult(None):  # a run that goes on asks again
            self._save_event(site, *write_event(event))
        known = self._changed[site.id] = self._guide_of(site)
        if isinstance(event, VerifiedPair | PairingResult):
            known.open_questions -= 1
            if known.open_questions <= 0:
                self._waiting.discard(site.id)
        return known.guide.learn(event, self._view(site))

    def _with_allowed_links(self, page: Page, site: SiteInfo) -> Page:
        """The page with only the links that may be fetched: a guide waits for all of them."""
        if not self.has_memory:
            return page
        name = site.site.name
        return replace(
            page, links=tuple(link for link in page.links if self._may_be_page(link.url, name))
        )

    def refill(self, site: SiteInfo) -> Iterable[Ranked]:
        """Rank more URLs when the queue of a site is empty."""
        known = self._changed[site.id] = self._guide_of(site)
        return known.guide.refill(self._view(site))

    def questions(self, now: float) -> list[PairQuestion]:
        """The questions of guides since the last call."""
        if not self.has_memory:
            return []
        taken: list[PairQuestion] = []
        for id, known in self._changed.items():
            known.new_questions.extend(known.guide.questions())
            if not known.open_questions:
                known.open_since = now
            taken.extend(PairQuestion(id, asked) for asked in known.new_questions)
            known.open_questions += len(known.new_questions)
            known.new_questions.clear()
            if known.open_questions > 0:
                self._waiting.add(id)
        self._changed.clear()
        return taken

    @property
    def waiting(self) -> bool:
        """True if any guide waits for an answer."""
        return bool(self._waiting)

    def waiting_time(self, site: SiteInfo, now: float) -> float:
        """Seconds that a guide has waited for answers; infinite if it waits for none."""
        known = self._guide_of(site)
        if known.open_questions:
            return now - known.open_since
        return 0.0 if site.id in self._changed and self.has_memory else math.inf

    def _guide_of(self, site: SiteInfo) -> _SiteGuide:
        if site.id not in self._known:
            if isinstance(self._policy, GuidedPolicy):
                known = _SiteGuide(site, self._policy.guide(self._langs))
                self._replay_events(known)
            else:
                known = _SiteGuide(site, _PolicyAsGuide(self._policy))
            self._known[site.id] = self._changed[site.id] = known
        return self._known[site.id]

    # -- memory ------------------------------------------------------------------------------

    def _save_event(self, site: SiteInfo, what: str, data: str) -> None:
        if self.has_memory:
            # Before the event is saved: a new guide would observe it twice.
            self._changed[site.id] = self._guide_of(site)
            self._store.db.execute(
                "INSERT INTO events (site, what, data) VALUES (?, ?, ?)", (site.id, what, data)
            )

    def _replay_events(self, known: _SiteGuide) -> None:
        """Replay all events to a new guide; the URLs it ranks are in the frontier already."""
        view = self._view(known.site)
        asked: list[PagePair | None] = []
        answered: list[CrawlEvent] = []
        for what, data in self._store.events(known.site.id):
            if what in (PAGE, SITEMAP):
                page = self._page(what, data)
                ranked = (
                    known.guide.rank(self._with_allowed_links(page, known.site), view)
                    if page
                    else ()
                )
            else:
                event = read_event(what, data)
                answered.append(event)
                ranked = known.guide.learn(event, view)
            deque(ranked, maxlen=0)
            asked.extend(known.guide.questions())
        known.new_questions = _unanswered(asked, answered)

    def _page(self, what: str, data: str) -> Page | None:
        if what == PAGE:
            return self._store.page(Url(data))
        start, _, url = data.partition(" ")
        if url != self._last_sitemap[0]:
            response = self._store.answer(Url(url))
            self._last_sitemap = (
                url,
                read_answer(Kind.SITEMAP, response).sitemap if response else None,
            )
        sitemap = self._last_sitemap[1]
        return _page_of_part(Url(url), sitemap, int(start)) if sitemap is not None else None


def _warm_up_pages(langs: Sequence[str]) -> Iterable[Page]:
    """Pages of two languages: one links to its translation, one names a language."""
    one, other = (Url(f"http://example.org/{lang}/news.html") for lang in (langs[0], langs[-1]))
    home = Link(Url("http://example.org/"), anchor="English")
    yield Page(PageRecord(one, langs[0], (), "", 0, 0, 0, "1"), (Link(other),), ())
    yield Page(PageRecord(other, langs[-1], (), "", 0, 0, 0, "2"), (home,), ())


def _unanswered(
    asked: Iterable[PagePair | None], answers: Iterable[CrawlEvent]
) -> list[PagePair | None]:
    """Questions without an answer."""
    answered: Counter[tuple[Url, Url] | None] = Counter()
    for event in answers:
        if isinstance(event, VerifiedPair):
            answered[event.pair.left, event.pair.right] += 1
        elif isinstance(event, PairingResult):
            answered[None] += 1
    left: list[PagePair | None] = []
    for pair in asked:
        key = (pair.left, pair.right) if pair is not None else None
        if answered[key]:
            answered[key] -= 1
        else:
            left.append(pair)
    return left


def end_of_part(sitemap: Sitemap, start: int) -> int:
    """The end of the part of a sitemap that begins at an entry.

    >>> from diptych.page.sitemaps import SitemapEntry
    >>> end_of_part(Sitemap(entries=(SitemapEntry("http://a.org/"),) * 50), 30)
    50
    """
    end, links = start, 0
    while end < min(len(sitemap.entries), start + SITEMAP_PART) and links < _MAX_PART_LINKS:
        links += 1 + len(sitemap.entries[end].alternates)
        end += 1
    return end


def alternates_of(sitemap: Sitemap) -> list[tuple[Url, Link]]:
    """The translations that a sitemap announces, as (page, link)."""
    return [
        (url, Link(target, rel="alternate", hreflang=hreflang))
        for item in sitemap.entries
        if (url := normalise(item.url)) is not None
        for hreflang, other in item.alternates
        if (target := normalise(other)) is not None
    ]


def _page_of_part(url: Url, sitemap: Sitemap, start: int) -> Page:
    """A part of a sitemap as a page without text: behind each URL the translations announced."""
    links: list[Link] = []
    for item in sitemap.entries[start : end_of_part(sitemap, start)]:
        target = normalise(item.url)
        if target is not None:
            links.append(Link(target, rel="sitemap"))
            links.extend(link for _, link in alternates_of(Sitemap(entries=(item,))))
    return Page(PageRecord(url, "", (), "", 0, 0, 0, ""), tuple(links), ())
