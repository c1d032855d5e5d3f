"""Progress of a run: its figures so far, how they are collected, and requests to stop the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from diptych.errors import StoppedError
from diptych.frontier.retries import Stats
from diptych.protocols import Watcher
from diptych.reason import SiteEnd
from diptych.reports.reasons import ends_in_words
from diptych.run.statistics import Statistics

if TYPE_CHECKING:
    from diptych.frontier.crawl import Crawl

REPORT_INTERVAL = 0.25  # seconds between two reports of the same stage
COUNT_INTERVAL = 50  # times as long as it takes: one part in fifty of the time is for counting
QUICK_COUNT = 0.01  # seconds
MIN_RATE_SECONDS = 2.0  # of a stage before its rate says how long it will take
INTERRUPTED = "interrupted"
_STOP_AT_ONCE = "Press Ctrl-C again to stop at once."
_GENTLY_STOPPED = {"crawling": "pages fetched", "searching": "sites tested"}
"""stages after which a run that is stopped finishes, and what it finishes with"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The figures of a run at one moment; counts include those of earlier invocations."""

    stage: str
    """what the run does, in plain words: "crawling", "reading", "pairing", "learning words",
    "aligning", "scoring" or "writing"; "pairing" and "learning words" may come several times"""
    done: int = 0
    """parts of the stage that are done; of a crawl its pages"""
    total: int | None = None
    """parts that the stage has; None if that is unknown, as in a crawl without a page limit"""
    unit: str = ""
    """the parts of the stage, such as "pages" or "page pairs"; "" if they are not counted"""
    pages: int = 0
    """pages that were fetched and read"""
    pages_per_second: float = 0.0
    """pages of this invocation for each second that it has crawled"""
    queued: int = 0
    """URLs that wait to be fetched; counted now and then where there are millions"""
    downloads: int = 0
    """answers of servers, also redirects, errors, robots.txt and sitemaps"""
    pairs: int = 0
    """page pairs that are translations; estimated during a crawl, verified from "aligning" on"""
    segments: int = 0
    """segments that are kept; near-duplicates are removed while "scoring" """
    downloads_per_pair: float | None = None
    """None as long as there is no pair, and while pairs are counted anew ("aligning")"""
    share_found: float | None = None
    """share of the site's pairs that are found, from 0 to 1: found / (found + expected); an
    estimate of the crawl, None if its policy makes none"""
    seconds_left: float | None = None
    """seconds to the end of the stage: by the rate so far where its parts are counted; of a crawl
    what its time limit, its page limit or a long Crawl-delay allow; None if that is unknown"""
    seconds: float = 0.0
    """seconds since this invocation began"""


class _Queue(NamedTuple):
    urls: int = 0
    """how many URLs wait"""
    seconds: float | None = None
    """the time they take on hosts with a long Crawl-delay; None if there are no such hosts"""
    due: float = 0.0
    """when to count them again"""


