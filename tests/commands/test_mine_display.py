"""The display in a terminal during a run, and the effect of Ctrl-C."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from support import zoo
from support.commands import query, start
from support.serving import Request, Server, serve
from support.terminal import CTRL_C, Terminal
from support.waiting import until

LATER = ("pairing", "learning words", "aligning", "scoring", "writing")
NAMES = {
    "pages", "pages/s", "queue", "downloads", "pairs", "segments", "downloads/pair", "found so far"
}  # fmt: skip
STAGE_LINE = re.compile(
    r". (?P<stage>[a-z]+( [a-z]+)*)( [━╸╺]+ [\d,/]+( [a-z]+)*)?( ~[\w ]+ left)?( \d+:\d\d)?"
)
FINISHING = (
    "Stopping: finishing with the pages fetched so far. Press Ctrl-C again to stop immediately."
)
CONTINUE = "Saved results are kept; run the same command again to continue."
HELD = """
import time
from pathlib import Path
from diptych.steps.check_declarations import CheckTask

def run(task, context, usual=CheckTask.run):
    while not Path("go on").exists():
        time.sleep(0.01)
    return usual(task, context)

CheckTask.run = run  # the first thing after the crawl
from diptych.commands import main
from diptych.api.web import Environment
main(prog_name="diptych", obj=Environment(workers=0))
"""
"""the command line, held after the crawl until there is a file"""


class Screen:
    """A terminal in which `mine` runs on the demo site; `hold` delays some responses."""

    def __init__(self, server: Server, folder: Path, columns: int, rows: int, **more) -> None:
        self.terminal: Terminal | None = None
        self.held: dict[int, Callable[[Terminal], None]] = {}
        self._server = server
        server.before = self._wait
        command = ["mine", server.url, "--langs", "en,fr", "--out", "run", "--delay", 0]
        self._start = lambda: Terminal(
            [*command, "--allow-private"], columns, rows, cwd=folder, **more
        )

    def hold(self, number: int, act: Callable[[Terminal], None]) -> None:
        """Call a function before a request is answered."""
        self.held[number] = act

    def start(self) -> Terminal:
        self.terminal = self._start()
        return self.terminal

    def _wait(self, request: Request) -> None:
        act = self.held.get(len(self._server.log))
        if act is not None:
            until(lambda: self.terminal)
            assert self.terminal is not None
            act(self.terminal)


@contextmanager
def screen(folder: Path, columns: int = 80, rows: int = 24, **more) -> Iterator[Screen]:
    with serve(zoo.demo_site) as server:
        yield Screen(server, folder, columns, rows, **more)


def figures(frame: str) -> dict[str, str]:
    """The figures of a frame by name; none if it shows no figures."""
    lines = frame.splitlines()
    for names, values in pairwise(lines):
        if names.startswith("pages  "):
            starts = [found.start() for found in re.finditer(r"(?:(?<=  )|^)\S", names)]
            ends = [*starts[1:], None]
            cut = [slice(*ends) for ends in zip(starts, ends, strict=True)]
            return {names[part].strip(): values[part].strip() for part in cut}
    return {}


def pages(terminal: Terminal) -> list[str]:
    """The distinct numbers of pages shown during the crawl, in order."""
    crawling = [figures(frame) for frame in list(terminal.frames) if "crawling" in frame]
    return list(dict.fromkeys(shown["pages"] for shown in crawling if shown))


def wait_for_pages(numbers: int) -> Callable[[Terminal], None]:
    return lambda terminal: until(lambda: len(pages(terminal)) >= numbers)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (140, 40), (40, 24)])
def test_crawl_and_each_later_stage_are_shown(tmp_path: Path, columns: int, rows: int) -> None:
    with screen(tmp_path, columns, rows) as shown:
        for number, request in enumerate((5, 15, 25, 35), 2):
            shown.hold(request, wait_for_pages(number))
        terminal = shown.start()
        assert terminal.wait() == 0
    assert len(pages(terminal)) >= 5
    frames = [frame for frame in terminal.frames if figures(frame)]
    found = [STAGE_LINE.fullmatch(frame.splitlines()[-3]) for frame in frames]
    assert all(found)
    stages = list(dict.fromkeys(line["stage"] for line in found if line))
    assert stages == ["crawling", *LATER]
    assert terminal.has_shown("aligning", "/17 page pairs")
    crawl = figures([frame for frame in frames if "crawling" in frame][-1])
    assert set(crawl) == (NAMES if columns >= 80 else {"pages", "queue", "pairs", "found so far"})
    for frame in frames:
        assert set(figures(frame)) <= NAMES
        assert max(map(len, frame.splitlines())) < columns
    assert terminal.text.lstrip().startswith("45  downloads"), "the display leaves nothing"
    # A terminal breaks lines anywhere, also inside words.
    assert "".join(terminal.text.split()).endswith("--min-score0.4--formattsv")


@pytest.mark.slow
def test_screen_without_colours_has_no_codes_for_them(tmp_path: Path) -> None:
    for environment in ({"NO_COLOR": "1"}, {}):
        folder = tmp_path / str(len(environment))
        folder.mkdir()
        with screen(folder, environment=environment, before=HELD) as shown:
            shown.hold(5, lambda terminal: terminal.press(CTRL_C))
            terminal = shown.start()
            until(lambda terminal=terminal: terminal.has_shown("pairing"))
            (folder / "go on").touch()
            terminal.wait()
        assert bool(terminal.colours) == (not environment)
        assert b"\x1b[2K" in terminal.written


@pytest.mark.slow
def test_dumb_terminal_gets_plain_text(tmp_path: Path) -> None:
    with screen(tmp_path, environment={"TERM": "dumb"}) as shown:
        shown.hold(5, lambda terminal: terminal.press(CTRL_C))
        terminal = shown.start()
        terminal.wait()
    assert b"\x1b" not in terminal.written
    assert FINISHING in " ".join(terminal.text.split())


@pytest.mark.slow
def test_pipe_gets_a_line_every_ten_seconds(tmp_path: Path) -> None:
    lines: list[str] = []
    with serve(zoo.demo_site) as server:
        server.before = lambda request: len(server.log) != 12 or until(lambda: lines)
        out = "--out", tmp_path, "--allow-private", "--delay", "0"
        process = start("mine", server.url, "--langs", "en,fr", *out)
        reader = Thread(target=lambda: lines.extend(process.stderr))
        reader.start()
        assert process.wait() == 0
        reader.join()
        process.stdout.close()
        process.stderr.close()
    assert re.fullmatch(r"0:1\d crawling: pages \d+, pages/s [\d.]+, queue \d+, .*\n", lines[0])
    assert "45  downloads" in lines[1]


# -- Ctrl-C ----------------------------------------------------------------------------------------


def press_and_see(terminal: Terminal) -> None:
    """Press Ctrl-C, and wait until the terminal shows the confirmation."""
    terminal.press(CTRL_C)
    until(lambda: terminal.has_shown("Stopping: finishing with the pages fetched so far."))


@pytest.mark.slow
def test_interrupted_crawl_is_confirmed_and_says_how_to_continue(tmp_path: Path) -> None:
    with screen(tmp_path) as shown:
        shown.hold(25, press_and_see)
        terminal = shown.start()
        assert terminal.wait() == 0
    text = " ".join(terminal.text.split())
    assert FINISHING in text
    assert "run the same command again to continue" in " ".join(text.split())
    assert "pages fetched" in text


def test_second_ctrl_c_ends_the_run_immediately(tmp_path: Path) -> None:
    with screen(tmp_path, before=HELD) as shown:
        shown.hold(15, press_and_see)
        terminal = shown.start()
        until(lambda: terminal.has_shown("pairing"))
        terminal.press(CTRL_C)
        assert terminal.wait() == 130
    assert f"Stopped immediately. {CONTINUE}" in " ".join(terminal.text.split())
    assert "Aborted" not in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.slow
def test_ctrl_c_after_the_crawl_ends_the_run(tmp_path: Path) -> None:
    with screen(tmp_path, before=HELD) as shown:
        terminal = shown.start()
        until(lambda: terminal.has_shown("pairing"))
        terminal.press(CTRL_C)
        (tmp_path / "go on").touch()
        assert terminal.wait() == 130
    text = " ".join(terminal.text.split())
    assert re.search(rf"Stopped while [a-z ]+\. {re.escape(CONTINUE)}$", text)


@pytest.mark.slow
def test_second_ctrl_c_ends_the_demo(tmp_path: Path) -> None:
    def has_page() -> bool:
        with suppress(sqlite3.OperationalError):  # there is no table yet
            return bool(query(tmp_path / "diptych-demo", "SELECT 1 FROM pages"))
        return False

    terminal = Terminal(["demo"], 80, 24, cwd=tmp_path, before=HELD)
    until(lambda: terminal.has_shown("crawling") and has_page())
    press_and_see(terminal)
    until(lambda: terminal.has_shown("pairing"))
    terminal.press(CTRL_C)
    assert terminal.wait() == 130
    assert f"Stopped immediately. {CONTINUE}" in " ".join(terminal.text.split())
    assert "Aborted" not in terminal.text
