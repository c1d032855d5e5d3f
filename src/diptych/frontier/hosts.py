"""The hosts and sites of a crawl: robots.txt cache, Crawl-delay, and limits per site."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queries import SQL
from diptych.frontier.queue import Claim, Entry, Frontier, Host, Turn
from diptych.page.robots import Robots
from diptych.reason import Reason, SiteEnd
from diptych.run.store import Store
from diptych.run.updates import Updates
from diptych.text.caches import LastingMap
from diptych.text.urls import host_of, origin_of, url_key
from diptych.types import Site, Url

if TYPE_CHECKING:
    from protego import Protego

LONG_DELAY = 3.0  # seconds; a crawl is not restarted sooner
SLOW_DELAY = 10.0  # seconds between requests; above this, users are told how long a site takes
MAX_NOTES = 1_000_000  # characters of notes per invocation; the facts are in the store
MAX_RULES = 64_000_000  # bytes of parsed robots.txt rules
RULES_SIZE = 20  # bytes per character, measured with rules of one path each
ROBOTS_LIFETIME = 86_400.0  # seconds; RFC 9309, 2.4: no longer than a day


@dataclass(slots=True)
class SiteInfo:
    """A site, the state of its crawl, and the numbers of pages, downloads and bytes so far."""

    id: int
    site: Site
    pages: int = 0
    visited: int = 0
    """pages that count towards the limit: those asked for in this crawl or update"""
    downloads: int = 0
    bytes: int = 0
    in_flight: int = 0
    sitemaps: int = 0
    started_at: float | None = None
    end: SiteEnd | None = None
    """the reason why the site's crawl ended; None if it has not ended"""

    def exhausted(self, limits: Limits, now: float) -> SiteEnd | None:
        """The limit that the site has reached; None if it has reached no limit.

        Pages that are being fetched count as fetched.
        """
        if limits.max_pages is not None and self.visited + self.in_flight >= limits.max_pages:
            return SiteEnd.PAGE_LIMIT
        if limits.max_bytes is not None and self.bytes >= limits.max_bytes:
            return SiteEnd.BYTE_LIMIT
        seconds = now - self.started_at if self.started_at is not None else 0.0
        if limits.max_seconds is not None and seconds >= limits.max_seconds:
            return SiteEnd.TIME_LIMIT
        return None


@dataclass(slots=True)
class HostInfo:
    """A host, the time its robots.txt was fetched, and its count of consecutive refusals."""

    id: int
    origin: str
    site: SiteInfo
    robots_at: float | None = None
    """time when the host's robots.txt was fetched; None if robots.txt is unknown"""
    refusals: int = 0


def _is_old(robots_at: float, now: float) -> bool:
    """True if a robots.txt was fetched too long ago, or if the clock has been set back since.

    >>> _is_old(1_000_000.0, 1_000_600.0), _is_old(1_000_000.0, 1_090_000.0), _is_old(1e9, 1e6)
    (False, True, True)
    """
    return abs(now - robots_at) > ROBOTS_LIFETIME


