from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from diptych.reports.display import (
    Display,
    Figure,
    OutputAbove,
    fitting,
    mining_figures,
    plain_line,
    progress_display,
)
from diptych.reports.progress import Monitor, Progress

CRAWL = Progress(
    stage="crawling", done=1234, unit="pages", pages=1234, pages_per_second=9.87, queued=56_789,
    downloads=2345, pairs=456, segments=12_345, downloads_per_pair=5.14, share_found=0.873,
    seconds=75.0,
)  # fmt: skip
ALIGNING = replace(CRAWL, stage="aligning", done=45, total=1890, unit="page pairs")
WIDEST = replace(
    ALIGNING, stage="learning words", done=1_234_567, total=12_345_678, pages=123_456_789,
    pairs=12_345_678, segments=1_234_567_890, seconds=123_456.0, seconds_left=100_000.0,
)  # fmt: skip


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Tty(StringIO):
    """A terminal that records its output."""

    def isatty(self) -> bool:
        return True


def lines(progress: Progress, width: int) -> list[str]:
    """The lines of a frame."""
    console = Console(file=Tty(), width=width, force_terminal=True, color_system=None)
    display = Display(console, clock=Clock())
    with display.opened():
        display.show(progress)
        with console.capture() as captured:
            console.print(display.frame())
    shown = [line for line in captured.get().splitlines() if not line.startswith("\x1b")]
    return [line.rstrip() for line in shown[-3:]]


# -- in a terminal ---------------------------------------------------------------------------------


def test_crawl_shows_all_figures_in_a_usual_terminal() -> None:
    stage, names, values = lines(CRAWL, 100)
    assert stage[2:] == "crawling 1:15"
    assert _names(names) == [
        "pages", "pages/s", "queue", "downloads", "pairs", "segments", "downloads/pair",
        "found so far",
    ]  # fmt: skip
    assert values.split() == ["1,234", "9.9", "56,789", "2,345", "456", "12,345", "5.14", "~87%"]


def test_later_stage_shows_a_bar_a_count_and_the_time_left() -> None:
    stage, names, values = lines(replace(ALIGNING, done=945, seconds_left=90.0), 80)
    assert stage.endswith(" 945/1,890 page pairs ~2 min left 1:15")
    assert stage.count("━") == 15, "half of a bar without colours"
    assert names.split() == ["pages", "pairs", "segments", "downloads/pair"]
    assert values.split() == ["1,234", "456", "12,345", "5.14"]


@pytest.mark.parametrize("total", [None, 0, 1])
def test_stage_of_one_part_has_no_bar(total: int | None) -> None:
    assert lines(replace(ALIGNING, total=total), 80)[0][2:] == "aligning 1:15"


def test_count_of_parts_does_not_exceed_the_total() -> None:
    assert " 1,890/1,890 page pairs " in lines(replace(ALIGNING, done=2000), 80)[0]


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 140])
@pytest.mark.parametrize("progress", [CRAWL, replace(CRAWL, seconds_left=7.0), ALIGNING, WIDEST])
def test_nothing_is_wrapped_or_cut_in_a_terminal_of_any_width(
    progress: Progress, width: int
) -> None:
    stage, names, values = lines(progress, width)
    assert all(len(line) < width for line in (stage, names, values))
    figures = {figure.name: figure.value for figure in mining_figures(progress)}
    assert values.split() == [figures[name] for name in _names(names)]
    assert progress.stage in stage
    if width >= 40:
        assert figures["pairs"] in values


def _names(line: str) -> list[str]:
    return [name.strip() for name in line.split("  ") if name.strip()]


def test_narrow_terminal_shows_the_figures_that_matter_most() -> None:
    _, names, _ = lines(CRAWL, 40)
    assert _names(names) == ["pages", "queue", "pairs", "found so far"]


def test_figures_are_left_out_by_rank_and_keep_their_order() -> None:
    figures = [Figure("aaaa", "1", 2), Figure("bbbb", "1", 0), Figure("cc", "1", 1)]
    assert fitting(figures, 14) == figures
    assert fitting(figures, 13) == figures[1:]
    assert fitting(figures, 4) == [figures[1]]
    assert fitting(figures, 3) == [figures[2]]


