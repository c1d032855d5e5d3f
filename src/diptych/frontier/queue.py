"""The frontier: a priority queue of URLs in SQLite, with claims, retries and delays per host.

The URLs of a host are ordered by turn, then by priority, then by time of discovery.  The host that
has waited longest comes first.  Pending URLs are stored in the database; memory holds only one
small object per host.  The current time is always passed as an argument.
"""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from diptych.frontier.queries import SQL
from diptych.text.urls import url_key
from diptych.types import Kind, Url


class State(IntEnum):
    """The state of a URL."""

    QUEUED = 0
    CLAIMED = 1
    FETCHED = 2
    FAILED = 3
    REFUSED = 4
    OUTSIDE = 5
    """outside the crawl's scope; known only as the target of a redirect"""
    ALIAS = 6
    """the same page as another URL, according to a rule; not fetched"""


class Turn(IntEnum):
    """The class of a URL, which determines when it is fetched: smaller values come first.

    A URL that is queued again with another turn keeps the smaller one.  Priorities are compared
    only within a turn.
    """

    ROBOTS = 0
    SITEMAP = 1
    """a sitemap announced in robots.txt, or in the usual place"""
    SEED = 2
    CHILD_SITEMAP = 3
    """a sitemap that another sitemap lists"""
    PAGE = 4
    """a link that a policy has ranked"""

    @property
    def kind(self) -> Kind:
        """The kind of file that a URL of this class should lead to."""
        return _KINDS[self]

    @classmethod
    def stored(cls, value: object) -> Turn:
        """Convert a number from the database to a turn; invalid numbers become PAGE."""
        return _TURNS.get(value, cls.PAGE)


_TURNS: dict[object, Turn] = dict(enumerate(Turn))
_KINDS = (Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE, Kind.SITEMAP, Kind.PAGE)


class Entry(NamedTuple):
    """A URL to add to the frontier.

    If the URL is already known, its priority can only be raised, unless `lowers` is True.
    """

    url: Url
    host: int
    priority: float
    depth: int = 0
    turn: Turn = Turn.PAGE
    state: State = State.QUEUED
    reason: str = ""
    hops: int = 0
    lowers: bool = False


class Claim(NamedTuple):
    """A URL that was taken from the queue to be fetched."""

    id: int
    url: Url
    host: int
    turn: Turn
    depth: int
    priority: float
    hops: int
    attempts: int

    @property
    def kind(self) -> Kind:
        """The kind of file that the URL should lead to."""
        return self.turn.kind


@dataclass(slots=True)
class Host:
    """The schedule of a host: its delay, its connections, and the time of its next request."""

    id: int
    next_at: float = 0.0
    delay: float = 0.0
    connections: int = 1
    active: int = 0
    stopped: str = ""
    """the reason why no more requests are sent; empty if the host is not stopped"""
    is_unreachable: bool = False
    """True if the host was stopped because it did not respond at all"""
    wake_at: float = math.inf
    """the time that the host is scheduled for; infinite if it is not scheduled"""


SOON = 5.0  # seconds; a host that is ready within this time counts as ready soon
_LEAST_PRIORITY = 1e-3  # minimum priority of a URL when one is drawn at random
_ALIAS_OF_NOTHING = 0.1  # share of its priority that an alias keeps if its target is not a page


def _draw_time(priority: float, key: int) -> float:
    """A random sort key for weighted sampling, which tends to be smaller for higher priorities.

    The randomness comes from `key`, a hash of the URL, so that sampling is reproducible.

    >>> _draw_time(0.5, 7 << 60) < _draw_time(0.1, 7 << 60) < _draw_time(0.1, 1 << 60)
    True
    """
    chance = (key % (1 << 64) + 1) / ((1 << 64) + 1)
    return -math.log(chance) / max(priority, _LEAST_PRIORITY)


