"""The progress display of a run: live figures and a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from rich.console import Console, ConsoleOptions, Group
from rich.control import Control
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import ControlType, Segment
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from diptych.reports.progress import Monitor, Progress

FRAMES_PER_SECOND = 5
PLAIN_INTERVAL = 10.0  # seconds between lines if the output is not a terminal
_GAP = 2  # columns between two figures
_BAR_WIDTHS = 6, 40  # minimum and maximum columns of a bar
_SPINNER_WIDTH = 2

Watched = TypeVar("Watched", bound=Monitor)


class Figure(NamedTuple):
    """A figure in the display: its name, and its value as text."""

    name: str
    value: str
    rank: int = 0
    """in a narrow terminal, figures of higher rank are left out first"""

    @property
    def width(self) -> int:
        """The number of columns needed for the figure and for the name above it."""
        return max(len(self.name), len(self.value))


Figures = Callable[[Progress], Sequence[Figure]]


def mining_figures(progress: Progress) -> list[Figure]:
    """The figures to show for a run of `mine`; some are shown only during the crawl."""
    cost, share = progress.downloads_per_pair, progress.share_found
    pairs = Figure("pairs", _count(progress.pairs), 0)
    segments = Figure("segments", _count(progress.segments), 5)
    if progress.stage != "crawling":
        costs = [Figure("downloads/pair", f"{cost:.2f}", 6)] if cost is not None else []
        return [Figure("pages", _count(progress.pages), 1), pairs, segments, *costs]
    return [
        Figure("pages", f"{progress.pages:,}", 1),
        Figure("pages/s", f"{progress.pages_per_second:.1f}", 4),
        Figure("queue", f"{progress.queued:,}", 2),
        Figure("downloads", f"{progress.downloads:,}", 7),
        pairs,
        segments,
        Figure("downloads/pair", "-" if cost is None else f"{cost:.2f}", 6),
        *([Figure("found so far", f"~{share:.0%}", 3)] if share is not None else []),
    ]


def _count(number: int) -> str:
    return f"{number:,}" if number else "-"


def fitting(figures: Sequence[Figure], width: int) -> list[Figure]:
    """The most important figures that fit into `width` columns, in their original order.

    >>> pages, pairs = Figure("pages", "1,234", 1), Figure("pairs", "56", 0)
    >>> [figure.name for figure in fitting([pages, pairs], 12)]
    ['pages', 'pairs']
    >>> [figure.name for figure in fitting([pages, pairs], 11)]
    ['pairs']
    """
    chosen: set[Figure] = set()
    for figure in sorted(figures, key=lambda figure: figure.rank):
        room = width - sum(each.width + _GAP for each in chosen)
        if figure.width <= room:
            chosen.add(figure)
    return [figure for figure in figures if figure in chosen]


def in_words(seconds: float) -> str:
    """An estimated duration as text, rounded up.

    >>> in_words(0.2), in_words(59.5), in_words(90), in_words(3_600), in_words(100_000)
    ('1 s', '1 min', '2 min', '1 h', '27 h 47 min')
    """
    whole = -int(-seconds // 1)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(-int(-whole // 60), 60)
    return " ".join(
        [*([f"{hours:,} h"] if hours else []), *([f"{minutes} min"] if minutes else [])]
    )


def on_a_clock(seconds: float) -> str:
    """An elapsed time as text, as shown on a digital clock.

    >>> on_a_clock(5.9), on_a_clock(65), on_a_clock(3_725)
    ('0:05', '1:05', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def plain_line(progress: Progress, figures: Sequence[Figure]) -> str:
    """The progress and the figures of a run as one line of plain text.

    >>> progress = Progress(stage="aligning", done=4, total=9, unit="page pairs", seconds=65.0)
    >>> plain_line(progress, [Figure("pages", "18"), Figure("pairs", "4")])
    '1:05 aligning 4/9 page pairs: pages 18, pairs 4'
    """
    count = _parts_done(progress)
    stage = f"{progress.stage} {count} {progress.unit}" if count else progress.stage
    parts = [f"{figure.name} {figure.value}" for figure in figures]
    details = ", ".join([*parts, *_time_left(progress)])
    return f"{on_a_clock(progress.seconds)} {stage}{': ' if details else ''}{details}"


def _parts_done(progress: Progress) -> str:
    """How many parts of a stage are done, such as `4/9`.

    The text is empty if the number of parts is unknown or less than two.
    """
    if progress.total is None or progress.total < 2:
        return ""
    return f"{min(progress.done, progress.total):,}/{progress.total:,}"


def _time_left(progress: Progress) -> list[str]:
    return [] if progress.seconds_left is None else [f"~{in_words(progress.seconds_left)} left"]


class _UnchangedText:
    """Text that a console prints unchanged: tabs are kept, and long lines are not wrapped."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        yield Segment(self._text)


class OutputAbove(io.TextIOBase):
    """A text stream that prints complete lines, unchanged, above the live display of a console."""

    def __init__(self, console: Console) -> None:
        self._console, self._line = console, ""

    def write(self, text: str) -> int:
        """Print all complete lines, and keep an incomplete last line for the next call."""
        lines, newline, self._line = f"{self._line}{text}".rpartition("\n")
        if newline:
            self._console.print(_UnchangedText(lines + newline), soft_wrap=True, end="")
        return len(text)

    def isatty(self) -> bool:
        """Return True, because a live display exists only in a terminal."""
        return True


@dataclass(slots=True)
class Display:
    """Shows the progress of a run on a console: live in a terminal, as plain lines elsewhere."""

    console: Console
    figures: Figures = mining_figures
    clock: Callable[[], float] = time.monotonic
    _live: Live | None = None
    _last: tuple[Progress, Sequence[Figure]] | None = None
    _drawn: tuple[Group, int] | None = None
    """the frame on the screen, and the width for which it was made"""
    _came_at: float = 0.0
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Show the display inside the context, and remove it from the terminal afterwards."""
        self._came_at = self.clock()
        if not (self.console.is_interactive and self.console.file.isatty()):
            yield
            return
        if self.console.options.ascii_only:
            self._spinner = Spinner("line")
        self._live = Live(
            get_renderable=self._next_frame, console=self.console, transient=True,
            refresh_per_second=FRAMES_PER_SECOND,
        )  # fmt: skip
        try:
            with self._live:
                yield
        finally:
            self._live = None

    def show(self, progress: Progress) -> None:
        """Update the display; in a terminal, a new stage is shown immediately.

        Elsewhere, a line is printed at most once every `PLAIN_INTERVAL` seconds.
        """
        now, before = self.clock(), self._last
        if self._live is None and now - self._came_at < PLAIN_INTERVAL:
            return
        # Not in `frame`, which runs in another thread: figures may come from a database.
        figures = self.figures(progress)
        self._last, self._came_at = (progress, figures), now
        if self._live is None:
            self._print(plain_line(progress, figures))
        elif before is None or before[0].stage != progress.stage:
            self._live.refresh()

    def say(self, line: str) -> None:
        """Print a line immediately; in a terminal, it appears above the figures."""
        self._print(line)

    def _print(self, line: str) -> None:
        # A terminal would break long lines inside words; in a file, lines are not wrapped.
        self.console.print(Text(line), soft_wrap=self._live is None)

    def _next_frame(self) -> Group:
        """Erase rows that wrapped when the terminal became narrower; return the frame to draw."""
        width = self.console.width
        if self._drawn is not None and width < self._drawn[1]:
            erase = (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)
            self.console.control(Control(*erase * self._wrapped_rows(*self._drawn)))
        frame = self.frame()
        self._drawn = frame, width
        return frame

    def _wrapped_rows(self, frame: Group, width: int) -> int:
        """The number of additional rows that a frame made for `width` takes in a narrower terminal.

        Most terminals rewrap lines when they become narrower, but `rich` erases only as many rows
        as the frame has lines.
        """
        options = self.console.options.update(width=width)
        lengths = map(Segment.get_line_length, self.console.render_lines(frame, options, pad=False))
        return sum(max(0, length - 1) // self.console.width for length in lengths)

    def frame(self) -> Group:
        """The current frame: the stage, and below it the figures that fit."""
        if self._last is None:
            return Group()
        progress, figures = self._last
        width = self.console.width - 1  # some terminals wrap a line that is full
        table = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
        shown = fitting(figures, width)
        for figure in shown:
            table.add_column(min_width=figure.width, no_wrap=True)
        table.add_row(*(Text(figure.name, "dim") for figure in shown))
        table.add_row(*(Text(figure.value, "bold") for figure in shown))
        return Group(self._stage_line(progress, width), table)

    def _stage_line(self, progress: Progress, width: int) -> Table:
        """The first line of a frame, showing the stage and its progress.

        It contains a spinner, the stage, a bar, the count, the time left and the elapsed time, as
        far as they fit.
        """
        line, room = Table.grid(padding=(0, 1, 0, 0), pad_edge=False), width - _SPINNER_WIDTH
        cells: list[Text | ProgressBar | Spinner] = [self._spinner, Text(progress.stage, "bold")]
        room -= len(progress.stage) + 1
        count, seconds = _parts_done(progress), progress.seconds + self.clock() - self._came_at
        texts = _fitting_texts(
            [count, *_time_left(progress), on_a_clock(seconds), progress.unit if count else ""],
            room - (_BAR_WIDTHS[0] + 1 if count else 0),
        )
        room -= sum(len(text) + 1 for text in texts)
        if count and room >= _BAR_WIDTHS[0]:
            bar_width = min(room, _BAR_WIDTHS[1])
            cells.append(
                ProgressBar(total=progress.total, completed=progress.done, width=bar_width)
            )
        order = [count, progress.unit, *_time_left(progress), on_a_clock(seconds)]
        cells.extend(Text(text) for text in order if text in texts)
        for _ in cells:
            line.add_column(no_wrap=True)
        line.add_row(*cells)
        return line


def _fitting_texts(texts: Sequence[str], room: int) -> list[str]:
    """The non-empty texts that fit into `room` columns; earlier texts take precedence.

    >>> _fitting_texts(["45/89", "~14 s left", "0:12"], 12), _fitting_texts(["45/89", ""], 12)
    (['45/89', '0:12'], ['45/89'])
    """
    chosen: list[str] = []
    for text in filter(None, texts):
        if len(text) + 1 <= room:
            chosen.append(text)
            room -= len(text) + 1
    return chosen


@contextmanager
def progress_display(
    monitor: Watched, console: Console, figures: Figures = mining_figures
) -> Iterator[Watched]:
    """Context manager that shows a monitor's reports on `console`.

    `figures` is a function that returns the figures to show for a report.
    """
    display = Display(console, figures)
    monitor.report, monitor.notify = display.show, display.say
    try:
        with display.opened():
            yield monitor
    finally:
        monitor.report = monitor.notify = None