@dataclass(slots=True)
class Monitor(Watcher):
    """Collects the figures of a run, reports them, and passes on requests to stop it."""

    report: Callable[[Progress], None] | None = None
    """called with each new stage, and at most four times a second; in whichever thread works"""
    notify: Callable[[str], None] | None = None
    """called with each line that the user should read at once"""
    on_tick: Callable[[], None] = lambda: None
    """called with each tick"""
    clock: Callable[[], float] = time.monotonic
    interrupted: bool = False
    crawl_seconds: float = 0.0
    _is_ending: bool = False
    _reported_at: float | None = None
    _stage_began_at: float = 0.0
    _began_at: float = 0.0
    _crawl_began_at: float | None = None
    _first_pages: int = 0
    _queue: _Queue = field(default_factory=_Queue)
    _share_found: float | None = None
    _notified: int = 0
    """urgent notes of the crawl that were passed on"""
    _unsaid: str = ""
    """the answer to a request to stop, until it is passed on"""

    def __post_init__(self) -> None:
        self._began_at = self.clock()

    def begin(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage, and report it at once."""
        self._end_if_asked()
        Watcher.begin(self, stage, total, unit)
        self._stage_began_at = self.clock()
        self._pass_on_notes()
        self._report()

    def tick(self) -> None:
        """Report where the run is, not more often than anyone can read."""
        self.on_tick()
        if self.stage not in _GENTLY_STOPPED:
            self._end_if_asked()
        stats, now = self.stats(), self.clock()
        if self._crawl_began_at is None and stats is not None:
            self._first_pages, self._crawl_began_at = stats.pages, now
        if self.stage in _GENTLY_STOPPED and self._crawl_began_at is not None:
            self.crawl_seconds = now - self._crawl_began_at
        self._pass_on_notes()
        if self._reported_at is None or now - self._reported_at >= REPORT_INTERVAL:
            self._report()

    def interrupt(self) -> None:
        """Stop the run: of a crawl the pages so far are mined, any other stage ends the run.

        A second request ends everything at once.  For signal handlers: it does nothing but note
        the request, and the next tick says so.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        rest = _GENTLY_STOPPED.get(self.stage)
        how = f": finishing with the {rest} so far." if rest else "."
        self._unsaid = f"Stopping{how} {_STOP_AT_ONCE}"
        self._is_ending = rest is None
        self.interrupted = True

    def cancel(self) -> None:
        """Stop the whole run in order, from any thread: a `StoppedError` ends it soon.

        Nothing is mined of the pages that a crawl has fetched, but they are saved.
        """
        self._is_ending = True

    def stopped(self) -> bool:
        """True if the user pressed Ctrl-C, or the run is cancelled."""
        if self.interrupted:
            self._pass_on_notes()
        return self.interrupted or self._is_ending

    def final_notes(self, ends: Iterable[tuple[str, SiteEnd]]) -> list[str]:
        """All notes, why crawls of sites ended early, and whether the user pressed Ctrl-C."""
        early = ends_in_words((site, end) for site, end in ends if end.is_decided)
        return [*self.notes, *early, *([INTERRUPTED] if self.interrupted else [])]

    def stats(self) -> Stats | None:
        """Downloads and pages so far; None before the crawl."""
        return self.crawl.stats if self.crawl is not None else None

    def snapshot(self) -> Progress:
        """The figures of this moment."""
        crawl = self.crawl if self.stage == "crawling" else None
        if crawl is not None:
            self._look_at(crawl)
        stats, now = self.stats() or Stats(), self.clock()
        left = self._stage_seconds_left(now) if crawl is None else self._crawl_seconds_left(crawl)
        return Progress(
            stage=self.stage, done=self.done, total=self.total, unit=self.unit,
            pages=stats.pages, pages_per_second=self._pages_per_second(stats),
            queued=self._queue.urls, downloads=stats.downloads, pairs=self.pairs,
            segments=self.segments + (stats.segments if crawl is not None else 0),
            downloads_per_pair=self._downloads_per_pair(stats),
            share_found=self._share_found, seconds_left=left, seconds=now - self._began_at,
        )  # fmt: skip

    def _end_if_asked(self) -> None:
        if self._is_ending:
            raise StoppedError(f"Stopped while {self.stage}." if self.stage else "Stopped.")

    def _report(self) -> None:
        self._reported_at = self.clock()
        if self.report is not None:
            self.report(self.snapshot())

    def _pass_on_notes(self) -> None:
        """Pass on urgent notes of the crawl, and that a request to stop was seen."""
        if self.notify is None:
            return
        notes = self.crawl.hosts.urgent_notes[self._notified :] if self.crawl is not None else ()
        for note in notes:
            self._notified += 1
            self.notify(f"note: {note}")
        if self._unsaid:
            said, self._unsaid = self._unsaid, ""
            self.notify(said)

    def _look_at(self, crawl: Crawl) -> None:
        """Take over the pages, the queue, and the pairs found and expected by a crawl."""
        self.done, self.unit, left = crawl.stats.pages, "pages", crawl.pages_left()
        self.total = None if left is None else self.done + left
        if self.clock() >= self._queue.due:
            self._queue = self._count_queue(crawl)
        outlook = crawl.outlook()
        if outlook is not None:
            self.pairs = round(outlook.found)
            whole = outlook.found + max(0.0, outlook.left)
            self._share_found = outlook.found / whole if whole else None

    def _count_queue(self, crawl: Crawl) -> _Queue:
        """Count the URLs that wait; of millions only now and then, as that takes long."""
        started, counts = self.clock(), Statistics(crawl.store)
        slow = crawl.hosts.slow.items()
        urls = counts.queued()
        wait = max((counts.queued(host) * delay for host, delay in slow), default=None)
        took = self.clock() - started
        return _Queue(urls, wait, started + COUNT_INTERVAL * took if took > QUICK_COUNT else 0.0)

    def _pages_per_second(self, stats: Stats) -> float:
        return (stats.pages - self._first_pages) / max(self.crawl_seconds, 1e-3)

    def _downloads_per_pair(self, stats: Stats) -> float | None:
        is_known = self.pairs and self.stage != "aligning"
        return stats.downloads / self.pairs if is_known else None

    def _crawl_seconds_left(self, crawl: Crawl) -> float | None:
        """The time that limits and long Crawl-delays allow, whichever is over first."""
        rate = self._pages_per_second(crawl.stats)
        bounds = [self._queue.seconds, crawl.seconds_left(time.time())]
        if self.total is not None and rate and self.crawl_seconds >= MIN_RATE_SECONDS:
            bounds.append((self.total - self.done) / rate)
        return min((bound for bound in bounds if bound is not None), default=None)

    def _stage_seconds_left(self, now: float) -> float | None:
        """The time of the parts that are left, by that of the parts that are done."""
        seconds = now - self._stage_began_at
        if self.total is None or not self.done or seconds < MIN_RATE_SECONDS:
            return None
        return max(0, self.total - self.done) * seconds / self.done