class Frontier:
    """The queue of URLs to fetch.

    Each claim ends exactly once: it is completed, failed, refused or given back.  Claims that one
    invocation leaves open are given back by the next.  The caller manages the transaction: nothing
    is durable before the caller commits.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._hosts: dict[int, Host] = {}
        self._heap: list[tuple[float, int, int]] = []
        self._serial = 0
        self.active = 0

    def add_host(self, host: Host) -> None:
        """Register a host, and schedule it."""
        self._hosts[host.id] = host
        self._schedule(host)

    def forget_host(self, id: int) -> Host:
        """Remove a host from memory, and return it; the host must have no open claims."""
        return self._hosts.pop(id)

    def host(self, id: int) -> Host:
        """The host with this id."""
        return self._hosts[id]

    def add(self, entries: Iterable[Entry]) -> None:
        """Queue new URLs, and update the priorities of known URLs.

        The priority of a known URL can only be raised, unless its entry sets `lowers`.
        """
        touched: set[int] = set()
        rows = []
        for entry in entries:
            touched.add(entry.host)
            rows.append(
                (
                    url_key(entry.url), entry.url, entry.host, int(entry.turn.kind),
                    int(entry.turn), int(entry.state), entry.depth, entry.priority, entry.hops,
                    entry.reason, entry.lowers,
                )
            )  # fmt: skip
        self._db.executemany(SQL["add_url"], rows)
        for id in touched & self._hosts.keys():
            self._schedule(self._hosts[id])

    def add_alias(self, entry: Entry, target: Url) -> bool:
        """Make a new or queued URL an alias of `target`; return False for any other URL."""
        row = (
            url_key(entry.url), entry.url, entry.host, int(entry.turn.kind), int(entry.turn),
            entry.depth, entry.priority, entry.reason, url_key(target),
        )  # fmt: skip
        return bool(self._db.execute(SQL["add_alias"], row).rowcount)

    def undo_aliases(self, site: int, rule: str, is_alias: Callable[[Url], bool]) -> list[Url]:
        """Requeue the aliases that a rule created on a site, and return them.

        URLs for which `is_alias` returns True remain aliases.
        """
        rows = self._db.execute(SQL["aliases_by_rule"], (site, rule)).fetchall()
        return self._undo([row for row in rows if not is_alias(row[1])])

    def undo_alias_of(self, site: int, target: Url) -> list[Url]:
        """Requeue the first alias of `target`, because `target` is not a page.

        All other aliases of `target` stay aliases.  The priority of the requeued alias is reduced:
        since the rule has held before, the alias is probably not a page either.
        """
        rows = self._db.execute(SQL["aliases_of_url"], (site, url_key(target))).fetchall()
        return self._undo(rows[:1], _ALIAS_OF_NOTHING)

    def _undo(self, rows: Iterable[tuple[int, Url, int]], share: float = 1.0) -> list[Url]:
        """Requeue aliases with a fraction (`share`) of their priorities, and return their URLs."""
        undone = []
        for key, url, host in rows:
            self._db.execute(SQL["undo_alias"], (share, key))
            undone.append(url)
            if host in self._hosts:
                self._schedule(self._hosts[host])
        return undone

    def queued_pages(self, host: int) -> list[tuple[Url, int, float]]:
        """The queued pages of a host, with their depths and priorities, in order of discovery."""
        return self._db.execute(SQL["queued_pages"], (host,)).fetchall()

    def raise_any(self, hosts: Iterable[int], priority: float) -> bool:
        """Set the priority of a random queued page of `hosts`; return False if none is queued.

        Pages with a higher priority are more likely to be drawn.
        """
        going_on = (id for id in hosts if not self.host(id).stopped)
        rows = (row for id in going_on for row in self._db.execute(SQL["queued_priorities"], (id,)))
        drawn = min(((_draw_time(*row[:2]), *row[1:]) for row in rows), default=None)
        if drawn is None:
            return False
        _, key, host = drawn
        self._db.execute("UPDATE urls SET priority = ? WHERE key = ?", (priority, key))
        self._schedule(self._hosts[host])
        return True

    def claim(self, now: float, limit: int) -> list[Claim]:
        """Claim up to `limit` URLs that may be fetched now, observing the delay of each host."""
        claims: list[Claim] = []
        while len(claims) < limit and (host := self._next_host(now)) is not None:
            if host.stopped or host.active >= host.connections:
                continue  # a connection that becomes free schedules it again
            if host.next_at > now:
                self._schedule(host)
                continue
            row = self._db.execute(SQL["next_url"], (host.id, now)).fetchone()
            if row is None:
                self._schedule_retries(host)
                continue
            claims.append(Claim(row[0], row[1], row[2], Turn.stored(row[3]), *row[4:]))
            host.active += 1
            self.active += 1
            host.next_at = now + host.delay
            # Written immediately, so that the next query for this host does not return it again.
            self._db.execute(SQL["claim_url"], (row[0],))
            self._schedule(host)
        return claims

    def claim_again(self, key: int) -> Claim | None:
        """Claim a queued URL by its key; None if the URL is not queued or its host is unknown."""
        row = self._db.execute(SQL["queued_url"], (key,)).fetchone()
        host = self._hosts.get(row[2]) if row else None
        if host is None:
            return None
        host.active += 1
        self.active += 1
        self._db.execute(SQL["claim_url"], (row[0],))
        return Claim(row[0], row[1], row[2], Turn.stored(row[3]), *row[4:])

    def has_work(self, hosts: Iterable[int]) -> bool:
        """True if URLs of these hosts are being fetched or can still be fetched."""
        return any(
            host.active or (not host.stopped and self.has_unfinished(host.id))
            for host in map(self.host, hosts)
        )

    def complete(
        self, claim: Claim, now: float, *, status: int, redirect: int | None = None
    ) -> None:
        """End the claim of a URL that was fetched."""
        self._end(claim, now, (State.FETCHED, status, "", 0.0, redirect))

    def fail(
        self, claim: Claim, now: float, *, reason: str, status: int = 0,
        retry_at: float | None = None,
    ) -> None:  # fmt: skip
        """End a failed claim; retry the URL at `retry_at`, or give it up if `retry_at` is None."""
        state = State.FAILED if retry_at is None else State.QUEUED
        self._end(claim, now, (state, status, reason, retry_at or 0.0, None))

    def _end(
        self, claim: Claim, now: float, row: tuple[State, int, str, float, int | None]
    ) -> None:
        """End a claim, save the URL's new state from `row`, and release the connection."""
        ended = self._db.execute(SQL["end_claim"], (*row, claim.id)).rowcount
        assert ended, f"the claim on {claim.url} has expired"
        host = self._hosts[claim.host]
        # The delay also starts after the response, so that a slow server is not overloaded.
        self._release(host, max(host.next_at, now + host.delay))

    def refuse(self, claim: Claim, now: float, *, reason: str) -> None:
        """End the claim of a URL that must not be fetched.

        The next URL of the host can be claimed immediately.
        """
        self._db.execute(SQL["refuse_claim"], (reason, claim.id))
        self._release(self._hosts[claim.host], now)

    def give_back(self, claim: Claim, until: float) -> None:
        """Return a claimed URL to the queue, and claim no URL of its host before `until`."""
        self._db.execute(SQL["give_back_claim"], (claim.id,))
        host = self._hosts[claim.host]
        self._release(host, max(host.next_at, until))  # applies to its other connections too

    def hold(self, id: int, until: float) -> None:
        """Send no requests to a host before the time `until`."""
        host = self._hosts[id]
        host.next_at = max(host.next_at, until)
        self._schedule(host)

    def stop(self, id: int, reason: str) -> None:
        """Send no more requests to a host; its queued URLs stay queued."""
        self._hosts[id].stopped = reason

    def give_back_all(self) -> None:
        """Return the open claims of an earlier invocation to the queue.

        Pages that could not be read are also requeued.  Call this method before claiming any URL.
        """
        self._db.execute(SQL["give_back_all_claims"])
        self._db.execute(SQL["queue_faults"])

    def best_priority(self, hosts: Iterable[int], now: float) -> float:
        """The highest priority of the pages of `hosts` that can be claimed; -inf if there are none.

        Hosts not ready within `SOON` seconds of `now` are ignored.  A seed has infinite priority.
        """
        asked = (self._hosts[id] for id in hosts)
        soon = (host for host in asked if not host.stopped and host.next_at <= now + SOON)
        rows = (self._db.execute(SQL["best_priority"], (host.id, now)).fetchone() for host in soon)
        found = (row for row in rows if row is not None)
        return max(
            (priority if Turn.stored(turn) is Turn.PAGE else math.inf for turn, priority in found),
            default=-math.inf,
        )

    def has_unfinished(self, host: int) -> bool:
        """True if any URL of a host is queued or claimed."""
        return bool(self._db.execute(SQL["unfinished_urls"], (host,)).fetchone()[0])

    def wake(self) -> float | None:
        """The time when the next URL may be claimed; None if nothing is queued."""
        while self._heap and self._is_stale(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _is_stale(self, entry: tuple[float, int, int]) -> bool:
        host = self._hosts.get(entry[2])
        return host is None or entry[0] != host.wake_at or bool(host.stopped)

    def _next_host(self, now: float) -> Host | None:
        """Remove the next due host from the schedule, and return it; None if no host is due."""
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            if not self._is_stale(entry):
                host = self._hosts[entry[2]]
                host.wake_at = math.inf
                return host
        return None

    def _release(self, host: Host, next_at: float) -> None:
        """Release a connection to a host, and set the time of the host's next request."""
        host.active -= 1
        self.active -= 1
        host.next_at = next_at
        self._schedule(host)

    def wake_all(self) -> None:
        """Schedule all hosts, because URLs may have been queued again."""
        deque(map(self._schedule, self._hosts.values()), maxlen=0)

    def _schedule(self, host: Host, at: float = 0.0) -> None:
        """Schedule a host, unless it is stopped, busy, or already scheduled early enough."""
        at = max(host.next_at, at)
        if host.stopped or host.active >= host.connections or at >= host.wake_at:
            return
        self._serial += 1
        host.wake_at = at
        heapq.heappush(self._heap, (at, self._serial, host.id))

    def _schedule_retries(self, host: Host) -> None:
        """Schedule a host without claimable URLs for the time of its first retry, if any."""
        row = self._db.execute(
            "SELECT min(due) FROM urls WHERE host = ? AND state = 0", (host.id,)
        ).fetchone()
        if row[0] is not None:
            self._schedule(host, at=row[0])
