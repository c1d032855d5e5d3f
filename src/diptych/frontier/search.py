"""The state machine of the search for bilingual sites (Algorithm 1 of Barbosa et al. 2011).

Like `frontier.crawl`, it opens no sockets and reads no clock, and an engine drives it in the same
way.  Several of the best leads are followed at a time.  To follow a lead, its page is fetched, and
a detector tests its site by requesting one or two more pages.  The links on the page become leads
if the policy follows them.  The whole state is in the store, so that a search can be resumed at any
point.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from diptych.frontier.admission import Admission
from diptych.frontier.hosts import Hosts
from diptych.frontier.leads import MAX_MOVES, Leads, Verdict
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim, Frontier
from diptych.frontier.retries import Retries, Stats
from diptych.frontier.scope import Anywhere
from diptych.frontier.visits import Visit, Visits
from diptych.page.answer import ReadAnswer
from diptych.protocols import Detector, DiscoverPolicy, SiteTest
from diptych.reason import Reason
from diptych.run.database import Transaction, in_transaction
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Example, Failure, Kind, Lead, Link, Page, Role, Url

SEED_SCORE = 2.0  # above all probabilities
_ROUNDS = 8  # rounds of starting leads before other work gets a turn
_MAX_FAILURES = 2  # failed leads after which a site is given up


class LinkQuery(NamedTuple):
    """A query to link sources for the back links of a site or the out links of a page."""

    url: Url
    lead: Lead | None = None
    """the lead to the page whose out links are requested; None to request back links of `url`"""
    site: int = 0
    source: int = 0
    """the lead through which the site was found"""


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget for a search; None means no limit."""

    downloads: int | None = None
    """number of responses, except to requests for robots.txt"""
    sites: int | None = None
    """number of bilingual sites"""
    seconds: float | None = None
    """duration of one invocation"""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The settings for a search."""

    politeness: Politeness
    limits: Limits = field(default_factory=Limits)
    budget: Budget = field(default_factory=Budget)
    width: int = 64
    """number of leads followed at a time"""


@dataclass(slots=True)
class _SearchStats(Stats):
    """Counts for a search so far, over all invocations."""

    robots: int = 0
    tested: int = 0
    found: int = 0


class Discovery:
    """The search for bilingual sites in one run, with one policy and one detector."""

    needs_sketches = False
    """pages are tested by their languages alone"""

    @staticmethod
    def validators(claim: Claim) -> None:
        """None: a search asks for each page once."""

    def __init__(
        self, store: Store, seeds: Sequence[Url], policy: DiscoverPolicy, detector: Detector,
        langs: Sequence[str], setting: SearchSettings, *, now: float,
    ) -> None:  # fmt: skip
        self.store = store
        self.langs = tuple(langs)
        self.frontier = Frontier(store.db)
        self.hosts = Hosts(store, self.frontier, setting.politeness)
        self.leads = Leads(store, once=policy.per_site == 1)
        self.stats = _SearchStats()
        self.new_verdicts: deque[Verdict] = deque()
        """verdicts not shown yet"""
        self._policy, self._detector, self._setting = policy, detector, setting
        self._retries = Retries(
            store, self.frontier, self.hosts, setting.politeness, setting.limits, self.stats
        )
        self._admission = Admission(store, self.hosts, Anywhere())
        self._visits = Visits(
            store, self.hosts, self.frontier, self._admission,
            redirects=setting.limits.redirects, arrived=self._arrived, ended=self._ended,
        )  # fmt: skip
        self._link_queries: deque[LinkQuery] = deque()
        self._looked_up: dict[int, str] = {}
        """leads whose links are being looked up, with their sites"""
        self._has_more = False
        """True if time ran out before all waiting leads were followed"""
        self._started_at = self._now = now
        with store.transaction():
            self._restore(seeds, now)

    # -- resuming ----------------------------------------------------------------------------

    def _restore(self, seeds: Sequence[Url], now: float) -> None:
        """Add the seeds as leads, and restore the state of an earlier invocation, if any."""
        counts, stats = Statistics(self.store), self.stats
        self.leads.follow_again()
        self.frontier.give_back_all()
        self.hosts.note_clock(now)
        stats.downloads, stats.robots = counts.downloads(), counts.robots_downloads()
        stats.pages = counts.pages()
        stats.tested, stats.found = self.leads.tested(), self.leads.found()
        self.store.db.execute("UPDATE hosts SET stopped = '', refusals = 0")
        leads = self.leads.from_links([Link(seed) for seed in seeds], Role.SEED)
        self.leads.add(leads, lambda these: [SEED_SCORE] * len(these), 0)
        self._ranking = self._policy.rank(self._examples())
        self._learned_at = stats.pages
        if self._policy.looks_back:
            self._link_queries.extend(
                LinkQuery(url, site=site, source=lead)
                for site, url, lead in self.leads.without_back_links()
            )
        for lead in self.leads.taken():
            self._start_lead(lead, now)

    # -- selecting URLs ----------------------------------------------------------------------

    @in_transaction
    def next(self, now: float, room: int) -> list[Claim]:
        """Select up to `room` URLs to fetch now."""
        granted: list[Claim] = []
        self._has_more = False
        self._now = now
        room = min(room, self._affordable(now))
        if room <= 0:
            return granted
        for _ in range(_ROUNDS):
            claims = self.frontier.claim(now, room - len(granted))
            granted.extend(claim for claim in claims if self._is_allowed(claim, now))
            if len(granted) >= room or (not claims and not self._start_leads(now)):
                return granted
        self._has_more = True  # many leads led to nothing: let other work have a turn
        return granted

    def _is_allowed(self, claim: Claim, now: float) -> bool:
        """Return True if robots.txt allows a claim; otherwise refuse or requeue the claim."""
        if claim.kind is Kind.ROBOTS:
            return True
        is_allowed = self.hosts.check_robots(claim, now)
        if is_allowed is False:
            visit = self._visits[self.hosts[claim.host].site.id]
            self._visits.miss(visit, claim.url, Reason.ROBOTS)
            self._visits.advance(visit)
        return bool(is_allowed)

    def _start_leads(self, now: float) -> bool:
        """Start as many of the best leads as there is room for; return True if any were started."""
        room = self._setting.width - len(self._visits) - len(self._looked_up)
        if room <= 0 or self.is_over(now):
            return False
        # Only one page of a site is followed at a time.
        busy = self._visits.sites() | set(self._looked_up.values())
        best = self.leads.waiting(room, busy)
        for lead in best:
            self.leads.take(lead)
            self._start_lead(lead, now)
        return bool(best)

    def _start_lead(self, lead: Lead, now: float) -> None:
        """Start following a lead by visiting its site or looking up its links.

        If the policy uses link sources, the links on a back-link page are looked up before the page
        is fetched.
        """
        if lead.role is Role.BACK and self._policy.looks_back:
            self._looked_up[lead.id] = lead.site
            self._link_queries.append(LinkQuery(lead.url, lead))
        else:
            self._start_visit(lead, now)

    def is_over(self, now: float) -> bool:
        """True if the budget is spent, so that no more work is started."""
        budget, stats = self._setting.budget, self.stats
        asked = stats.downloads - stats.robots
        return (
            (budget.downloads is not None and asked >= budget.downloads)
            or (budget.sites is not None and stats.found >= budget.sites)
            or (budget.seconds is not None and now - self._started_at >= budget.seconds)
        )

    def _affordable(self, now: float) -> int:
        """The number of downloads that may be started now within the budget."""
        if self.is_over(now):
            return 0
        most = self._setting.budget.downloads
        if most is None:
            return self._setting.width
        return most - (self.stats.downloads - self.stats.robots) - self.frontier.active

    def wake(self) -> float | None:
        """The time when `next` may return URLs again; None if nothing is queued or affordable.

        Any remaining work is resumed by the next invocation.
        """
        if self.is_over(self._now):
            return None
        return 0.0 if self._has_more else self.frontier.wake()

    def checkpoint(self, transaction: Transaction) -> None:
        """Commit `transaction` up to this point."""
        transaction.checkpoint()

    # -- link queries ------------------------------------------------------------------------

    def link_queries(self, now: float) -> list[LinkQuery]:
        """Return the new queries to link sources, whose answers must be passed to `answered`."""
        taken = list(self._link_queries)
        self._link_queries.clear()
        return taken

    @property
    def has_link_queries(self) -> bool:
        """True if there are new queries to link sources."""
        return bool(self._link_queries)

    @in_transaction
    def answered(
        self, query: LinkQuery, links: Sequence[Link] | Failure | None, now: float
    ) -> None:
        """Process the answer to a query; `links` is None if no source knows the page."""
        if query.lead is not None:
            self._looked_up.pop(query.lead.id, None)
        if query.lead is None:
            if not isinstance(links, Failure):  # otherwise the next invocation asks again
                self._add(links or (), Role.BACK, query.source)
                self.leads.mark_looked_up(query.site)
        elif links is None or isinstance(links, Failure):
            self._start_visit(query.lead, now)
        else:
            self._add(links, Role.FORWARD, query.lead.id)
            # DEVIATION(barbosa): a page whose links are known is not fetched, and so not tested;
            # its site is a lead like those it links to.
            self._add([Link(query.url)], Role.FORWARD, query.lead.source)
            self.leads.end(query.lead, None)

    # -- learning ----------------------------------------------------------------------------

    @property
    def is_learning_due(self) -> bool:
        """True if enough pages have been fetched since the last learning step."""
        every = self._policy.learns_every
        # With more data, one page changes less, and rescoring takes longer.
        since = self.stats.pages - self._learned_at
        return every > 0 and since >= max(every, self._learned_at // 10)

    @in_transaction
    def learn(self) -> None:
        """Learn from the outcomes of all leads so far, and rescore waiting leads."""
        self._learned_at = self.stats.pages
        self._ranking = self._policy.rank(self._examples())
        for leads in self.leads.all_waiting():
            self.leads.rescore(leads, self._ranking(leads))

    def _examples(self) -> list[Example]:
        return self.leads.examples() if self._policy.learns_every else []

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
        visit = self._visits[self.hosts[claim.host].site.id]
        reading, is_given_up = self._retries.record(claim, reading, now, pointer)
        is_robots = claim.kind is Kind.ROBOTS
        self.stats.robots += is_robots and reading.status > 0
        visit.downloads += not is_robots and reading.status > 0
        if reading.failure is not None:
            if is_given_up and not is_robots:
                self._visits.miss(visit, claim.url, reading.failure.reason)
        else:
            self._take(visit, claim, reading, now, pointer)
        self._visits.advance(visit)

    def _take(
        self, visit: Visit, claim: Claim, reading: ReadAnswer, now: float, pointer: Pointer | None
    ) -> None:
        redirect = url_key(reading.redirect) if reading.redirect is not None else None
        self.frontier.complete(claim, now, status=reading.status, redirect=redirect)
        if reading.robots is not None:
            self.hosts.save_robots(claim.host, reading.robots, now)
        elif reading.redirect is not None and claim.kind is Kind.PAGE:
            self._visits.move(visit, claim.url, reading.redirect, claim.hops)
        elif reading.page is not None and pointer is not None:
            self.store.save_page(visit.site.id, reading.page, pointer)
            self.stats.pages += 1
            self._visits.arrive(visit, claim.url, reading.page)
        else:
            self._visits.miss(visit, claim.url, Reason.UNREADABLE)

    # -- visits ------------------------------------------------------------------------------

    def _start_visit(self, lead: Lead, now: float) -> None:
        """Start visiting a lead's site, or end the lead if a visit would be useless."""
        known = self.leads.decided(lead.site)
        most = self._policy.per_site
        if known is not None and lead.role is Role.FORWARD and most == 1:
            self.leads.end(lead, float(known))
        elif most > 1 and self.leads.followed(lead.site) >= most:
            self.leads.end(lead, None)
        elif self.leads.failures(lead.site) >= _MAX_FAILURES or not self._admission.is_page(
            lead.url
        ):
            self.leads.end(lead, None, Reason.NOT_TRIED)
        else:
            site_test = self._detector.new_test(self.langs) if known is None else None
            self._visits.begin(lead, site_test, now)

    def _arrived(self, visit: Visit, page: Page) -> None:
        """Save those links on a lead's page that the policy follows; they become new leads."""
        self._add(self._policy.follow(page, visit.lead.role), Role.FORWARD, visit.lead.id)

    def _ended(self, visit: Visit) -> None:
        """End the lead of a finished visit, and save the verdict on its site if it was tested."""
        if visit.page is None:
            self.leads.end(visit.lead, None, visit.reason or Reason.LEAD_NOT_FETCHED)
            _, moves = self.leads.origin(visit.lead)
            if visit.moved_to is not None and moves < MAX_MOVES:  # continue there
                self._add([Link(visit.moved_to)], visit.lead.role, visit.lead.id)
            return
        is_bilingual = bool(self.leads.decided(visit.lead.site))
        if visit.site_test is not None:
            is_bilingual = self._decide(visit, visit.site_test)
        self.leads.end(visit.lead, self._policy.outcome(visit.page, is_bilingual=is_bilingual))

    def _decide(self, visit: Visit, site_test: SiteTest) -> bool:
        decision, id = site_test.decision(), visit.site.id
        pages = tuple((lang, url) for lang, url in site_test.pages())
        named, moves = self.leads.origin(visit.lead)
        named = named if moves else visit.lead.url
        verdict = Verdict(visit.lead.site, visit.start, decision, pages, visit.downloads, named)
        self.leads.decide(id, verdict, visit.lead.id, self.stats.downloads)
        self.stats.tested += 1
        self.stats.found += decision.accept
        self.new_verdicts.append(verdict)
        if decision.accept and self._policy.looks_back:
            self._link_queries.append(LinkQuery(visit.start, site=id, source=visit.lead.id))
        return decision.accept

    # -- leads -------------------------------------------------------------------------------

    def _add(self, links: Sequence[Link], role: Role, source: int) -> None:
        """Save links as leads with the given role, except links that cannot lead to pages.

        `source` is the id of the lead through which the links were found.
        """
        if may := [link for link in links if self._admission.is_page(link.url)]:
            self.leads.add(self.leads.from_links(may, role), self._ranking, source)
