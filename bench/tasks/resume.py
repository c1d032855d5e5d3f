"""Seconds until a killed crawl fetches again, and the cost of that ability for the crawl.

    python -m bench.tasks.resume [--pages 5000] [--urls 20000] [--sites 400] [--out FILE]

A site in memory with three sitemaps of `--urls` URLs each is crawled up to `--pages` pages and
killed at ten points.  From each point, a new process continues: the seconds are those from opening
the run until the first URL is claimed, without the start of Python.  Then the same crawl is
repeated with the journal alone, and many small sites are crawled together.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.support.memory_site import START, MemoryCrawl, MemorySite
from bench.support.tables import Tables, show_and_keep
from diptych.frontier import guides
from diptych.frontier.crawl import Crawl
from diptych.run.encoding import read_snapshot
from diptych.run.store import Store

POINTS = 10
EVERY = 20  # turns between two commits


def opened(folder: Path, urls: int) -> dict[str, Any]:
    """Open a killed run in a new process; returns a row of the table."""
    crawl = MemoryCrawl(folder, [MemorySite(urls)])
    started = time.perf_counter()
    with Store(folder) as store:
        entries = store.count("SELECT count(*) FROM journal")
        taken = crawl.open(store)
        taken.next(START, 1)
        seconds = time.perf_counter() - started
        (data,) = store.db.execute("SELECT data FROM guides").fetchone()
        known = read_snapshot(data)[0]["listed"] if data else 0
        return {
            "downloads": store.count("SELECT count(*) FROM fetches"),
            "URLs in the snapshot": known,
            "kB": len(data) // 1000,
            "entries of the journal": entries,
            "s": round(seconds, 2),
        }


def killed(folder: Path, pages: int, urls: int) -> list[dict[str, Any]]:
    """The rows of a crawl that is killed at several points."""
    crawl = MemoryCrawl(folder / "run", [MemorySite(urls)], pages, EVERY)
    points: list[Path] = []

    def at_commit(_: Crawl, turns: int) -> bool:
        if len(crawl.fetched) >= len(points) * pages // POINTS + pages // POINTS // 2:
            points.append(folder / str(turns))
            shutil.copytree(folder / "run", points[-1])
        return True

    crawl.run(at_commit)
    command = [sys.executable, "-m", "bench.tasks.resume", "--urls", str(urls), "--open"]
    texts = [subprocess.check_output([*command, str(point)], text=True) for point in points]
    return [json.loads(text) for text in texts]


def crawled(folder: Path, pages: int, urls: int) -> float:
    """The CPU seconds of a crawl."""
    started = time.process_time()
    MemoryCrawl(folder, [MemorySite(urls)], pages, EVERY).run()
    return round(time.process_time() - started, 1)


@contextmanager
def journal_alone() -> Iterator[None]:
    """Disable snapshots, so that only the journal is written."""
    usual, guides.MIN_WORK = guides.MIN_WORK, sys.maxsize
    try:
        yield
    finally:
        guides.MIN_WORK = usual


def many_sites(folder: Path, count: int) -> dict[str, Any]:
    """Crawl many sites of several sizes; returns the numbers of guides in memory."""
    sites = [MemorySite(5 + number % 50, f"s{number}.org", 20) for number in range(count)]
    crawl, counts = MemoryCrawl(folder, sites, commit_every=EVERY), [0]

    def at_commit(crawl: Crawl, _: int) -> bool:
        counts.append(len(crawl.guides))
        return True

    crawl.run(at_commit)
    started = time.perf_counter()
    with Store(folder) as store:
        again = crawl.open(store)
        seconds = round(time.perf_counter() - started, 2)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
        return {
            "sites": count,
            "downloads": len(crawl.fetched),
            "guides at most": max(counts),
            "after half of the downloads": counts[len(counts) // 2],
            "at three quarters": counts[len(counts) * 3 // 4],
            "when it is opened again": len(again.guides),
            "s to open": seconds,
            "MB at most": memory,
        }


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--urls", type=int, default=20_000, help="in each of three sitemaps")
    parser.add_argument("--sites", type=int, default=400)
    parser.add_argument("--out", type=Path, help="file for the result")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.open:
        print(json.dumps(opened(asked.open, asked.urls)))
        return
    with tempfile.TemporaryDirectory() as name:
        sites = many_sites(Path(name) / "many", asked.sites)
        rows = killed(Path(name), asked.pages, asked.urls)
        with journal_alone():
            without = crawled(Path(name) / "journal", asked.pages, asked.urls)
        seconds = crawled(Path(name) / "snapshots", asked.pages, asked.urls)
    cost = {"downloads": asked.pages, "CPU s": seconds, "CPU s with the journal alone": without}
    tables: Tables = {
        "Until a crawl that was killed fetches again": rows,
        "What snapshots cost a crawl without network and parsing": [cost],
        "Guides in memory": [sites],
    }
    show_and_keep(tables, asked.out)


if __name__ == "__main__":
    main()
