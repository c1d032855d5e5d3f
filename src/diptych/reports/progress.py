"""The progress of a run: its figures, the monitor that collects them, and requests to stop."""

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
COUNT_INTERVAL = 50  # a count that takes t seconds is repeated after 50 t, using 2% of the time
QUICK_COUNT = 0.01  # seconds; a count that takes no longer is repeated at every report
MIN_RATE_SECONDS = 2.0  # duration of a stage before the time left is estimated from its rate
INTERRUPTED = "interrupted"
_STOP_AT_ONCE = "Press Ctrl-C again to stop immediately."
_GENTLY_STOPPED = {"crawling": "pages fetched", "searching": "sites tested"}
"""stages whose partial results are used even after a request to stop, and what these are"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run at one moment; counts include those of earlier invocations."""

    stage: str
    """current activity: "crawling", "reading", "pairing", "learning words", "aligning", "scoring"
    or "writing"; "pairing" and "learning words" may be repeated; a search is "searching"; with
    Common Crawl, "reading the index" and "fetching" come first"""
    done: int = 0
    """number of finished parts of the stage; for a crawl, the number of pages"""
    total: int | None = None
    """number of all parts of the stage; None if unknown, as in a crawl without a page limit"""
    unit: str = ""
    """noun for the parts of the stage, such as "page pairs"; "" if parts are not counted"""
    pages: int = 0
    """pages fetched and read"""
    pages_per_second: float = 0.0
    """number of pages that this invocation has fetched per second of crawling"""
    queued: int = 0
    """number of URLs waiting to be fetched; updated less often if there are millions"""
    downloads: int = 0
    """responses of servers, including redirects, errors, robots.txt and sitemaps"""
    pairs: int = 0
    """number of page pairs: an estimate during a crawl, verified pairs from "aligning" on"""
    segments: int = 0
    """number of segments kept; near-duplicates are removed during "scoring" """
    downloads_per_pair: float | None = None
    """downloads per pair; None before the first pair, and while "aligning" recounts the pairs"""
    share_found: float | None = None
    """share of the site's pairs that has been found, from 0 to 1: found / (found + expected), as
    estimated by the crawl policy; None if the policy makes no estimate"""
    seconds_left: float | None = None
    """estimated seconds to the end of the stage, at its rate so far; for a crawl, the seconds until
    its time limit, its page limit or the end of a long Crawl-delay queue; None if unknown"""
    seconds: float = 0.0
    """seconds since this invocation began"""
    running: int = 0
    """in a job, the number of sites that are being mined now"""
    failed: int = 0
    """in a job, the number of sites that have failed"""


class _Queue(NamedTuple):
    urls: int = 0
    """number of URLs waiting"""
    seconds: float | None = None
    """time to fetch the URLs of hosts with a long Crawl-delay; None if there are no such hosts"""
    due: float = 0.0
    """time of the next count"""


@dataclass(slots=True)
class Monitor(Watcher):
    """Collects and reports the progress of a run, and passes on requests to stop it."""

    report: Callable[[Progress], None] | None = None
    """called at the start of each stage, and at most four times a second, in the working thread"""
    notify: Callable[[str], None] | None = None
    """called with each line that the user should see immediately"""
    on_tick: Callable[[], None] = lambda: None
    """called at each tick"""
    on_stage: Callable[[str], None] = lambda stage: None
    """called with the name of each stage that is about to begin"""
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
    """number of urgent notes of the crawl that have been passed on"""
    _unsaid: str = ""
    """confirmation of a request to stop that has not been passed on yet"""

    def __post_init__(self) -> None:
        self._began_at = self.clock()

    def begin(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage, and report it immediately."""
        self._end_if_asked()
        self.on_stage(stage)
        Watcher.begin(self, stage, total, unit)
        self._stage_began_at = self.clock()
        self._pass_on_notes()
        self._report()

    def tick(self) -> None:
        """Report the progress, unless the last report was less than `REPORT_INTERVAL` ago."""
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
        """Ask the run to stop.

        A crawl ends, and the pages fetched so far are mined.  In other stages, the run ends.  A
        second request ends the process immediately.  Signal handlers may call this method: it only
        records the request, and the next tick confirms it to the user.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        rest = _GENTLY_STOPPED.get(self.stage)
        how = f": finishing with the {rest} so far." if rest else "."
        self._unsaid = f"Stopping{how} {_STOP_AT_ONCE}"
        self._is_ending = rest is None
        self.interrupted = True

    def cancel(self) -> None:
        """Stop the run by raising `StoppedError` in its working thread.

        Any thread may call this method.  The pages that a crawl has fetched are saved, but not
        mined.
        """
        self._is_ending = True

    def stopped(self) -> bool:
        """True if the run was interrupted or cancelled."""
        if self.interrupted:
            self._pass_on_notes()
        return self.interrupted or self._is_ending

    def final_notes(self, ends: Iterable[tuple[str, SiteEnd]]) -> list[str]:
        """All notes, including those on crawls that ended early and on an interruption."""
        early = ends_in_words((site, end) for site, end in ends if end.is_decided)
        return [*self.notes, *early, *([INTERRUPTED] if self.interrupted else [])]

    def stats(self) -> Stats | None:
        """The counts of downloads and pages so far; None before the crawl."""
        return self.crawl.stats if self.crawl is not None else None

    def snapshot(self) -> Progress:
        """The current progress."""
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
        """Show the user any new urgent notes from the crawl, and confirm a request to stop."""
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
        """Update the numbers of pages, queued URLs and pairs to the current state of a crawl."""
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
        """Count the queued URLs, and set the time of the next count: later if counting is slow."""
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
        """The estimated seconds until the crawl reaches a limit; None if unknown.

        The time to empty the queues of hosts with a long Crawl-delay is also taken into account.
        """
        rate = self._pages_per_second(crawl.stats)
        bounds = [self._queue.seconds, crawl.seconds_left(crawl.now)]
        if self.total is not None and rate and self.crawl_seconds >= MIN_RATE_SECONDS:
            bounds.append((self.total - self.done) / rate)
        return min((bound for bound in bounds if bound is not None), default=None)

    def _stage_seconds_left(self, now: float) -> float | None:
        """The estimated seconds left in the stage, at its rate so far; None if unknown."""
        seconds = now - self._stage_began_at
        if self.total is None or not self.done or seconds < MIN_RATE_SECONDS:
            return None
        return max(0, self.total - self.done) * seconds / self.done
