"""`diptych.mine` in a script, a thread and a running loop; progress, cancellation, mistakes."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support import zoo
from support.serving import Request, reserved, serve, url_of
from support.terminal import Terminal
from support.waiting import until

import diptych
from diptych.api.mine import MineOptions, mine_sites
from diptych.api.web import Environment
from diptych.demo import SITE
from diptych.engine.file_server import serve as serve_files
from diptych.engine.workers import Workers
from diptych.reports.progress import Monitor

QUICK: dict[str, Any] = {"langs": ["en", "fr"], "delay": 0, "allow_private": True, "jobs": 1}


def mine(url: str, out: Path, **more: Any) -> diptych.Run:
    return diptych.mine(url, out=out, **{**QUICK, **more})


def test_options_are_declared_once() -> None:
    """Check that the parameters of `mine` are the fields of its options, with their defaults."""
    parameters = inspect.signature(diptych.mine).parameters
    options = {field.name: field.default for field in fields(MineOptions)}
    assert set(parameters) == {*options, "progress", "cancel"}
    assert {
        name: parameter.default
        for name, parameter in parameters.items()
        if name in options and name != "langs"
    } == {name: default for name, default in options.items() if name != "langs"}


def test_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, diptych\n"
        "print('once')\n"
        "run = diptych.mine(sys.argv[1], langs='en,fr', out='run', delay=0, allow_private=True)\n"
        "frame = run.to_pandas()\n"
        "print(run.summary.pairs, len(frame), list(frame.columns)[:3])\n",
        "utf-8",
    )
    package = str(Path(diptych.__file__).parent.parent)
    with serve_files(SITE) as address:
        done = subprocess.run(
            [sys.executable, script, address], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": package}, timeout=180,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), "it prints nothing by itself"
    assert done.stdout == "once\n16 427 ['left', 'right', 'score']\n"


def in_a_thread(act: Callable[[], diptych.Run]) -> diptych.Run:
    found: list[diptych.Run] = []
    thread = threading.Thread(target=lambda: found.append(act()))
    thread.start()
    thread.join()
    return found[0]


def in_a_running_loop(act: Callable[[], diptych.Run]) -> diptych.Run:
    async def cell() -> diptych.Run:
        return act()

    return asyncio.run(cell())


@pytest.mark.parametrize("started", [in_a_thread, in_a_running_loop])
def test_thread_and_notebook_can_mine(tmp_path: Path, started: Any) -> None:
    with serve(zoo.header_hreflang()) as server:
        run = started(lambda: mine(server.url, tmp_path / "run"))
    assert [page.lang for page in run.pages()] == ["en", "fr"]
    assert run.summary.pairs == 1


def test_several_sites_and_archives(tmp_path: Path) -> None:
    with serve(zoo.header_hreflang()) as server:
        first = mine(server.url, tmp_path / "run", langs="en,fr")
        again = diptych.mine(
            warc=first.folder / "warc", langs=("en", "fr"), out=str(tmp_path / "again"), jobs=1
        )
        both = mine([server.url, f"{server.url}fr"], tmp_path / "both", scope="prefix")
    assert [pair[:2] for pair in first.pairs()] == [pair[:2] for pair in again.pairs()]
    assert both.summary.pages == 2


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[diptych.Progress] = []
    with serve(zoo.header_hreflang()) as server:
        run = mine(server.url, tmp_path / "run", progress=seen.append)
    stages = list(dict.fromkeys(each.stage for each in seen))
    assert stages[0] == "crawling"
    assert {"pairing", "aligning", "scoring", "writing"} <= set(stages)
    assert seen[-1].pages == run.summary.pages


SCRIPT = """
import sys, diptych
url, out = sys.argv[1:]
run = diptych.mine(
    url, langs="en,fr", out=out, delay=0, allow_private=True, jobs=1, progress=True
)
print(run.summary.pairs, "pairs")
raise SystemExit
"""


def test_display_is_shown_in_a_terminal_on_request(tmp_path: Path) -> None:
    terminals: list[Terminal] = []

    def hold(request: Request) -> None:
        if request.path == "/fr":
            until(lambda: terminals and terminals[0].has_shown("crawling", "pages/s"))

    with serve(zoo.header_hreflang()) as server:
        server.before = hold
        terminals.append(Terminal([server.url, tmp_path / "run"], 80, 24, before=SCRIPT))
        terminals[0].wait()
    assert terminals[0].text.split() == ["1", "pairs"], "the display goes when it is done"


class Stop(Exception):
    """An exception of the user's own."""


def test_exception_of_the_user_ends_the_run_and_the_same_call_continues(tmp_path: Path) -> None:
    def report(progress: diptych.Progress) -> None:
        if progress.stage == "aligning":
            raise Stop

    with serve(zoo.header_hreflang()) as server:
        with pytest.raises(Stop):
            mine(server.url, tmp_path / "run", progress=report)
        assert mine(server.url, tmp_path / "run").summary.pairs == 1
        assert len([request for request in server.log if request.path == "/fr"]) == 1


