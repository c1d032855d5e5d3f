"""Restore guides from snapshots and journals, or rebuild them from the history of their sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from diptych.files import parser_errors
from diptych.frontier.hosts import SiteInfo
from diptych.frontier.queue import State
from diptych.frontier.sitemaps import end_of_part, page_of_links, page_of_part, read_again
from diptych.protocols import Guide, GuidedPolicy, SiteView
from diptych.reason import Reason
from diptych.run.encoding import (
    read_event,
    read_links,
    read_pair,
    read_snapshot,
    write_pair,
    write_snapshot,
)
from diptych.run.guide_memory import GuideMemory, OpenSitemaps, UrlPast
from diptych.run.store import Store
from diptych.text.urls import url_key
from diptych.types import (
    CrawlEvent,
    Kind,
    Missing,
    Moved,
    Outlook,
    Page,
    PagePair,
    PairingResult,
    Ranked,
    Url,
    VerifiedPair,
)

PAGE, SITEMAP, REFILL = "page", "sitemap", "refill"
"""names, in the journal, of observations other than events"""
FORMAT = 1  # of snapshots with their questions, and of the journal
ENTRY_WORK = 200  # cost of a journal entry without links, in links

Observation = Page | CrawlEvent | None
"""an observation by a guide: a page, an event, or None if the queue is empty"""


@dataclass(slots=True)
class SiteGuide:
    """The guide of one site, with its unanswered questions and data on its last snapshot."""

    site: SiteInfo
    guide: Guide
    new_questions: list[PagePair | None] = field(default_factory=list)
    """questions that have not been passed on yet"""
    open_questions: list[PagePair | None] = field(default_factory=list)
    """questions that have been passed on, but not answered yet"""
    has_failed: bool = False
    """True if pages could not be paired; the next invocation tries again"""
    open_since: float = 0.0
    """time when the first open question was passed on"""
    work: int = 0
    """cost, in links, of replaying the journal since the last snapshot"""
    size: int = 0
    """size of the last snapshot in bytes"""
    was_idle: bool | None = None
    """the last value of `is_idle` that this process saved; None if it has saved none"""
    old_outlook: Outlook | None = None
    """the last outlook that was saved"""

    @property
    def is_asking(self) -> bool:
        """True if the guide has unanswered questions."""
        self.new_questions.extend(self.guide.questions())
        return bool(self.open_questions or self.new_questions)

    @property
    def is_idle(self) -> bool:
        """True if no question is open; the guide need not be restored before the next event."""
        return not (self.is_asking or self.has_failed)

    def take_answer(self, event: CrawlEvent) -> None:
        """Remove the question, if any, that an event answers."""
        if isinstance(event, PairingResult):
            self.has_failed = event.pairs is None
        for questions in (self.open_questions, self.new_questions):
            for place, pair in enumerate(questions):
                if is_answer(event, pair):
                    del questions[place]
                    return

    def snapshot(self) -> bytes | None:
        """Encode the guide's memory and unanswered questions; None if the result is too large."""
        self.new_questions.extend(self.guide.questions())
        asked = [*self.open_questions, *self.new_questions, *([None] if self.has_failed else ())]
        rows = [write_pair(pair) if pair else None for pair in asked]
        return write_snapshot([self.guide.snapshot(), rows])


def is_answer(event: CrawlEvent, pair: PagePair | None) -> bool:
    """True if an event answers a guide's question.

    The guide has asked for `pair` to be verified or, if `pair` is None, for all pages of the site
    to be paired.
    """
    if pair is None or not isinstance(event, VerifiedPair):
        return pair is None and isinstance(event, PairingResult)
    return (event.pair.left, event.pair.right) == (pair.left, pair.right)


def links_of(observation: Observation) -> int:
    """The number of links in an observation."""
    if isinstance(observation, Page | VerifiedPair):
        return len(observation.links)
    return 0


def maker(policy: GuidedPolicy, langs: Sequence[str]) -> str:
    """Return an identifier composed of the snapshot format, the policy and the languages.

    A snapshot can be restored only by a crawl with the same identifier.
    """
    return f"{FORMAT} {type(policy).__module__} {policy!r} {' '.join(langs)}"


