"""The frontier: priority queue of URLs in SQLite, with claims, retries and delays per host.

Within a host the turn of a URL decides, then its priority, then the order of discovery.  Between
hosts the one that has waited longest comes first.  What is pending lives in the database; in memory
there is one small object per host that has something queued.  Time is always an argument.
"""

from __future__ import annotations

import heapq
import math
import sqlite3
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
    """out of the crawl's scope; known only as the target of a redirect"""
    ALIAS = 6
    """the same page as another URL, by a rule; it is not asked for"""


class Turn(IntEnum):
    """The class of a URL, which decides when its turn comes: the smallest first.

    A URL that is there keeps the smaller of two turns; priorities count within a turn only.
    """

    ROBOTS = 0
    SITEMAP = 1
    """one that is announced in robots.txt, or at the usual place"""
    SEED = 2
    CHILD_SITEMAP = 3
    """one that a sitemap names"""
    PAGE = 4
    """a link that a policy has ranked"""

    @property
    def kind(self) -> Kind:
        """The kind of file that is expected."""
        return _KINDS[self]

    @classmethod
    def stored(cls, value: object) -> Turn:
        """The turn by its number in the database; what is none there is a page."""
        return _TURNS.get(value, cls.PAGE)


_TURNS: dict[object, Turn] = dict(enumerate(Turn))
_KINDS = (Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE, Kind.SITEMAP, Kind.PAGE)


class Entry(NamedTuple):
    """A URL for the frontier; one that is there is raised, and lowered only if it says so."""

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
    """A URL that was given out to be fetched."""

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
        """The kind of file that is expected."""
        return self.turn.kind


@dataclass(slots=True)
class Host:
    """The schedule of a host: its delay, connections, and time of the next request."""

    id: int
    next_at: float = 0.0
    delay: float = 0.0
    connections: int = 1
    active: int = 0
    stopped: str = ""
    """words for why it is asked no more"""
    is_unreachable: bool = False
    """it was stopped because it gave no answer at all"""
    wake_at: float = math.inf
    """when it is in the schedule for; infinite when it is not in it"""


SOON = 5.0  # seconds
_LEAST_PRIORITY = 1e-3  # priority that a URL counts for at least when one is drawn
_ALIAS_OF_NOTHING = 0.1  # share of its priority that an alias keeps whose target is no page


def _draw_time(priority: float, key: int) -> float:
    """The time at which a URL would be drawn: by chance, but sooner the higher its priority.

    The chance is in its key, a hash, so that the same URLs are drawn each time.

    >>> _draw_time(0.5, 7 << 60) < _draw_time(0.1, 7 << 60) < _draw_time(0.1, 1 << 60)
    True
    """
    chance = (key % (1 << 64) + 1) / ((1 << 64) + 1)
    return -math.log(chance) / max(priority, _LEAST_PRIORITY)


