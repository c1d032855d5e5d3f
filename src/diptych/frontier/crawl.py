"""Crawl state machine: selects URLs, and processes pages, redirects, robots.txt and sitemaps.

The state machine opens no sockets and reads no clock.  An engine calls `next(now)`, fetches the
URLs, and calls `fetched` with each response.  The same two calls serve the live web and archives.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

from diptych.frontier.admission import Admission
from diptych.frontier.aliases import Aliases
from diptych.frontier.guides import Guides, PairQuestion
from diptych.frontier.hosts import HostInfo, Hosts, SiteInfo
from diptych.frontier.intake import Intake
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim, Frontier, State, Turn
from diptych.frontier.retries import Retries, Stats
from diptych.frontier.revisits import Revisits, Validators
from diptych.frontier.samples import Samples
from diptych.frontier.scope import Scope
from diptych.frontier.sitemaps import SitemapPart, SitemapQueue, alternates_of, end_of_part
from diptych.page.answer import NOT_MODIFIED, ReadAnswer
from diptych.page.robots import Robots
from diptych.page.sitemaps import Sitemap
from diptych.protocols import CrawlPolicy, GuidedPolicy
from diptych.reason import Reason, SiteEnd
from diptych.run.database import Transaction, in_transaction
from diptych.run.site_view import StoreView
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.urls import normalise, url_key
from diptych.types import CrawlEvent, Failure, Kind, Missing, Moved, Outlook, Page, Site, Url

MIN_CERTAIN_VALUE = 0.3  # pairs per download; below this it pays to wait for answers
MIN_WORTH = 0.2  # expected pairs of a page and its links; a site with such a page does not end
MAX_ANSWER_WAIT = 5.0  # seconds
SHORT_DELAY = 0.02  # seconds


class Crawl:
    """The crawl of all sites of a run with one crawl policy."""

    def __init__(
        self, store: Store, sites: Sequence[Site], scope: Scope, policy: CrawlPolicy | GuidedPolicy,
        langs: Sequence[str], *, politeness: Politeness, limits: Limits, now: float,
    ) -> None:  # fmt: skip
        self.store = store
        self.langs = tuple(langs)
        self.frontier = Frontier(store.db)
        self.hosts = Hosts(store, self.frontier, politeness)
        self.stats = Stats()
        self._scope = scope
        self._limits = limits
        self._retries = Retries(store, self.frontier, self.hosts, politeness, limits, self.stats)
        self._admission = Admission(store, self.hosts, scope)
        self.guides = Guides(store, policy, self.langs, self._view, self._admission.may_be_page_of)
        self._intake = Intake(self.frontier, scope, self._admission, self.guides, Aliases(store))
        self._empty: set[str] = set()
        self._samples = Samples(store, self.frontier)
        self._revisits = Revisits(store, self.frontier)
        self._sitemaps = SitemapQueue(store, self.frontier, self.hosts)
        self._touched: dict[int, SiteInfo] = {}
        """sites affected by any event since the last checkpoint"""
        self.now = now
        """the time of the last call of `next`"""
        with store.transaction():
            self.hosts.note_clock(now)
            for site in sites:
                self.hosts.add_site(site)
            self.hosts.restore(now)
            self.frontier.give_back_all()
            self._sitemaps.restore()
            counts = Statistics(store)
            self.stats.downloads, self.stats.pages = counts.downloads(), counts.pages()
            seeds = [seed for site in sites for seed in site.seeds]
            self.frontier.add([self._admission.entry(seed, 0, turn=Turn.SEED) for seed in seeds])
            refilled = self.guides.resume(self.hosts.sites.values())
            self._empty.update(
                name for name, site in self.hosts.sites.items() if site.id in refilled
            )

    @property
    def needs_sketches(self) -> bool:
        """True if the guides need page sketches, which must then be computed during parsing."""
        return self.guides.has_memory

    def validators(self, claim: Claim) -> Validators | None:
        """The validators to send with a request; None if it is not conditional."""
        return self._revisits.validators(claim)

    # -- selecting URLs ----------------------------------------------------------------------

    @in_transaction
    def next(self, now: float, room: int) -> list[Claim]:
        """Select up to `room` URLs to fetch now."""
        self.now = now
        granted: list[Claim] = []
        self.hosts.stop_overdue_sites(self._limits, now)
        self._sitemaps.take(now, partial(self._take_sitemap_part, now))
        while len(granted) < room:
            claims = self.frontier.claim(now, room - len(granted))
            granted.extend(claim for claim in claims if self._is_allowed(claim, now))
            is_over = self.frontier.active == 0 and self.wake() is None and not self.guides.waiting
            if not claims and not (is_over and self._refill()):
                break
        return granted

    def _is_allowed(self, claim: Claim, now: float) -> bool:
        """Return True if a claim may be fetched now; otherwise refuse or requeue it."""
        site = self.hosts[claim.host].site
        self.hosts.start(site, now)
        if claim.kind is Kind.ROBOTS:
            return self._is_worth_fetching(claim, site, now)
        end = site.exhausted(self._limits, now)
        if end is not None:
            self.frontier.give_back(claim, now + 0.5)
            if not site.in_flight:
                self.hosts.stop_site(site, end)
            return False
        is_allowed = self.hosts.check_robots(claim, now)
        if is_allowed is False:
            self._notify_guide(claim, Missing(claim.url, Reason.ROBOTS))
        if not is_allowed or not self._is_worth_fetching(claim, site, now):
            return False
        if claim.turn is Turn.PAGE and self._revisits.awaits_sitemap(site):
            self.frontier.give_back(claim, now + SHORT_DELAY)
            return False
        if claim.turn is Turn.PAGE and self._is_alias(claim, site, now):
            return False
        site.in_flight += claim.kind is Kind.PAGE
        return True

    def _is_alias(self, claim: Claim, site: SiteInfo, now: float) -> bool:
        return self._revisits.known(claim) is None and self._intake.is_alias(claim, site, now)

    def _is_worth_fetching(self, claim: Claim, site: SiteInfo, now: float) -> bool:
        """Return True if a claim is worth fetching now; otherwise return it to the queue.

        A claim must wait while a page of the site with a much higher priority is queued.  A claim
        with a low priority must also wait while the guide waits for answers.  Neither rule
        applies before the guide can estimate how many pairs remain.  The robots.txt and sitemaps of
        a host are given the priority of the host's best page.
        """
        if not self.guides.has_memory or claim.turn is Turn.SEED:
            return True
        value = claim.priority
        if claim.kind is not Kind.PAGE:
            value = self.frontier.best_priority([claim.host], now)
        outlook = self.guides.outlook(site)
        if outlook is None or math.isinf(value):
            return True
        best = max(value, self._best_priority(site, now))
        is_waiting = (
            value < MIN_CERTAIN_VALUE and self.guides.waiting_time(site, now) < MAX_ANSWER_WAIT
        )
        if is_waiting or value < best / 2:
            self.frontier.give_back(claim, now + SHORT_DELAY)
            return False
        return not self._is_over_for(claim, site, best, now)

    def _is_over_for(self, claim: Claim, site: SiteInfo, best: float, now: float) -> bool:
        """If the crawl of a site should end early, return the claim to the queue and return True.

        `best` is the highest priority of the site's pages.  The site is stopped only when no fetch
        or answer is pending and `_draw_sample` draws no further URL.
        """
        end = self._early_end(site, best)
        if end is None:
            return False
        self.frontier.give_back(claim, now + SHORT_DELAY)
        if site.in_flight or self.guides.waiting_time(site, now) < math.inf:
            return True
        later = self._best_priority(site, math.inf)
        if self._early_end(site, later) is not None and not self._draw_sample(site, end):
            self.hosts.stop_site(site, end)
        return True

    def _draw_sample(self, site: SiteInfo, end: SiteEnd) -> bool:
        """If `end` rests on an estimate, test it with a random URL; return True if one is drawn."""
        if end is not SiteEnd.ENOUGH:
            return False
        hosts = (info.id for info in self.hosts.of_site(site))
        return self._samples.draw(site.id, hosts, site.downloads, MIN_WORTH)

    def _early_end(self, site: SiteInfo, best: float) -> SiteEnd | None:
        """The reason to end a site's crawl early, or None; `best` is its highest page priority."""
        outlook, limits = self.guides.outlook(site), self._limits
        if outlook is None:
            return None
        if not outlook.found:  # no basis for an estimate
            is_spent = limits.share is not None and site.downloads >= outlook.budget
            return SiteEnd.NO_PAIRS if is_spent else None
        if limits.patience and best < 1.0 / limits.patience:
            return SiteEnd.UNLIKELY
        is_enough = limits.share is not None and outlook.most_missing <= 1.0 - limits.share
        return SiteEnd.ENOUGH if is_enough and best < MIN_WORTH else None

    def _best_priority(self, site: SiteInfo, now: float) -> float:
        return self.frontier.best_priority((info.id for info in self.hosts.of_site(site)), now)

    def _refill(self) -> bool:
        """Ask the policy, once per site until a new event, for more URLs; True if there are any."""
        added = False
        for name, site in self.hosts.sites.items():
            if name not in self._empty:
                depth = self.store.count("SELECT max(depth) FROM pages WHERE site = ?", site.id)
                ranked = list(self.guides.refill(site))
                self._set_refilled(site, True)
                added |= self._intake.queue(ranked, depth + 1, site)
                self.guides.save([site], self._is_over)  # not all guides stay in memory
        return added

    def _set_refilled(self, site: SiteInfo, is_refilled: bool) -> None:
        """Record whether the policy has been asked for more URLs since a site's last event."""
        if is_refilled != (site.site.name in self._empty):
            (self._empty.add if is_refilled else self._empty.discard)(site.site.name)
            self.guides.set_refilled(site, is_refilled)

    def wake(self) -> float | None:
        """The time when `next` may return URLs again; None if nothing is queued."""
        return 0.0 if self._sitemaps else self.frontier.wake()

    def outlook(self) -> Outlook | None:
        """The total numbers of pairs found and still expected; None if there is no estimate."""
        known = [self.guides.outlook(site) for site in self.hosts.sites.values() if site.pages]
        each = [outlook for outlook in known if outlook is not None]
        found, left = sum(one.found for one in each), sum(one.left for one in each)
        return Outlook(found, left) if each else None

    def pages_left(self) -> int | None:
        """The number of pages that the page limits still allow; None if there is no limit."""
        return self.hosts.pages_left(self._limits)

    def seconds_left(self, now: float) -> float | None:
        """The seconds until the last site reaches its time limit; None if there is no limit."""
        return self.hosts.seconds_left(self._limits, now)

    def checkpoint(self, transaction: Transaction) -> None:
        """Save the guides that are due to be saved, and commit `transaction` up to this point."""
        self._touched.update((site.id, site) for site in self.hosts.stopped_sites)
        self.guides.save(self._touched.values(), self._is_over)
        self._touched.clear()
        self.hosts.stopped_sites.clear()
        transaction.checkpoint()

    @in_transaction
    def finish(self, *, interrupted: bool) -> None:
        """Save the reason why each site's crawl ended, and the memory and outlook of its guide."""
        for site in self.hosts.sites.values():
            if site.end is None and (end := self._end_of(site, interrupted=interrupted)):
                self.hosts.end_site(site, end)
            self.guides.save([site], self._is_over)
            self.guides.release(site)
        self._intake.forget()
        self._revisits.keep_announced()

    def _is_over(self, site: SiteInfo) -> bool:
        """True if no URL of a site is queued or being fetched."""
        return not site.in_flight and not self.frontier.has_work(
            info.id for info in self.hosts.of_site(site)
        )

    def _end_of(self, site: SiteInfo, *, interrupted: bool) -> SiteEnd | None:
        """The reason why a site's crawl ended; None if no reason is known."""
        ids = [info.id for info in self.hosts.of_site(site)]
        left = [self.frontier.host(id) for id in ids if self.frontier.has_unfinished(id)]
        is_asked = not interrupted or site.site.name in self._empty
        if not left and is_asked:
            return SiteEnd.NOTHING_LEFT
        if interrupted and not (left and all(host.stopped for host in left)):
            return SiteEnd.INTERRUPTED
        return SiteEnd.HOSTS_STOPPED if any(host.stopped for host in left) else None

    # -- questions of guides -----------------------------------------------------------------

    def questions(self, now: float) -> list[PairQuestion]:
        """Return the guides' new questions, whose answers must be passed to `answered`."""
        return self.guides.questions(now)

    @in_transaction
    def answered(self, question: PairQuestion, event: CrawlEvent) -> None:
        """Process the answer to a guide's question."""
        site = self._touched[question.site] = self.hosts.site(question.site)
        if self._intake.queue(self.guides.learn(site, event), 1, site):
            self._set_refilled(site, False)

    def _notify_guide(self, claim: Claim, event: CrawlEvent) -> None:
        """Tell the guide that a URL is missing or has moved; queue the links the guide ranks."""
        if claim.kind is Kind.PAGE:
            site = self.hosts[claim.host].site
            self._touched[site.id] = site
            self._intake.queue(self.guides.learn(site, event), claim.depth + 1, site)

    # -- processing responses ----------------------------------------------------------------

    @in_transaction
    def fetched(
        self,
        claim: Claim,
        reading: ReadAnswer | Failure,
        now: float,
        pointer: Pointer | None = None,
    ) -> None:
        """Process `reading`: the response to a claim (archived at `pointer`) or a failure."""
        host = self.hosts[claim.host]
        self._touched[host.site.id] = host.site
        host.site.in_flight -= claim.kind is Kind.PAGE
        known = self._revisits.known(claim)
        reading, is_given_up = self._retries.record(claim, reading, now, pointer)
        if reading.failure is not None:
            if is_given_up:
                self._revisits.lose(claim, known, host.site, reading.failure.reason)
                if claim.kind is Kind.PAGE:  # its aliases may be pages themselves
                    self._intake.undo_alias_of(claim.url, host.site)
                self._notify_guide(claim, Missing(claim.url, reading.failure.reason))
        elif reading.robots is not None:
            self._take_robots(claim, reading.robots, reading.status, now)
        elif reading.status == NOT_MODIFIED:
            self._take_unchanged(claim, host, now)
        elif (target := reading.target) is not None:
            self._revisits.move(claim, known, host.site)
            self._take_redirect(claim, target, reading.status, now)
        elif reading.sitemap is not None:
            self._add_sitemaps(reading.sitemap.sitemaps, Turn.CHILD_SITEMAP)
            self._sitemaps.add(claim, host.site, reading.sitemap, reading.status)
        else:
            assert reading.page is not None, "a response with no other role must be a page"
            assert pointer is not None, "a fetched page must be stored in an archive"
            self.frontier.complete(claim, now, status=reading.status)
            self.stats.pages += known is None
            if self._revisits.save(reading.page, pointer, known, host.site):
                self._take_page(claim, host, reading.page)

    def _take_unchanged(self, claim: Claim, host: HostInfo, now: float) -> None:
        sitemap = self._revisits.unchanged_sitemap(claim)
        if sitemap is not None:
            self._sitemaps.add(claim, host.site, sitemap, NOT_MODIFIED)
        else:
            self.frontier.complete(claim, now, status=NOT_MODIFIED)
            self._revisits.see(claim, host.site, now)

    def _take_page(self, claim: Claim, host: HostInfo, page: Page) -> None:
        self._set_refilled(host.site, False)
        self._intake.learn_page(page, host)
        self._intake.queue(self.guides.rank_page(host.site, page), claim.depth + 1, host.site)
        if self.guides.has_memory:
            self._intake.save_refused_links(page, host.site, claim.depth + 1)

    def _take_redirect(self, claim: Claim, target: Url, status: int, now: float) -> None:
        if claim.hops >= self._limits.redirects:
            self.frontier.fail(claim, now, reason=Reason.TOO_MANY_REDIRECTS, status=status)
            self._notify_guide(claim, Missing(claim.url, Reason.TOO_MANY_REDIRECTS))
            return
        entry = self._admission.entry(target, claim.depth, claim.priority, turn=claim.turn)
        entry = entry._replace(hops=claim.hops + 1)
        if entry.state is State.OUTSIDE and claim.depth == 0 and claim.kind is Kind.PAGE:
            self.hosts.note_way_out(claim.url, target)
        self.frontier.add([entry])
        self.frontier.complete(claim, now, status=status, redirect=url_key(target))
        if claim.kind is Kind.PAGE:
            self._intake.learn_redirect(claim.url, target, self.hosts[claim.host])
        is_outside = entry.state is not State.QUEUED
        self._notify_guide(
            claim, Missing(claim.url, Reason.OUTSIDE) if is_outside else Moved(claim.url, target)
        )

    def _take_robots(self, claim: Claim, robots: Robots, status: int, now: float) -> None:
        self.frontier.complete(claim, now, status=status)
        sitemaps = self.hosts.save_robots(claim.host, robots, now)
        announced = sitemaps or [self.hosts[claim.host].origin + "/sitemap.xml"]
        self._add_sitemaps(announced, Turn.SITEMAP)

    def _add_sitemaps(self, urls: Iterable[str], turn: Turn) -> None:
        for text in urls:
            url = normalise(text)
            if url is None or self._scope.site_of(url) is None:
                continue
            entry = self._admission.entry(url, 0, turn=turn)
            site = self.hosts[entry.host].site
            if site.sitemaps < self._limits.sitemaps:
                site.sitemaps += 1
                self.frontier.add([entry])

    def _take_sitemap_part(self, now: float, part: SitemapPart, sitemap: Sitemap) -> None:
        site, start = part.site, part.start
        self._touched[site.id] = site
        self._intake.queue(self.guides.rank_sitemap(site, part.url, sitemap, start), 1, site)
        entries = sitemap.entries[start : end_of_part(sitemap, start)]
        self.store.announce(site.id, alternates_of(Sitemap(entries=entries)))
        self._revisits.read_sitemap(entries, site, now)

    # -- queueing ----------------------------------------------------------------------------

    def _view(self, site: SiteInfo) -> StoreView:
        return StoreView(self.store, site.site, site.id, self.langs)
