"""The guides of a crawl: each guide ranks the URLs of one site, and learns from the outcomes.

Each observation of a guide is recorded in a journal.  From time to time, a snapshot of the guide's
memory replaces the journal.  A guide is removed from memory when its site has no work left.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from diptych.frontier.hosts import SiteInfo
from diptych.frontier.recall import PAGE, REFILL, SITEMAP, Observation, Recall, SiteGuide, maker
from diptych.frontier.sitemaps import page_of_part
from diptych.page.sitemaps import Sitemap
from diptych.protocols import CrawlPolicy, GuidedPolicy, SiteView
from diptych.run.encoding import write_event, write_links
from diptych.run.guide_memory import GuideMemory
from diptych.run.store import Store
from diptych.types import (
    CrawlEvent,
    Link,
    Missing,
    Moved,
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

# A snapshot replaces a journal with more links than both of these limits.  Replaying such a journal
# to a guide of 60,000 URLs takes up to 0.8 s, and a snapshot 0.25 s: bench/tasks/resume.py.
MIN_WORK = 20_000
WORK_PER_BYTE = 0.025  # of the last snapshot, which has about 20 bytes per URL


class PairQuestion(NamedTuple):
    """A guide's request to verify a pair or, if `pair` is None, to pair all pages of the site."""

    site: int
    pair: PagePair | None