def test_clock_advances_between_reports() -> None:
    console, clock = Console(file=Tty(), force_terminal=True, color_system=None), Clock()
    display = Display(console, clock=clock)
    with display.opened():
        display.show(CRAWL)
        clock.now += 10
        with console.capture() as captured:
            console.print(display.frame())
    assert "crawling 1:25" in captured.get()


@pytest.mark.parametrize(("width", "rows"), [(100, 3), (60, 5), (40, 5), (30, 7)])
def test_rows_that_a_narrower_terminal_has_wrapped_are_erased(width: int, rows: int) -> None:
    file = Tty()
    console = Console(file=file, width=100, force_terminal=True, color_system=None)
    display = Display(console, clock=Clock())
    with display.opened(), display._live._lock:  # type: ignore[union-attr]
        assert display._live is not None
        display.show(CRAWL)
        display._live.refresh()
        last = file.getvalue().rpartition("\x1b[2K")[2]
        shown = re.sub(r"\x1b\[[0-9;]*m", "", last).split("\n")
        file.truncate(0)
        console.width = width
        display._live.refresh()
        erased = file.getvalue().count("\x1b[2K")
        assert erased == sum(-(-len(line) // width) for line in shown) == rows
        file.truncate(0)
        display._live.refresh()
        assert file.getvalue().count("\x1b[2K") == 3, "the new frame is not wrapped"


def test_ascii_terminal_gets_ascii() -> None:
    class Ascii(Tty):
        encoding = "ascii"

    file = Ascii()
    display = Display(Console(file=file, width=80, force_terminal=True))
    with display.opened():
        display.show(ALIGNING)
    assert file.getvalue().isascii()
    assert "aligning" in file.getvalue()


# -- elsewhere -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_dumb", [True, False])
def test_without_a_terminal_a_line_is_printed_every_ten_seconds(
    is_dumb: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if is_dumb else "xterm")
    file, clock = Tty() if is_dumb else StringIO(), Clock()
    display = Display(Console(file=file, width=40), clock=clock)
    with display.opened():
        for second in range(35):
            display.show(replace(CRAWL, seconds=float(second)))
            clock.now += 1
    assert [line.partition(":")[2][:12] for line in file.getvalue().splitlines()] == [
        "10 crawling:", "20 crawling:", "30 crawling:"
    ]  # fmt: skip
    assert "\x1b" not in file.getvalue()
    assert "found so far ~87%\n" in file.getvalue()


def test_file_is_not_a_terminal_even_with_forced_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = StringIO()
    display = Display(Console(file=file))
    with display.opened():
        display.show(CRAWL)
        display.say("note: 1 [b]")
    assert file.getvalue() == "note: 1 [b]\n"


def test_plain_line_has_the_time_left() -> None:
    shown = plain_line(replace(ALIGNING, seconds_left=3.2), [])
    assert shown == "1:15 aligning 45/1,890 page pairs: ~4 s left"


# -- what is said at once --------------------------------------------------------------------------


@pytest.mark.parametrize(("is_terminal", "wrapped"), [(True, True), (False, False)])
def test_long_line_is_wrapped_between_words_in_a_terminal_and_whole_in_a_file(
    is_terminal: bool, wrapped: bool
) -> None:
    file = Tty() if is_terminal else StringIO()
    console = Console(file=file, width=30, force_terminal=is_terminal or None, color_system=None)
    note = "note: http://a.org asks for a Crawl-delay of 60 s: kept"
    with progress_display(Monitor(), console) as monitor:
        assert monitor.notify is not None
        monitor.notify(note)
    said = file.getvalue()
    assert (note not in said) == wrapped
    assert note in " ".join(said.split())


def test_lines_above_the_display_stay_unchanged() -> None:
    file = Tty()
    console = Console(file=file, width=30, force_terminal=True, color_system=None)
    line = "http://a.org/\tbilingual\t0.988\t2\ten=http://a.org/ fr=http://a.org/fr [b] 1\n"
    display, output = Display(console), OutputAbove(console)
    with display.opened():
        display.show(CRAWL)
        output.write(line[:20])
        assert line[:20] not in file.getvalue()
        output.write(line[20:])
        output.flush()
        assert output.isatty()
    assert file.getvalue().count(line) == 1
