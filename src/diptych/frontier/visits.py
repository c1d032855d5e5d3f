"""Visits to sites during a search: a few pages are fetched to test whether a site is bilingual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from diptych.frontier.admission import Admission
from diptych.frontier.hosts import Hosts, SiteInfo
from diptych.frontier.queries import SQL
from diptych.frontier.queue import Frontier, Host, State
from diptych.protocols import SiteTest
from diptych.reason import Reason
from diptych.run.store import Store
from diptych.text.urls import origin_of, site_name, url_key
from diptych.types import Lead, Page, Role, Site, Url

_PRIORITY = 1.0


@dataclass(slots=True)
class Visit:
    """A visit that follows a lead, with a test of the lead's site if there is no verdict yet."""

    site: SiteInfo
    lead: Lead
    site_test: SiteTest | None
    start: Url
    """the URL at which the lead's page is requested"""
    pending: set[Url] = field(default_factory=set)
    page: Page | None = None
    """the lead's page"""
    asked: dict[Url, Url] = field(default_factory=dict)
    """target of a redirect -> URL that was requested"""
    downloads: int = 0
    reason: str = ""
    """the reason why the lead's page could not be fetched"""
    tried: set[Url] = field(default_factory=set)
    """URLs tried in place of a page that failed"""
    moved_to: Url | None = None
    """the URL on another site to which the lead redirects"""


@dataclass(slots=True, eq=False)
class Visits:
    """The visits in progress, by site id."""

    store: Store
    hosts: Hosts
    frontier: Frontier
    admission: Admission
    redirects: int
    """maximum number of redirects to follow for one page"""
    arrived: Callable[[Visit, Page], None]
    """called with the first page of a visit"""
    ended: Callable[[Visit], None]
    """called when a visit ends"""
    _visits: dict[int, Visit] = field(default_factory=dict)

    def __getitem__(self, site: int) -> Visit:
        return self._visits[site]

    def __len__(self) -> int:
        return len(self._visits)

    def sites(self) -> set[str]:
        """The names of the sites being visited."""
        return {visit.lead.site for visit in self._visits.values()}

    def begin(self, lead: Lead, site_test: SiteTest | None, now: float) -> None:
        """Start a visit: fetch a lead's page, and test its site unless `site_test` is None.

        Pages from earlier visits are not fetched again.
        """
        site = self.hosts.enter(Site(lead.site, (lead.url,)), now)
        assert site.id not in self._visits, f"{lead.site} is being visited"
        visit = self._visits[site.id] = Visit(site, lead, site_test, lead.url)
        self._request(visit, lead.url)
        self.advance(visit)

    def arrive(self, visit: Visit, url: Url, page: Page) -> None:
        """Process a page that was fetched during a visit; the first one is the lead's page."""
        visit.pending.discard(url)
        asked = visit.asked.pop(url, url)
        is_first = visit.page is None
        if is_first:
            visit.page, visit.start = page, asked
            self.arrived(visit, page)
        if visit.site_test is not None:
            visit.site_test.read(page)
            if asked != url and not is_first:  # the test waits for the other URL
                visit.site_test.miss(asked)

    def move(self, visit: Visit, url: Url, target: Url, hops: int) -> None:
        """Follow a redirect within the site; if that is not possible, treat the page as missing.

        `hops` is the number of redirects that led to `url`.
        """
        visit.pending.discard(url)
        is_own = site_name(target) == visit.lead.site
        if is_own and hops < self.redirects:
            visit.asked[target] = visit.asked.pop(url, url)
            self._request(visit, target, hops + 1)
            return
        if visit.page is None and not is_own:
            visit.moved_to = target
        self.miss(visit, url, Reason.TOO_MANY_REDIRECTS if is_own else Reason.MOVED)

    def miss(self, visit: Visit, url: Url, reason: str, *, is_unreachable: bool = False) -> None:
        """Handle a page that could not be fetched; if it is the lead's page, try a substitute."""
        visit.pending.discard(url)
        asked = visit.asked.pop(url, url)
        if visit.page is not None:
            if visit.site_test is not None:
                visit.site_test.miss(asked)
            return
        visit.reason = visit.reason or reason
        other = _other_scheme(url) if is_unreachable else _home(url, reason, visit.lead.role)
        if other is not None and other not in visit.tried:
            visit.tried.add(other)
            self._request(visit, other)

    def advance(self, visit: Visit) -> None:
        """Request the pages that the site test needs; end the visit when no more are needed."""
        while True:
            self._give_up_stopped(visit)
            if visit.pending:
                return
            test = visit.site_test if visit.page else None
            wanted = test.wanted_links() if test is not None else ()
            if not wanted:
                self._leave(visit)
                return
            for link in wanted:
                self._request(visit, link.url)

    def _give_up_stopped(self, visit: Visit) -> None:
        """Treat pending pages on stopped hosts as missing, including pages tried as substitutes."""
        while stopped := {
            url: host for url in sorted(visit.pending) if (host := self._host(visit, url)).stopped
        }:
            for url, host in stopped.items():
                self.miss(visit, url, host.stopped, is_unreachable=host.is_unreachable)

    def _host(self, visit: Visit, url: Url) -> Host:
        return self.frontier.host(self.hosts.of(url, visit.lead.site).id)

    def _leave(self, visit: Visit) -> None:
        if any(self.frontier.host(info.id).active for info in self.hosts.of_site(visit.site)):
            return  # a robots.txt is still being fetched
        del self._visits[visit.site.id]
        self.hosts.leave(visit.site)
        self.ended(visit)

    def _request(self, visit: Visit, url: Url, hops: int = 0) -> None:
        """Queue a page of the visited site; if its outcome is already known, process that instead.

        `hops` is the number of redirects that led to the page.
        """
        if site_name(url) != visit.lead.site:
            self.miss(visit, url, Reason.OUTSIDE)
            return
        row = self.store.db.execute(SQL["url_outcome"], (url_key(url),)).fetchone()
        state, reason, target = row or (State.QUEUED, "", None)
        page = self.store.page(url) if state == State.FETCHED else None
        if page is not None:
            self.arrive(visit, url, page)
        elif target is not None:
            self.move(visit, url, target, hops)
        elif state in (State.FETCHED, State.FAILED, State.REFUSED):
            self.miss(visit, url, reason or Reason.NOT_HTML)
        else:
            self._queue(visit, url, hops)

    def _queue(self, visit: Visit, url: Url, hops: int) -> None:
        entry = self.admission.entry(url, 0, _PRIORITY)
        if entry.state is not State.QUEUED:
            self.miss(visit, url, entry.reason)
            return
        visit.pending.add(url)
        self.frontier.add([entry._replace(hops=hops)])


def _other_scheme(url: Url) -> Url | None:
    """The http version of an https URL, to try if https is unreachable; None for an http URL.

    >>> _other_scheme(Url("https://a.org/x")), _other_scheme(Url("http://a.org/x"))
    ('http://a.org/x', None)
    """
    return Url("http:" + url.removeprefix("https:")) if url.startswith("https:") else None


def _home(url: Url, reason: str, role: Role) -> Url | None:
    """The home page to try if a lead's page has failed; None if it is not worth trying.

    >>> _home(Url("http://a.org/old.html"), "http_404", Role.FORWARD)
    'http://a.org/'
    """
    home = Url(origin_of(url) + "/")
    # A link to a page that is gone still identifies its site.
    return home if role is Role.FORWARD and url != home and reason != Reason.MOVED else None