class Guides:
    """The guides of all sites of a crawl; only a `GuidedPolicy` has guides."""

    def __init__(
        self,
        store: Store,
        policy: CrawlPolicy | GuidedPolicy,
        langs: Sequence[str],
        view: Callable[[SiteInfo], SiteView],
        may: Callable[[Url, str], bool],
    ) -> None:
        self._view = view
        self._policy: CrawlPolicy | None = None
        self._recall: Recall | None = None
        if isinstance(policy, GuidedPolicy):
            memory = GuideMemory(store, maker(policy, langs))
            self._recall = Recall(store, policy, langs, memory, view, may)
        else:
            self._policy = policy
        self._known: dict[int, SiteGuide] = {}
        self._released: dict[int, Outlook | None] = {}
        """the last outlooks of guides that have been removed from memory"""
        self._changed: dict[int, SiteGuide] = {}
        """guides with new observations since they were last asked for questions"""
        self._waiting: set[int] = set()
        """sites whose guides wait for an answer"""
        self.has_memory = self._recall is not None
        """True if guides observe events and have their memory saved"""

    def __len__(self) -> int:
        """The number of guides in memory."""
        return len(self._known)

    def warm_up(self) -> None:
        """Load the models before they are needed, by ranking sample pages."""
        if self._recall is not None:
            guide = self._recall.policy.guide(self._recall.langs)
            view = self._view(SiteInfo(0, Site("example.org", ())))
            for page in _warm_up_pages(self._recall.langs):
                deque(guide.rank(page, view), maxlen=0)

    def resume(self, sites: Iterable[SiteInfo]) -> set[int]:
        """Resume the guides of an earlier invocation.

        Guides with open questions are restored immediately, because these questions may be the only
        work left.  Other guides are restored on the next event.  Return the ids of the sites for
        which the policy has already been asked for more URLs.
        """
        if self._recall is None:
            return set()
        memory = self._recall.memory
        begun, idle, outlooks = memory.begun(), memory.idle(), memory.outlooks()
        for site in sites:
            if site.id in begun and site.id not in idle:
                self._guide_of(site, self._recall)
                continue
            if site.id not in begun and (site.pages or site.bytes):
                memory.begin_lost(site.id)
            if site.pages:  # without pages, no outlook is stored
                self._released[site.id] = outlooks.get(site.id)
        return memory.refilled()

    def outlook(self, site: SiteInfo) -> Outlook | None:
        """The numbers of pairs found and still expected on a site; None if there is no estimate."""
        if self._recall is None:
            return None
        if site.id in self._released:
            return self._released[site.id]
        return self._guide_of(site, self._recall).guide.outlook()

    # -- observations ------------------------------------------------------------------------

    def rank_page(self, site: SiteInfo, page: Page) -> Iterable[Ranked]:
        """Rank the links on a page."""
        if self._policy is not None:
            return self._policy.rank(page, self._view(site))
        return self._observe(site, page, PAGE, page.url)

    def rank_sitemap(
        self, site: SiteInfo, url: Url, sitemap: Sitemap, start: int
    ) -> Iterable[Ranked]:
        """Rank the URLs in the part of a sitemap that begins at the entry with index `start`."""
        page = page_of_part(url, sitemap, start)
        if self._policy is not None:
            return self._policy.rank(page, self._view(site))
        return self._observe(site, page, SITEMAP, f"{url} {write_links(page.links)}")

    def refill(self, site: SiteInfo) -> Iterable[Ranked]:
        """Rank more URLs for a site whose queue is empty."""
        if self._policy is not None:
            return self._policy.refill(self._view(site))
        return self._observe(site, None, REFILL, "")

    def learn(self, site: SiteInfo, event: CrawlEvent) -> Iterable[Ranked]:
        """Pass an event to the guide of a site, and return the links that the guide ranks."""
        return self._observe(site, event, *write_event(event)) if self.has_memory else ()

    def _observe(
        self, site: SiteInfo, observation: Observation, what: str, data: str
    ) -> Iterable[Ranked]:
        """Record an observation, pass it to the guide, and return the links that the guide ranks.

        `what` and `data` are the name and the content of the observation in the journal.
        """
        assert self._recall is not None
        # Before recording: a restored guide would observe it twice.
        url = observation.url if isinstance(observation, Page | Missing | Moved) else None
        known = self._changed[site.id] = self._guide_of(site, self._recall, but=url)
        self._recall.memory.note(site.id, what, data)
        self._recall.set_idle(known, False)  # until the guide is saved
        ranked = self._recall.tell(known, observation)
        if isinstance(observation, VerifiedPair | PairingResult) and not known.open_questions:
            self._waiting.discard(site.id)
        return ranked

    def set_refilled(self, site: SiteInfo, is_refilled: bool) -> None:
        """Record whether the policy has been asked for more URLs since a site's last event."""
        if self._recall is not None:
            self._recall.memory.set_refilled(site.id, is_refilled)

    # -- questions ---------------------------------------------------------------------------

    def questions(self, now: float) -> list[PairQuestion]:
        """Return the new questions of all guides; the wait for their answers begins at `now`."""
        taken: list[PairQuestion] = []
        for id, known in self._changed.items():
            known.new_questions.extend(known.guide.questions())
            if not known.open_questions:
                known.open_since = now
            taken.extend(PairQuestion(id, asked) for asked in known.new_questions)
            known.open_questions.extend(known.new_questions)
            known.new_questions.clear()
            if known.open_questions:
                self._waiting.add(id)
        self._changed.clear()
        return taken

    @property
    def waiting(self) -> bool:
        """True if any guide is waiting for an answer."""
        return bool(self._waiting)

    def waiting_time(self, site: SiteInfo, now: float) -> float:
        """How long a site's guide has been waiting for answers, in seconds.

        The time is 0 if the guide may have new questions, and infinity if it is not waiting.
        """
        known = self._known.get(site.id)
        if known is not None and known.open_questions:
            return now - known.open_since
        return 0.0 if site.id in self._changed else math.inf

    # -- memory ------------------------------------------------------------------------------

    def _guide_of(self, site: SiteInfo, recall: Recall, *, but: Url | None = None) -> SiteGuide:
        if site.id not in self._known:
            known = recall.guide(site, but=but)
            self._known[site.id] = self._changed[site.id] = known
            self._released.pop(site.id, None)
        return self._known[site.id]

    def save(self, sites: Iterable[SiteInfo], is_over: Callable[[SiteInfo], bool]) -> None:
        """Save guides whose journals have become long, and release the guides of finished sites.

        `is_over` returns True for a finished site.  Saving depends on counts rather than on time,
        so that identical crawls save their guides at the same points.
        """
        for site in sites:
            known = self._known.get(site.id)
            if known is None or self._recall is None:
                continue
            if is_over(site) and not known.is_asking:
                self.release(site)
            elif known.work > max(MIN_WORK, WORK_PER_BYTE * known.size):
                self._recall.save(known)
            else:
                self._recall.save_state(known)

    def release(self, site: SiteInfo) -> None:
        """Save a site's guide and the guide's outlook, and remove the guide from memory."""
        known = self._known.pop(site.id, None)
        if known is None or self._recall is None:
            return
        self._released[site.id] = known.guide.outlook()
        self._recall.save(known)
        self._changed.pop(site.id, None)
        self._waiting.discard(site.id)


def _warm_up_pages(langs: Sequence[str]) -> Iterable[Page]:
    """Yield two sample pages in different languages.

    The first page links to the second.  The second page has a link whose anchor text is the name of
    a language.
    """
    one, other = (Url(f"http://example.org/{lang}/news.html") for lang in (langs[0], langs[-1]))
    home = Link(Url("http://example.org/"), anchor="English")
    yield Page(PageRecord(one, langs[0], (), "", 0, 0, 0, "1"), (Link(other),), ())
    yield Page(PageRecord(other, langs[-1], (), "", 0, 0, 0, "2"), (home,), ())
