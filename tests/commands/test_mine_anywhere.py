"""A run works in any script, thread and event loop, and at the same time as another run."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import strange, zoo
from support.commands import query, run
from support.names import LOOPBACK
from support.serving import MISSING, Reply, serve

import diptych
from diptych.api.web import Environment
from diptych.commands import main

QUICK = ("--langs", "en,fr", "--delay", "0", "--allow-private", "--quiet")
SCRIPT = """
import sys
from diptych.commands import main
from diptych.api.web import Environment

print("once")
main(sys.argv[1:], standalone_mode=False, obj=Environment(workers=2))
"""


def test_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    package = str(Path(diptych.__file__).parent.parent)
    with serve(zoo.header_hreflang()) as server:
        done = subprocess.run(
            [sys.executable, script, "mine", server.url, *QUICK, "--out", tmp_path / "run"],
            env={**os.environ, "PYTHONPATH": package}, capture_output=True, text=True, timeout=180,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "once\n"), done.stderr
    assert query(tmp_path / "run", "SELECT accept FROM decisions") == [(1,)]


def mine(url: str, out: Path, *more: object, langs: str = "en,fr") -> int:
    """Mine a site with a worker process; returns the exit code."""
    given = ["mine", url, *QUICK[2:], "--langs", langs, "--out", str(out), *map(str, more)]
    environment = Environment(workers=1, resolver=LOOPBACK)
    try:
        main(given, standalone_mode=False, obj=environment)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def in_a_thread(act: Callable[[], int]) -> int:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(act()))
    thread.start()
    thread.join()
    return codes[0]


def in_a_loop(act: Callable[[], int]) -> int:
    async def outer() -> int:
        return act()

    return asyncio.run(outer())


@pytest.mark.parametrize("started", [in_a_thread, in_a_loop])
def test_mine_works_in_a_thread_and_in_a_running_loop(tmp_path: Path, started: Any) -> None:
    with serve(zoo.header_hreflang()) as server:
        code = started(lambda: mine(server.url, tmp_path / "run"))
    assert code in (0, 1)
    assert query(tmp_path / "run", "SELECT count(*) FROM pages") == [(2,)]
    assert query(tmp_path / "run", "SELECT accept FROM decisions") == [(1,)]


def test_two_runs_at_once_have_their_own_options(tmp_path: Path) -> None:
    lines = strange.lines()
    taught = tmp_path / "qaa.txt"
    taught.write_text("\n".join(lines[:150]), "utf-8")
    assert run("train", "langid", "qaa", taught, "--out", tmp_path / "qaa.lang").exit_code == 0
    page = "".join(f"<p>{line}</p>" for line in lines[150:170])
    site = zoo.site(["/strange"], {"/strange": Reply(f"<html><body>{page}")}, robots=MISSING)
    codes: dict[str, int] = {}
    both_began = threading.Barrier(2, timeout=60)

    def work(name: str, *more: object, langs: str) -> None:
        both_began.wait()
        codes[name] = mine(server.url, tmp_path / name, *more, langs=langs)

    with serve(site) as server:
        options = {
            "taught": (("--langid", tmp_path / "qaa.lang"), "en,qaa"),
            "untaught": ((), "en,fr"),
        }
        threads = [
            threading.Thread(target=work, args=(name, *more), kwargs={"langs": langs})
            for name, (more, langs) in options.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(codes) == {"taught", "untaught"}
    langs = {
        name: query(tmp_path / name, "SELECT lang FROM pages JOIN urls ON key = pages.url"
                                     " WHERE urls.url LIKE '%strange'")
        for name in codes
    }  # fmt: skip
    assert langs["taught"] == [("qaa",)]
    assert langs["untaught"] != [("qaa",)]
    assert len(langs["untaught"]) == 1
