"""Progress display during a run (pages/s, queue, pairs), and requests to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from rich.console import Console
from rich.live import Live
from rich.table import Table

from diptych.errors import StoppedError
from diptych.protocols import Watcher
from diptych.reason import SiteEnd
from diptych.reports.reasons import ends_in_words
from diptych.run.statistics import Statistics
from diptych.types import Outlook

REFRESH = 0.25
COUNT_INTERVAL = 50  # times as long as it takes: one part in fifty of the time is for counting
QUICK_COUNT = 0.01  # seconds
PLAIN_REFRESH = 10.0  # seconds between lines where there is no terminal
_GENTLY_STOPPED = ("crawling", "searching")  # stages after which a run that is stopped finishes


@dataclass(slots=True)
class Progress(Watcher):
    """Shows stage, pages, speed, queue, pairs, segments and downloads per pair."""

    console: Console | None = None
    live: Live | None = None
    interrupted: bool = False
    on_tick: Callable[[], None] = lambda: None
    """called with each tick"""
    clock: Callable[[], float] = time.monotonic
    _is_ending: bool = False
    _started: float = field(default_factory=time.monotonic)
    _shown: float = 0.0
    _first: int | None = None
    _queue: tuple[float, int, float] = (0.0, 0, 0.0)
    """when to count the URLs that wait again, how many they were, and the seconds they take"""
    _announced: int = 0
    """urgent notes of the crawl that were shown"""
    crawl_seconds: float = 0.0

    def tick(self) -> None:
        """Show where the run is, not more often than anyone can read."""
        self.on_tick()
        if self._is_ending:
            raise StoppedError(f"stopped while {self.stage}: the same command goes on")
        now = time.monotonic()
        if self._first is None and self.crawl is not None:
            self._first = self.crawl.stats.pages
            self._started = now
        if self.stage == "crawling":
            self.crawl_seconds = now - self._started
            self._announce()
        if now - self._shown < (REFRESH if self.live else PLAIN_REFRESH) or self.console is None:
            return
        self._shown = now
        if self.live is not None:
            self.live.update(self._panel())
        elif self.console is not None:
            self.console.print(
                " ".join(f"{name} {value}" for name, value in self.figures()), highlight=False
            )

    def _announce(self) -> None:
        """Show urgent notes of the crawl at once; all notes are shown at the end."""
        if self.crawl is None or self.console is None:
            return
        for note in self.crawl.hosts.urgent_notes[self._announced :]:
            self.console.print(f"note: {note}", soft_wrap=True)
            self._announced += 1

    def interrupt(self) -> None:
        """Stop the run: of a crawl the pages so far are mined, any other stage ends the run.

        A second request ends everything at once.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self._is_ending = self.stage not in _GENTLY_STOPPED

    def stopped(self) -> bool:
        """True if the user pressed Ctrl-C."""
        return self.interrupted

    def final_notes(self, ends: Iterable[tuple[str, SiteEnd]]) -> list[str]:
        """All notes, why crawls of sites ended early, and whether the user pressed Ctrl-C."""
        early = ends_in_words((site, end) for site, end in ends if end.is_decided)
        return [*self.notes, *early, *(["interrupted"] if self.interrupted else [])]

    def figures(self) -> list[tuple[str, str]]:
        """The figures that are shown, with their names."""
        stats = self.crawl.stats if self.crawl is not None else None
        pages = stats.pages if stats else 0
        downloads = stats.downloads if stats else 0
        seconds = max(self.crawl_seconds, 1e-3)
        outlook, queued, wait = self._outlook(), *self._queued()
        pairs = round(outlook.found) if outlook is not None else self.pairs
        return [
            ("stage", self.stage),
            ("pages", f"{pages:,}"),
            ("pages/s", f"{(pages - (self._first or 0)) / seconds:.1f}"),
            ("queue", f"{queued:,}"),
            *([("queue takes", in_hours(wait))] if wait else []),
            ("pairs", f"{pairs:,}" if pairs else "-"),
            *([("left", f"~{max(0, round(outlook.left)):,}")] if outlook is not None else []),
            ("segments", f"{self.segments:,}" if self.segments else "-"),
            ("downloads/pair", f"{downloads / pairs:.2f}" if pairs else "-"),
        ]

    def _queued(self) -> tuple[int, float]:
        """URLs that wait, and the seconds they take on hosts with a long Crawl-delay.

        Of millions they are counted now and then, as that takes long.
        """
        due, count, wait = self._queue
        started = self.clock()
        if self.crawl is not None and started >= due:
            counts = Statistics(self.crawl.store)
            count = counts.queued()
            slow = self.crawl.hosts.slow.items()
            wait = max((counts.queued(host) * delay for host, delay in slow), default=0.0)
            seconds = self.clock() - started
            due = started + COUNT_INTERVAL * seconds if seconds > QUICK_COUNT else 0.0
            self._queue = due, count, wait
        return count, wait

    def _outlook(self) -> Outlook | None:
        """The pairs found and expected by a guided crawl, while it goes on."""
        if self.crawl is None or self.stage != "crawling":
            return None
        return self.crawl.outlook()

    def _panel(self) -> Table:
        table = Table.grid(padding=(0, 2))
        figures = self.figures()
        table.add_row(*(f"[dim]{name}[/dim]" for name, _ in figures))
        table.add_row(*(f"[bold]{value}[/bold]" for _, value in figures))
        return table


def in_hours(seconds: float) -> str:
    """A time in hours and minutes.

    >>> in_hours(90), in_hours(3_600), in_hours(100_000)
    ('2 min', '1 h', '27 h 47 min')
    """
    hours, minutes = divmod(-int(-seconds // 60), 60)
    return " ".join(
        [*([f"{hours:,} h"] if hours else []), *([f"{minutes} min"] if minutes else [])]
    )


Shown = TypeVar("Shown", bound=Progress)


@contextmanager
def progress_display(progress: Shown, console: Console | None) -> Iterator[Shown]:
    """A progress display on a console, if there is one, for the time of a run."""
    progress.console = console
    if console is None or not console.is_terminal:
        yield progress
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        progress.live = live
        yield progress