@dataclass(frozen=True, slots=True)
class Recall:
    """Creates, restores and saves the guides of a crawl, and passes observations to them."""

    store: Store
    policy: GuidedPolicy
    langs: Sequence[str]
    memory: GuideMemory
    view: Callable[[SiteInfo], SiteView]
    may_be_page: Callable[[Url, str], bool]

    def tell(self, known: SiteGuide, observation: Observation) -> Iterable[Ranked]:
        """Pass an observation to a guide, and return the links that the guide ranks."""
        view = self.view(known.site)
        known.work += ENTRY_WORK + links_of(observation)
        if observation is None:
            return known.guide.refill(view)
        if isinstance(observation, Page):
            return known.guide.rank(self.with_allowed_links(observation, known.site), view)
        known.take_answer(observation)
        return known.guide.learn(observation, view)

    def with_allowed_links(self, page: Page, site: SiteInfo) -> Page:
        """Return the page without the links that cannot lead to pages of the site.

        A guide waits for every link that it sees, so it must not see links that are never fetched.
        """
        name = site.site.name
        return replace(
            page, links=tuple(link for link in page.links if self.may_be_page(link.url, name))
        )

    def guide(self, site: SiteInfo, *, but: Url | None = None) -> SiteGuide:
        """Return the guide of a site, restored from its past observations if there are any.

        If the guide has to be rebuilt, the page `but` is left out: the guide will observe it next.
        """
        data = self.memory.snapshot(site.id)
        known = self._restored(site, data) if data is not None else None
        if known is not None:
            return known
        if self.memory.is_begun(site.id):  # by another version, or damaged
            return self.rebuilt(site, but=but)
        self.memory.begin(site.id)
        return SiteGuide(site, self.policy.guide(self.langs))

    # -- from its snapshot -------------------------------------------------------------------

    def _restored(self, site: SiteInfo, data: bytes) -> SiteGuide | None:
        """Restore a guide from its snapshot and journal; None if either of them is damaged."""
        rows = self.memory.journal(site.id)
        try:
            known = self._read(site, data)
            journal = [self._observation(*row) for row in rows]
        except parser_errors():
            return None
        for observation in journal:
            for _ in self.tell(known, observation):
                pass  # the links are in the frontier already
            known.new_questions.extend(known.guide.questions())
        if known.has_failed:
            known.new_questions.append(None)
            known.has_failed = False
        return known

    def _read(self, site: SiteInfo, data: bytes) -> SiteGuide:
        if not data:
            return SiteGuide(site, self.policy.guide(self.langs))
        snapshot, rows = read_snapshot(data)
        questions = [read_pair(row) if row is not None else None for row in rows]
        guide = self.policy.restored(self.langs, snapshot)
        return SiteGuide(site, guide, questions, size=len(data))

    def _observation(self, what: str, data: str) -> Observation:
        if what == REFILL:
            return None
        if what == SITEMAP:
            url, _, text = data.partition(" ")
            links = tuple(read_links(text))
            if any(not isinstance(part, str) for link in links for part in link):
                raise ValueError("a link is not a string")
            return page_of_links(Url(url), links)
        if what != PAGE:
            return read_event(what, data)
        page = self._page(Url(data))
        if page is None:
            raise ValueError(f"no page {data}")
        return page

    def _page(self, url: Url) -> Page | None:
        """Load a page and its sketch from the store; None if the page is not stored."""
        page = self.store.page(url)
        return replace(page, sketch=self.store.sketch(url)) if page else None

    # -- from the history of its site --------------------------------------------------------

    def rebuilt(self, site: SiteInfo, *, but: Url | None = None) -> SiteGuide:
        """Rebuild a guide by replaying everything that the store knows about its site, in order.

        The guide's questions are answered from stored decisions.  The page `but` is left out.
        """
        known = SiteGuide(site, self.policy.guide(self.langs))
        decided = {
            (event.pair.left, event.pair.right): event for event in self.memory.decisions(site.id)
        }
        ranked: set[Url] = set()
        for observation in self._history(site, but):
            self._tell_again(known, observation, decided, ranked)
        while decided:
            self._tell_again(known, decided.pop(next(iter(decided))), decided, ranked)
        # Pages are paired only once, for the last request.
        asked = [pair for pair in known.new_questions if pair is not None]
        known.new_questions = [*asked, *([None] if None in known.new_questions else ())]
        self.save(known)
        return known

    def _tell_again(
        self, known: SiteGuide, observation: Observation,
        decided: dict[tuple[Url, Url], VerifiedPair], ranked: set[Url],
    ) -> None:  # fmt: skip
        """Replay an observation, then the refusals, aliases and decisions that it leads to.

        `decided` contains the stored decisions that have not been replayed yet.  `ranked` contains
        the URLs that the guide has ranked so far.  Both are updated.
        """
        told: list[Observation] = [observation]
        while told:
            for link, _, _ in list(self.tell(known, told.pop(0))):
                if link.url not in ranked:
                    ranked.add(link.url)
                    if reason := self.memory.refusal(link.url):
                        told.append(Missing(link.url, reason))
                    elif (target := self.memory.alias_of(link.url)) is not None:
                        told.append(Moved(link.url, target))
            for pair in known.guide.questions():
                event = decided.pop((pair.left, pair.right), None) if pair else None
                if event is not None:
                    told.append(event)
                else:
                    known.new_questions.append(pair)

    def _history(self, site: SiteInfo, but: Url | None) -> Iterator[Observation]:
        """Yield the outcomes of all URLs of a site as observations, except the page `but`."""
        starts = OpenSitemaps(self.store).starts()
        for past in self.memory.history(site.id):
            if past.kind is Kind.SITEMAP:
                yield from self._parts(past, starts.get(url_key(past.url)))
            elif past.kind is Kind.PAGE and past.url != but:
                yield from self._page_past(past)

    def _page_past(self, past: UrlPast) -> Iterator[Observation]:
        if past.is_page:
            page = self._page(past.url)
            if page is not None:
                yield page
        elif past.target is not None and past.target_state in (State.REFUSED, State.OUTSIDE):
            yield Missing(past.url, Reason.OUTSIDE)
        elif past.target is not None:
            yield Moved(past.url, past.target)
        elif past.state in (State.FAILED, State.REFUSED):
            yield Missing(past.url, past.reason)

    def _parts(self, past: UrlPast, end: int | None) -> Iterator[Page]:
        """Yield, in the form of pages, the parts of a sitemap that have already been processed.

        `past` is what is stored about the sitemap's URL.  `end` is the number of entries processed
        so far; None means all entries.
        """
        is_read = past.state == State.FETCHED and past.target is None
        sitemap = read_again(self.store, past.url) if is_read or end else None
        if sitemap is None:
            return
        start, last = 0, len(sitemap.entries) if end is None else min(end, len(sitemap.entries))
        while start < last:
            yield page_of_part(past.url, sitemap, start)
            start = end_of_part(sitemap, start)

    # -- saving ------------------------------------------------------------------------------

    def save(self, known: SiteGuide) -> None:
        """Save a snapshot of a guide, which replaces the guide's journal.

        If the snapshot is too large, the previous snapshot and the journal are kept.
        """
        data = known.snapshot()
        with self.store.transaction():
            self.save_state(known)
            if data is not None:
                self.memory.save(known.site.id, data)
                known.size = len(data)
        known.work = 0

    def save_state(self, known: SiteGuide) -> None:
        """Save a guide's outlook, and record whether the guide is idle."""
        outlook = known.guide.outlook()
        if outlook is not None and outlook != known.old_outlook and known.site.pages:
            self.store.save_outlook(known.site.id, outlook)
            known.old_outlook = outlook
        self.set_idle(known, known.is_idle)

    def set_idle(self, known: SiteGuide, is_idle: bool) -> None:
        """Record whether a guide is idle, i.e. has no unanswered questions."""
        if is_idle is not known.was_idle:
            self.memory.set_idle(known.site.id, is_idle)
            known.was_idle = is_idle