class Frontier:
    """A claim ends once: it is completed, failed, refused, or given back.

    Those that an invocation did not end are given back by the next one.  The caller owns the
    transaction: nothing is durable before it commits.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._hosts: dict[int, Host] = {}
        self._heap: list[tuple[float, int, int]] = []
        self._serial = 0
        self.active = 0

    def add_host(self, host: Host) -> None:
        """Make a host known; it is asked as soon as something of it is queued."""
        self._hosts[host.id] = host
        self._schedule(host)

    def forget_host(self, id: int) -> Host:
        """Ask a host no more until it is made known again; nothing of it may be claimed."""
        return self._hosts.pop(id)

    def host(self, id: int) -> Host:
        """The host with that number."""
        return self._hosts[id]

    def add(self, entries: Iterable[Entry]) -> None:
        """Queue URLs; what is known already is raised, and lowered where an entry says so."""
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
        """Make a URL an alias of another, unless it was asked for; True if it is one now."""
        row = (
            url_key(entry.url), entry.url, entry.host, int(entry.turn.kind), int(entry.turn),
            entry.depth, entry.priority, entry.reason, url_key(target),
        )  # fmt: skip
        return bool(self._db.execute(SQL["add_alias"], row).rowcount)

    def undo_aliases(self, site: int, rule: str, is_alias: Callable[[Url], bool]) -> list[Url]:
        """Queue the aliases of a site again that a rule has made, but for those that still are."""
        rows = self._db.execute(SQL["aliases_by_rule"], (site, rule)).fetchall()
        return self._undo([row for row in rows if not is_alias(row[1])])

    def undo_alias_of(self, site: int, target: Url) -> list[Url]:
        """Queue the first alias of a URL again, since that has no page; the others stay aliases.

        It is probably no page either: the rule has held before.
        """
        rows = self._db.execute(SQL["aliases_of_url"], (site, url_key(target))).fetchall()
        return self._undo(rows[:1], _ALIAS_OF_NOTHING)

    def _undo(self, rows: Iterable[tuple[int, Url, int]], share: float = 1.0) -> list[Url]:
        """Make queued URLs of aliases; they keep a share of their priorities."""
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
        """Raise any queued page of some hosts to a priority; False if there is none.

        The better its own priority the likelier it is chosen.
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
        """Up to `limit` URLs that may be fetched now, no host asked sooner than it may be."""
        claims: list[Claim] = []
        while len(claims) < limit and (host := self._next_host(now)) is not None:
            if host.stopped or host.active >= host.connections:
                continue  # a free connection schedules it again
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
            # Written at once: the next look at this host must not see the URL again.
            self._db.execute(SQL["claim_url"], (row[0],))
            self._schedule(host)
        return claims

    def claim_again(self, key: int) -> Claim | None:
        """Claim a queued URL by its key; None if it is not queued, or its host is not known."""
        row = self._db.execute(SQL["queued_url"], (key,)).fetchone()
        host = self._hosts.get(row[2]) if row else None
        if host is None:
            return None
        host.active += 1
        self.active += 1
        self._db.execute(SQL["claim_url"], (row[0],))
        return Claim(row[0], row[1], row[2], Turn.stored(row[3]), *row[4:])

    def has_work(self, hosts: Iterable[int]) -> bool:
        """True if something of some hosts is being fetched, or queued and not stopped."""
        return any(
            host.active or (not host.stopped and self.has_unfinished(host.id))
            for host in map(self.host, hosts)
        )

    def complete(
        self, claim: Claim, now: float, *, status: int, redirect: int | None = None
    ) -> None:
        """The claim was answered for good."""
        self._end(claim, now, (State.FETCHED, status, "", 0.0, redirect))

    def fail(
        self, claim: Claim, now: float, *, reason: str, status: int = 0,
        retry_at: float | None = None,
    ) -> None:  # fmt: skip
        """The claim was not answered: to be tried again at a time, or given up."""
        state = State.FAILED if retry_at is None else State.QUEUED
        self._end(claim, now, (state, status, reason, retry_at or 0.0, None))

    def _end(
        self, claim: Claim, now: float, row: tuple[State, int, str, float, int | None]
    ) -> None:
        """End a claim and free its place."""
        ended = self._db.execute(SQL["end_claim"], (*row, claim.id)).rowcount
        assert ended, f"the claim of {claim.url} has ended"
        host = self._hosts[claim.host]
        # Counted from the end of the answer too, so that a slow server is not pressed.
        self._release(host, max(host.next_at, now + host.delay))

    def refuse(self, claim: Claim, now: float, *, reason: str) -> None:
        """The claim may not be fetched; its place goes to the next URL of the host at once."""
        self._db.execute(SQL["refuse_claim"], (reason, claim.id))
        self._release(self._hosts[claim.host], now)

    def give_back(self, claim: Claim, until: float) -> None:
        """The claim is not wanted before a time; it stays queued."""
        self._db.execute(SQL["give_back_claim"], (claim.id,))
        host = self._hosts[claim.host]
        self._release(host, max(host.next_at, until))  # for its other connections too

    def hold(self, id: int, until: float) -> None:
        """Leave a host alone until a time."""
        host = self._hosts[id]
        host.next_at = max(host.next_at, until)
        self._schedule(host)

    def stop(self, id: int, reason: str) -> None:
        """Ask a host no more; what is queued for it stays queued."""
        self._hosts[id].stopped = reason

    def give_back_all(self) -> None:
        """Give back the claims of an invocation that has ended; this one has none yet.

        Pages that it could not read are tried again.
        """
        self._db.execute(SQL["give_back_all_claims"])
        self._db.execute(SQL["queue_faults"])

    def best_priority(self, hosts: Iterable[int], now: float) -> float:
        """The highest priority of a page that may be claimed of some hosts soon; -inf if none.

        A seed is above all priorities: inf.
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
        """True if a URL of a host waits or is claimed."""
        return bool(self._db.execute(SQL["unfinished_urls"], (host,)).fetchone()[0])

    def wake(self) -> float | None:
        """The time when the next claim may succeed; None if nothing is queued."""
        while self._heap and self._is_stale(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _is_stale(self, entry: tuple[float, int, int]) -> bool:
        host = self._hosts.get(entry[2])
        return host is None or entry[0] != host.wake_at or bool(host.stopped)

    def _next_host(self, now: float) -> Host | None:
        """The host whose turn it is, taken out of the schedule."""
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            if not self._is_stale(entry):
                host = self._hosts[entry[2]]
                host.wake_at = math.inf
                return host
        return None

    def _release(self, host: Host, next_at: float) -> None:
        """Free a connection of a host, which may be asked again at a time."""
        host.active -= 1
        self.active -= 1
        host.next_at = next_at
        self._schedule(host)

    def _schedule(self, host: Host, at: float = 0.0) -> None:
        """Put a host into the schedule, or earlier into it than it is."""
        at = max(host.next_at, at)
        if host.stopped or host.active >= host.connections or at >= host.wake_at:
            return
        self._serial += 1
        host.wake_at = at
        heapq.heappush(self._heap, (at, self._serial, host.id))

    def _schedule_retries(self, host: Host) -> None:
        """Nothing may be claimed now: come back when the first retry is due, if there is one."""
        row = self._db.execute(
            "SELECT min(due) FROM urls WHERE host = ? AND state = 0", (host.id,)
        ).fetchone()
        if row[0] is not None:
            self._schedule(host, at=row[0])
