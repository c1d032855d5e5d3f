"""Thousands of sites in one crawl on loopback: errors, memory, and requests to each host.

    python -m tools.torture.load [--sites 5000] [--minutes 30] [--delay 1]

The sites are those of `bench.sites.small_sites`, one host each, served by one process.  One command
(`diptych mine`) crawls and mines all of them.  Memory is measured each second; the log of the
server says when each host was asked.  Exits with 1 if the command fails, if a page costs an error,
if a host is asked too early, twice at once or for what its robots.txt forbids, or if memory grows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench.sites.small_sites import address_of, served
from bench.tasks.many_sites import FORBIDDEN
from bench.tasks.memory import family, megabytes
from diptych.run.store import Store
from tools.torture.results import keep

INTERVAL = 1.0  # seconds between two looks at the memory
MAX_GROWTH, ALLOWANCE = 1.2, 50.0  # from the second to the last quarter: a factor, and megabytes
PARTS = ("first quarter", "second quarter", "third quarter", "last quarter")
ERRORS = "SELECT count(*) FROM urls WHERE reason LIKE 'failed:%'"
UNANSWERED = "SELECT count(*) FROM fetches WHERE status = 0"


class Request(NamedTuple):
    """A request that the server has logged."""

    at: float
    host: int
    at_once: int
    """requests that the host had to answer then"""
    target: str


class Look(NamedTuple):
    """The memory of the command at one time."""

    at: float
    main: float
    """megabytes of the main process"""
    whole: float
    """megabytes of all processes"""


def requests_in(lines: Iterable[str]) -> list[Request]:
    r"""The requests in the log of the server, in order.

    >>> requests_in(["1.5\t7\t1\t/robots.txt\n"])
    [Request(at=1.5, host=7, at_once=1, target='/robots.txt')]
    """
    cells = (line.rstrip("\n").split("\t") for line in lines)
    return sorted(Request(float(at), int(host), int(n), target) for at, host, n, target in cells)


def smallest_gap(requests: Iterable[Request]) -> float:
    """The shortest time between two requests to one host; infinite if none was asked twice.

    >>> smallest_gap([Request(1.0, 1, 1, "/"), Request(1.5, 2, 1, "/"), Request(3.0, 1, 1, "/a")])
    2.0
    """
    times: dict[int, list[float]] = {}
    for request in requests:
        times.setdefault(request.host, []).append(request.at)
    gaps = (after - before for each in times.values() for before, after in pairwise(each))
    return min(gaps, default=float("inf"))


def mined(command: Sequence[str]) -> tuple[int, list[Look]]:
    """Run the command; returns its exit code, and its memory over time."""
    looks: list[Look] = []
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            sizes = [megabytes(each) for each in family(process.pid)]
            looks.append(Look(time.monotonic(), sizes[0], sum(sizes)))
            time.sleep(INTERVAL)
    return process.returncode, looks


def row(part: str, requests: Sequence[Request], looks: Sequence[Look]) -> dict[str, Any]:
    """The figures of a part of the time."""
    seconds = requests[-1].at - requests[0].at
    return {
        "part of the crawl": part,
        "minutes": round(seconds / 60, 1),
        "hosts asked": len({request.host for request in requests}),
        "requests": len(requests),
        "requests per second": round(len(requests) / seconds, 1),
        "least seconds between requests to a host": round(smallest_gap(requests), 3),
        "requests to a host at once": max(request.at_once for request in requests),
        "forbidden requests": sum(each.target.startswith(FORBIDDEN) for each in requests),
        "MB of the main process": round(max(look.main for look in looks)),
        "MB of all processes": round(max(look.whole for look in looks)),
    }


def table(requests: Sequence[Request], looks: Sequence[Look]) -> list[dict[str, Any]]:
    """The figures of each quarter of the crawl, and of all of it."""
    first, last = requests[0].at, requests[-1].at
    bounds = [first + (last - first) * number / len(PARTS) for number in range(len(PARTS))]
    ends = [*bounds[1:], float("inf")]
    rows = []
    for part, start, end in zip(PARTS, bounds, ends, strict=True):
        inside = [each for each in requests if start <= each.at < end]
        rows.append(
            row(part, inside, [each for each in looks if start <= each.at < min(end, last)])
        )
    return [*rows, row("all of it", requests, [each for each in looks if first <= each.at <= last])]


def faults(rows: Sequence[dict[str, Any]], delay: float) -> list[str]:
    """The reasons why the test fails; empty if it succeeds."""
    *_, whole = rows
    found = []
    if whole["least seconds between requests to a host"] < delay:
        found.append("a host was asked too early")
    if whole["requests to a host at once"] > 1:
        found.append("a host was asked twice at once")
    if whole["forbidden requests"]:
        found.append("a host was asked for what its robots.txt forbids")
    for name in ("MB of the main process", "MB of all processes"):
        if rows[3][name] > MAX_GROWTH * rows[1][name] + ALLOWANCE:
            found.append(f"memory grows: {rows[1][name]} {name} became {rows[3][name]}")
    return found


def errors(run: Path) -> list[str]:
    """The errors that a run has recorded."""
    with Store(run, write=False) as store:
        counts = {
            what: store.count(query)
            for what, query in (
                ("pages that cost an error", ERRORS),
                ("requests without an answer", UNANSWERED),
            )
        }
    return [f"{count} {what}" for what, count in counts.items() if count]


def main() -> int:
    """Crawl, print and save the figures; returns 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=30.0, help="at most, of the crawl")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between requests")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, run, listed = folder / "log.tsv", folder / "run", folder / "sites.txt"
        with served(log, sites=asked.sites) as port:
            homes = (f"http://{address_of(number)}:{port}/" for number in range(asked.sites))
            listed.write_text("\n".join([*homes, ""]), "utf-8")
            code, looks = mined([
                sys.executable, "-m", "diptych", "mine", "--sites", str(listed), "--langs", "en,fr",
                "--quiet", "--allow-private", "--delay", str(asked.delay), "--out", str(run),
                "--max-minutes", str(asked.minutes),
            ])  # fmt: skip
        requests = requests_in(log.read_text("utf-8").splitlines())
        rows = table(requests, looks)
        found = [*faults(rows, asked.delay), *errors(run)]
    found += [f"the command ended with {code}"] if code else []
    keep("load", rows, delay=asked.delay, faults=found)
    for fault in found:
        print(f"FAILED: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