def test_another_thread_can_cancel(tmp_path: Path) -> None:
    cancel = threading.Event()

    def before(request: Request) -> None:
        if request.path != "/robots.txt":
            cancel.set()

    with serve(zoo.header_hreflang()) as server:
        server.before = before
        with pytest.raises(diptych.StoppedError):
            mine(server.url, tmp_path / "run", cancel=cancel)
        assert diptych.open(tmp_path / "run").summary.pairs == 0
        cancel.clear()
        server.before = lambda request: None
        assert mine(server.url, tmp_path / "run", cancel=cancel).summary.pairs == 1


def test_run_that_is_still_mined_can_be_read(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def report(progress: diptych.Progress) -> None:
        if progress.stage != "crawling":
            run = diptych.open(tmp_path / "run")
            seen.append((run.summary.pages, len(list(run.segments(min_score=0)))))

    with serve_files(SITE) as address:
        run = mine(address, tmp_path / "run", progress=report)
    assert {pages for pages, _ in seen} == {run.summary.pages}
    assert seen[-1][1] >= run.summary.segments


@pytest.mark.parametrize(
    ("sites", "options", "named"),
    [
        ("https://example.org", {"langs": ["en"]}, "langs"),
        ("https://example.org", {"langs": "en,xx"}, "xx"),
        ("https://example.org", {"max_pages": 0}, "max_pages must be at least 1, not 0"),
        ("https://example.org", {"share": 101}, "share must be at most 100, not 101"),
        ("https://example.org", {"scope": "all"}, "scope must be one of"),
        ("https://example.org", {"filter": "nothing"}, "nothing"),
        ("https://example.org", {"user_agent": "a\nb"}, "user_agent must be one line"),
        ((), {}, "warc"),
        ("https://example.org", {"max_pages": 1.5}, "max_pages must be a whole number"),
        ("https://example.org", {"delay": float("inf")}, "delay must be a finite number"),
        ("https://example.org", {"progress": 3}, "progress must be a function"),
        ("https://example.org", {"cancel": True}, "cancel must be a threading.Event"),
        ([b"https://example.org"], {}, "it must be a string"),
        (["https://a.org", "https://b.org"], {"also": "https://c.org"}, "also"),
    ],
)
def test_mistakes_are_documented_exceptions_in_words_of_python(
    tmp_path: Path, sites: Any, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(diptych.ConfigError) as raised:
        mine(sites, tmp_path / "run", **options)
    assert named in str(raised.value)
    assert "--" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_site_that_does_not_answer_is_a_run_with_a_note(tmp_path: Path) -> None:
    with reserved() as place:
        run = mine(url_of(place), tmp_path / "run")
    assert (run.summary.pages, run.summary.segments, list(run.segments())) == (0, 0, [])
    assert "refused the connection" in run.notes[-1]
    assert "refused the connection" in run._repr_html_()


def test_truncated_archive_is_a_note(tmp_path: Path, recorded: Path) -> None:
    [archive] = (recorded / "warc").iterdir()
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(archive.read_bytes()[:-20_000])
    run = diptych.mine(warc=cut, langs="en,fr", out=tmp_path / "run", jobs=1)
    assert 0 < run.summary.segments < 440
    assert any("cut.warc.gz" in note for note in run.notes)


class Prepared(Workers):
    """Workers that record whether the run existed when they were told to start."""

    def __init__(self, run: Path) -> None:
        super().__init__(0)
        self._run = run
        self.seen: list[bool] = []

    def prepare(self, tasks: int = 0) -> None:
        self.seen.append(self._run.exists())


def test_workers_start_before_the_strategies_are_imported(
    tmp_path: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Prepared(tmp_path / "run")
    monkeypatch.setattr(Environment, "start_workers", lambda *_: workers)
    asked = MineOptions(warc=(str(recorded),), langs="en,fr", out=tmp_path / "run")
    mined = mine_sites(asked, Monitor(), Environment())
    assert mined.summary.pairs > 0
    assert workers.seen[0] is False


def test_no_note_has_a_placeholder_for_an_option(tmp_path: Path) -> None:
    with serve(zoo.header_hreflang()) as server:
        run = mine(server.url, tmp_path / "run", langs="en,tet")
    assert any("mine with langid MODEL" in note for note in run.notes)
    assert not [note for note in run.notes if "\x0e" in note]
    report = (run.folder / "report.html").read_text("utf-8")
    assert "mine with --langid MODEL" in report
    assert "\x0e" not in report


def test_folder_of_another_run_is_refused_in_words_of_python(tmp_path: Path) -> None:
    with serve(zoo.header_hreflang()) as server:
        mine(server.url, tmp_path / "run")
        with pytest.raises(diptych.StoreError) as raised:
            mine(server.url, tmp_path / "run", langs="en,de")
    assert "--" not in str(raised.value)