class Hosts:
    """The hosts and sites of a crawl, with their robots.txt rules and notes for the user.

    The frontier keeps the schedule of the hosts, and the store keeps their history.
    """

    def __init__(self, store: Store, frontier: Frontier, politeness: Politeness) -> None:
        self._store = store
        self._frontier = frontier
        self._politeness = politeness
        self._by_origin: dict[str, HostInfo] = {}
        self._by_id: dict[int, HostInfo] = {}
        self._by_site: dict[int, list[HostInfo]] = {}
        self._site_by_id: dict[int, SiteInfo] = {}
        self._started: deque[SiteInfo] = deque()
        """sites in the order in which they started, so that their time runs out in this order"""
        self.sites: dict[str, SiteInfo] = {}
        self.stopped_sites: list[SiteInfo] = []
        """sites stopped since the last checkpoint of the crawl"""
        self.notes: list[str] = []
        self.urgent_notes: list[str] = []
        """notes that users should see early in the crawl"""
        self.slow: dict[int, float] = {}
        """id of each host with a long Crawl-delay -> seconds between requests"""
        self._note_room = MAX_NOTES
        self._rules: LastingMap[Protego] = LastingMap(MAX_RULES)
        """cache of parsed rules by origin; the store has the rules of all hosts"""
        self._ways_out: set[str] = set()
        """hosts outside the crawl that a note has named"""
        self._unreachable: set[int] = set()
        """hosts that did not respond in this invocation, including hosts of sites that were left"""

    def __getitem__(self, id: int) -> HostInfo:
        return self._by_id[id]

    def add_site(self, site: Site) -> SiteInfo:
        """Register a site, and return its `SiteInfo`."""
        info = self.sites[site.name] = SiteInfo(self._store.site_id(site.name), site)
        self._site_by_id[info.id] = info
        return info

    def site(self, id: int) -> SiteInfo:
        """The site with this id."""
        return self._site_by_id[id]

    def start(self, site: SiteInfo, now: float) -> None:
        """Start the timer for a site's time limit, unless it is already running."""
        if site.started_at is None:
            site.started_at = now
            self._started.append(site)

    def stop_overdue_sites(self, limits: Limits, now: float) -> None:
        """Stop all sites that have reached the time limit, unless pages are still being fetched."""
        if limits.max_seconds is None:
            return
        late: list[SiteInfo] = []
        while self._started and now - (self._started[0].started_at or 0.0) >= limits.max_seconds:
            late.append(self._started.popleft())
        self._started.extendleft(site for site in reversed(late) if site.in_flight)
        for site in late:
            is_left = any(self._frontier.has_unfinished(info.id) for info in self.of_site(site))
            if is_left and not site.in_flight and site.exhausted(limits, now) is SiteEnd.TIME_LIMIT:
                self.stop_site(site, SiteEnd.TIME_LIMIT)

    def note_clock(self, now: float) -> None:
        """Shift the waits of earlier invocations if the clock has been set back since.

        Otherwise, hosts would have to wait until the clock has caught up.  A replay begins at 0,
        and its clock is not that of the responses.
        """
        row = self._store.db.execute(SQL["last_request"]).fetchone()
        if row is not None and 0.0 < now < row[0]:
            for name in ("shift_hosts", "shift_retries"):
                self._store.db.execute(SQL[name], (row[0] - now, now))

    def restore(self, now: float) -> None:
        """Restore the hosts and counts from an earlier invocation."""
        by_id, db = self._site_by_id, self._store.db
        updates = Updates(self._store)
        for id, pages in db.execute("SELECT site, count(*) FROM pages GROUP BY site"):
            if id in by_id:
                by_id[id].pages = by_id[id].visited = pages
        if updates.open() is not None:
            visited = updates.visited_pages()
            for site in by_id.values():
                site.visited = visited.get(site.id, 0)
        for id, size, downloads in db.execute(SQL["site_costs"], (updates.first_fetch(),)):
            if id in by_id:
                by_id[id].bytes, by_id[id].downloads = size, downloads
        db.execute("UPDATE hosts SET stopped = '', refusals = 0")
        db.execute("UPDATE sites SET ended = '' WHERE ended != ''")
        for id in by_id:
            self._restore_hosts(id, now)

    def _restore_hosts(self, site: int, now: float) -> None:
        """Restore the hosts of a site from the store."""
        rows = self._store.db.execute(SQL["hosts_of_site"], (site,)).fetchall()
        for id, origin, next_at, crawl_delay, status, robots_at, stopped in rows:
            info = HostInfo(id, origin, self._site_by_id[site])
            self._register(info, next_at, crawl_delay)
            if stopped:  # in this invocation
                self._frontier.stop(id, stopped)
            elif next_at - now > self._politeness.max_wait:
                self.stop(id, f"it asks clients to wait another {next_at - now:.0f} s")
            # An unreachable host is tried again in each invocation.
            if robots_at is None or status == "unreachable" or _is_old(robots_at, now):
                self._fetch_robots_again(origin)
            else:
                info.robots_at = robots_at
                self._frontier.host(id).connections = self._connections(crawl_delay)
                if crawl_delay and crawl_delay > SLOW_DELAY:
                    self._keep_crawl_delay(info, crawl_delay)

    def enter(self, site: Site, now: float) -> SiteInfo:
        """Register a site, restore its hosts from any earlier visit, and return its `SiteInfo`."""
        info = self.add_site(site)
        self._restore_hosts(info.id, now)
        return info

    def leave(self, site: SiteInfo) -> None:
        """Remove a site and its hosts from memory; their delays stay in the store."""
        for info in self._by_site.pop(site.id, []):
            host = self._frontier.forget_host(info.id)
            self._store.db.execute(SQL["hold_host"], (host.next_at, info.id))
            del self._by_origin[info.origin], self._by_id[info.id]
            self.slow.pop(info.id, None)
        del self.sites[site.site.name], self._site_by_id[site.id]

    def _register(self, info: HostInfo, next_at: float, crawl_delay: float | None) -> HostInfo:
        self._by_origin[info.origin] = self._by_id[info.id] = info
        self._by_site.setdefault(info.site.id, []).append(info)
        delay = self._politeness.delay_for(crawl_delay)
        # One connection until robots.txt, whose turn comes first, is known.
        host = Host(info.id, next_at, delay, is_unreachable=info.id in self._unreachable)
        self._frontier.add_host(host)
        return info

    def _fetch_robots_again(self, origin: str) -> None:
        self._store.db.execute(SQL["fetch_again"], (url_key(origin + "/robots.txt"),))

    def _connections(self, crawl_delay: float | None) -> int:
        return 1 if crawl_delay else self._politeness.connections

    def of(self, url: Url, site_name: str) -> HostInfo:
        """Return the host of a URL; if the host is new, register it and queue its robots.txt."""
        origin = origin_of(url)
        info = self._by_origin.get(origin)
        if info is not None:
            return info
        site = self.sites[site_name]
        db = self._store.db
        db.execute("INSERT INTO hosts (origin, site) VALUES (?, ?)", (origin, site.id))
        id = self._store.count("SELECT id FROM hosts WHERE origin = ?", origin)
        info = self._register(HostInfo(id, origin, site), 0.0, None)
        robots = Entry(Url(origin + "/robots.txt"), id, 0.0, turn=Turn.ROBOTS)
        self._frontier.add([robots])
        return info

    def knows_robots(self, id: int, now: float) -> bool:
        """Return True if a host's robots.txt is known; requeue a robots.txt older than a day."""
        info = self._by_id[id]
        if info.robots_at is not None and _is_old(info.robots_at, now):
            info.robots_at = None
            self._frontier.host(id).connections = 1
            self._fetch_robots_again(info.origin)
        return info.robots_at is not None

    def check_robots(self, claim: Claim, now: float) -> bool | None:
        """Return True if robots.txt allows a claim, False if not, None if robots.txt is unknown.

        A claim that is not allowed is refused.  If robots.txt is unknown, the claim is returned to
        the queue.
        """
        if not self.knows_robots(claim.host, now):  # nothing is fetched before robots.txt
            self._frontier.give_back(claim, now + 0.5)
            return None
        if self.allows(claim.host, claim.url):
            return True
        self._frontier.refuse(claim, now, reason=Reason.ROBOTS)
        return False

    def allows(self, id: int, url: Url) -> bool:
        """True if a host's robots.txt allows a URL; False until the robots.txt is known."""
        info = self._by_id[id]
        if not self._politeness.obey_robots:
            return True
        if info.robots_at is None:
            return False
        rules = self._rules.get(info.origin) or self._restore_rules(info)
        return bool(rules.can_fetch(url, self._politeness.token))

    def _restore_rules(self, info: HostInfo) -> Protego:
        """Load the rules of a host's robots.txt from the store."""
        query = "SELECT robots, robots_status FROM hosts WHERE id = ?"
        text, status = self._store.db.execute(query, (info.id,)).fetchone()
        return self._keep_rules(info, Robots(text or "", status))

    def _keep_rules(self, info: HostInfo, robots: Robots) -> Protego:
        return self._rules.keep(info.origin, robots.rules(), RULES_SIZE * len(robots.text))

    def save_robots(self, id: int, robots: Robots, now: float) -> list[str]:
        """Save a host's robots.txt, and return the URLs of the sitemaps that it announces."""
        info, host, polite = self._by_id[id], self._frontier.host(id), self._politeness
        rules, info.robots_at = self._keep_rules(info, robots), now
        asked = rules.crawl_delay(polite.token) if polite.obey_robots else None
        host.delay, host.connections = polite.delay_for(asked), self._connections(asked)
        self._keep_crawl_delay(info, asked)
        row = robots.text, robots.status, now, asked, id
        self._store.db.execute(SQL["save_robots"], row)
        self._frontier.hold(id, now + host.delay)
        return list(rules.sitemaps)

    def _keep_crawl_delay(self, info: HostInfo, asked: float | None) -> None:
        """Add a note about a Crawl-delay of `asked` seconds; if that is too long, stop the host."""
        self.slow.pop(info.id, None)
        if not asked or asked <= self._politeness.delay:
            return
        said = f"requests a Crawl-delay of {asked:g} s"
        if self._politeness.is_too_slow(asked):
            most = f"{self._politeness.max_crawl_delay:g} s"
            self.stop(info.id, f"it {said}; Diptych waits at most {most}")
        elif asked > SLOW_DELAY:
            self.slow[info.id] = asked
            hourly = f"at most {3600 / asked:.0f} pages per hour"
            self.add_note(f"{info.origin} {said}, which is respected: {hourly}", is_urgent=True)
        else:
            self.add_note(f"{info.origin} {said}, which is respected")

    def hold(self, id: int, until: float) -> None:
        """Send no requests to a host before the time `until`, even after a restart."""
        self._frontier.hold(id, until)
        self._store.db.execute(SQL["hold_host"], (until, id))

    def save_next_request(self, id: int) -> None:
        """If a host has a long delay, save the time of its next request for use after a restart."""
        host = self._frontier.host(id)
        if host.delay >= LONG_DELAY:
            self._store.db.execute("UPDATE hosts SET next_at = ? WHERE id = ?", (host.next_at, id))

    def stop(self, id: int, reason: str, *, is_unreachable: bool = False) -> None:
        """Send no more requests to a host in this invocation, and add a note with the reason."""
        if self._frontier.host(id).stopped:
            return
        self._frontier.stop(id, reason)
        if is_unreachable:
            self._frontier.host(id).is_unreachable = True
            self._unreachable.add(id)
        self.add_note(stop_note(self._by_id[id].origin, reason))
        self._store.db.execute("UPDATE hosts SET stopped = ? WHERE id = ?", (reason, id))

    def note_way_out(self, url: Url, target: Url) -> None:
        """Add a note that a seed redirects to another site, once per target host."""
        host = host_of(target)
        if host not in self._ways_out:
            self._ways_out.add(host)
            self.add_note(way_out_note(url, target))

    def pages_left(self, limits: Limits) -> int | None:
        """The number of pages that the page limits still allow; None if there is no limit."""
        limit = limits.max_pages
        going_on = (site for site in self.sites.values() if site.end is None)
        return None if limit is None else sum(max(0, limit - site.visited) for site in going_on)

    def seconds_left(self, limits: Limits, now: float) -> float | None:
        """The seconds until the last site reaches its time limit; None if there is no limit."""
        limit = limits.max_seconds
        going_on = (site for site in self.sites.values() if site.end is None)
        if limit is None:
            return None
        starts = (now if site.started_at is None else site.started_at for site in going_on)
        return max((max(0.0, start + limit - now) for start in starts), default=0.0)

    def add_note(self, note: str, *, is_urgent: bool = False) -> None:
        """Add a note for the user, unless the maximum total length of notes has been reached."""
        self._note_room -= len(note)
        if self._note_room >= 0:
            self.notes.append(note)
            self.urgent_notes += [note] if is_urgent else []

    def stop_site(self, site: SiteInfo, end: SiteEnd) -> None:
        """Send no more requests to a site, and save the reason why its crawl ended."""
        self.stopped_sites.append(site)
        for info in self.of_site(site):
            self._frontier.stop(info.id, end)
        self.end_site(site, end)

    def end_site(self, site: SiteInfo, end: SiteEnd) -> None:
        """Save the reason why the crawl of a site ended."""
        site.end = end
        self._store.db.execute("UPDATE sites SET ended = ? WHERE id = ?", (end, site.id))

    def of_site(self, site: SiteInfo) -> Iterable[HostInfo]:
        """The hosts of a site."""
        return self._by_site.get(site.id, ())


def stop_note(origin: str, reason: str) -> str:
    """The note to the user that no more requests are sent to a host, and why.

    >>> stop_note("https://example.org", "timed out")
    'gave up on https://example.org: timed out'
    """
    return f"gave up on {origin}: {reason}"


def way_out_note(url: str, target: str) -> str:
    """The note to the user that a start page redirects to another site.

    >>> way_out_note("http://a.org/", "http://b.org/")
    'http://a.org/ redirects out of the site, to http://b.org/: mine that site instead'
    """
    return f"{url} redirects out of the site, to {target}: mine that site instead"
