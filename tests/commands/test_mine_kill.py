"""A run that is killed repeatedly gives the same result as an undisturbed one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from statistics import median

import pytest
from support import zoo
from support.commands import pages, placeless, query, start
from support.serving import MISSING, Request, Server, serve
from warcio.cli import main as warcio

from diptych.run.store import Store

KILLS = 12
SEED = 20
LATENCY = 0.05  # seconds for each answer, so that a crawl takes two or three
ORPHAN = "EOFError: Ran out of input"
"""messages of Python about a worker whose parent was killed before it sent any work"""
TABLES = ("pages", "links", "pairs", "decisions", "segments")


@pytest.mark.slow
def test_killed_run_gives_the_same_result(tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    with serve(zoo.demo_site, latency=LATENCY) as server:
        assert mine(server, undisturbed) == 0
        once = Counter(server.paths)
        server.log.clear()
        kills, said = kill_often(server, killed, len(once))
        assert mine(server, killed) == 0
        asked = Counter(server.paths)
    assert kills >= KILLS * 3 // 4, "most kills must hit a run that is alive"

    assert (killed / "pairs.tsv").read_bytes() == (undisturbed / "pairs.tsv").read_bytes()
    assert placeless(killed, "fetched") == placeless(undisturbed, "fetched")
    assert pages(killed) == pages(undisturbed)
    for table in TABLES:
        count = f"SELECT count(*) FROM {table}"
        assert query(killed, count) == query(undisturbed, count), table
    twice = "SELECT url FROM fetches WHERE status = 200 GROUP BY url HAVING count(*) > 1"
    assert query(killed, twice) == [], "no answer was taken in twice"
    found = "SELECT found FROM sites"
    assert query(killed, found) == query(undisturbed, found), "no pair was told twice to the guide"
    assert query(killed, "SELECT count(*) FROM journal") == [(0,)], "the end is a snapshot"
    check_warcs(killed)
    assert not list(killed.glob("*.part"))

    surplus = asked - once
    # Where a key says that there could be a page is tried or not, by what was known by then.
    assert all(is_missing(path) for path in set(asked) ^ set(once))
    # One page in flight, and one answered so recently that it was not written down yet.
    assert surplus.total() <= 2 * kills
    assert median(asked.values()) <= 2
    assert said.count("Traceback") == said.count(ORPHAN), said


def is_missing(path: str) -> bool:
    return zoo.demo_site(Request(0.0, "GET", path, {})) is MISSING


def command(server: Server, folder: Path) -> list[object]:
    # With all the patience there is: what is left for want of it depends on when answers came.
    return [
        "mine", server.url, "--langs", "en,fr", "--out", folder, "--delay", 0, "--allow-private",
        "--patience", 0, "--quiet",
    ]  # fmt: skip


def mine(server: Server, folder: Path) -> int:
    process = start(*command(server, folder))
    _, stderr = process.communicate(timeout=120)
    assert "Traceback" not in stderr, stderr
    return process.returncode


def kill_often(server: Server, folder: Path, whole: int) -> tuple[int, str]:
    """Start and kill a run at random moments; returns the number of kills, and the output."""
    chance = random.Random(SEED)
    hits, said = 0, ""
    for number in range(KILLS):
        process = start(*command(server, folder))
        wait(process, server, whole, chance)
        hits += process.poll() is None
        process.kill()
        said += process.communicate(timeout=60)[1]
        no_worker_is_left(process.pid)
        if number % 2 and (folder / "run.sqlite").exists():
            Store(folder).close()  # mends, as the next start would
            check_warcs(folder)
    return hits, said


def wait(process: subprocess.Popen, server: Server, whole: int, chance: random.Random) -> None:
    """Wait for some more requests and a moment; after the crawl, wait for a fixed time."""
    requests, before = chance.randrange(6), len(server.log)
    if not requests or len(set(server.paths)) == whole:
        requests, moment = 0, chance.uniform(0, 1.5)  # while it begins, or pairs and aligns
    else:
        moment = chance.uniform(0, 0.15)
    deadline = time.monotonic() + 20
    while len(server.log) < before + requests and time.monotonic() < deadline:
        if process.poll() is not None:
            return
        time.sleep(0.005)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment)


def no_worker_is_left(group: int) -> None:
    """Check that workers, which are in the process group of the run, end after it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("a worker outlived the run that started it")


def check_warcs(folder: Path) -> None:
    """Check that `warcio check` reports no error in any file."""
    files = sorted((folder / "warc").glob("*"))
    told = StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        warcio(["check", *map(str, files)] if files else ["check", os.devnull])
    assert told.getvalue() == ""
