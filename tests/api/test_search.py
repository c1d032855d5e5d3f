"""The screen of a terminal during a search for bilingual sites."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import zoo
from support.serving import Request, serve
from support.terminal import CTRL_C, Terminal
from support.waiting import until


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (80, "downloads  pages/s  leads  sites tested  bilingual  downloads/site"),
        (40, "downloads  sites tested  bilingual"),
    ],
)
def test_search_shows_what_it_has_tested_and_found(
    tmp_path: Path, columns: int, names: str
) -> None:
    terminals: list[Terminal] = []

    def hold(request: Request) -> None:
        if len(server.log) == 2:
            until(lambda: terminals and terminals[0].has_shown("searching 0:0", names, "\n1 "))

    with serve(zoo.header_hreflang()) as server:
        server.before = hold
        command = ["detect", server.url, "--langs", "en,fr", "--allow-private", "--delay", 0]
        terminals.append(Terminal(command, columns, 24, cwd=tmp_path))
        terminals[0].wait()
    assert "searching" not in terminals[0].text


def test_search_that_is_stopped_says_so(tmp_path: Path) -> None:
    terminals: list[Terminal] = []

    def stop(request: Request) -> None:
        until(lambda: terminals)
        terminals[0].press(CTRL_C)
        until(lambda: terminals[0].has_shown("Stopping: finishing with the sites tested so far."))

    with serve(zoo.header_hreflang()) as server:
        server.before = stop
        command = ["detect", server.url, "--langs", "en,fr", "--allow-private", "--delay", 0]
        terminals.append(Terminal(command, 80, 24, cwd=tmp_path))
        terminals[0].wait()
    assert "Traceback" not in terminals[0].text
