"""A thousand small bilingual sites crawled together: speed, politeness, pairs, CPU, memory.

    python -m bench.tasks.many_sites [--count 1000] [--delay 0.2] [--out FILE]

The sites are those of `small_sites.py`, one host each, served on loopback by one process that takes
50 ms for each response.  One process and its workers crawl them like the command line
(`live_crawl.py`): with the guided policy and a delay, and with the guided policy and breadth-first
without a delay.  The log of the server states the times of requests.  Exits with 1 if a host
received a request too early, two requests at once, or a request that its robots.txt forbids.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.sites.small_sites import SmallSite, address_of, served, small_site
from bench.support.live_crawl import crawl_apart
from bench.support.machine import machine
from bench.support.tables import percent, show

LATENCY = 0.05  # seconds; a usual answer of the web takes some times that
FORBIDDEN = "/private/"


@dataclass
class Seen:
    """The requests to one host, from the log of the server."""

    times: list[float] = field(default_factory=list)
    at_once: int = 0
    targets: set[str] = field(default_factory=set)


def read_log(lines: Iterable[str]) -> dict[int, Seen]:
    r"""The requests to each site, by its number, from the log of the server.

    >>> read_log(["1.5\t7\t1\t/robots.txt\n", "2.0\t7\t1\t/\n"])[7].times
    [1.5, 2.0]
    """
    hosts: dict[int, Seen] = {}
    for line in lines:
        at, number, at_once, target = line.rstrip("\n").split("\t")
        seen = hosts.setdefault(int(number), Seen())
        seen.times.append(float(at))
        seen.at_once = max(seen.at_once, int(at_once))
        seen.targets.add(target)
    return hosts


def smallest_gap(hosts: Iterable[Seen]) -> float:
    """The shortest time between two requests to one host."""
    return min(after - before for seen in hosts for before, after in pairwise(seen.times))


def right_pairs(sites: Sequence[SmallSite], pairs: Iterable[Sequence[str]], port: int) -> int:
    """The number of verified pairs that are translations."""
    true = {
        tuple(f"http://{site.address}:{port}{target}" for target in pair)
        for site in sites
        for pair in site.pairs
    }
    return len(true & {tuple(pair) for pair in pairs})


def measure(policy: str, delay: float, options: argparse.Namespace) -> dict[str, Any]:
    """Crawl all sites once; returns the figures of the crawl and of the server."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        with served(log, sites=options.count, seed=options.seed, latency=LATENCY) as port:
            homes = [f"http://{address_of(number)}:{port}/" for number in range(options.count)]
            run = crawl_apart(homes, {"policy": policy, "delay": delay})
        with log.open(encoding="utf-8") as stream:
            hosts = read_log(stream)
    sites = [small_site(number, options.seed) for number in range(options.count)]
    requests = sum(len(seen.times) for seen in hosts.values())
    complete = sum(
        set(pair) <= hosts[number].targets
        for number, site in enumerate(sites)
        for pair in site.pairs
        if number in hosts
    )
    true = sum(len(site.pairs) for site in sites)
    right = right_pairs(sites, run["pairs"], port)
    return {
        "policy": policy,
        "delay": delay,
        "pages": run["pages"],
        "requests": requests,
        "seconds": round(run["seconds"], 1),
        "pages per second": round(run["pages"] / run["seconds"], 1),
        "one site after the other, seconds": round(requests * (delay + LATENCY)),
        "processors busy": percent(
            run["processor_seconds"] / run["seconds"] / (os.cpu_count() or 1)
        ),
        "processor ms per page": round(1000 * run["processor_seconds"] / run["pages"], 1),
        "own share of that": percent(run["own_seconds"] / run["processor_seconds"]),
        "hosts in flight": run["in flight"],
        "true pairs": true,
        "fetched": percent(complete / true),
        "downloads per pair": round(requests / max(1, complete), 2),
        "verified": percent(right / true),
        "of those verified, right": percent(right / max(1, len(run["pairs"]))),
        "smallest gap": round(smallest_gap(hosts.values()), 3),
        "at once": max(seen.at_once for seen in hosts.values()),
        "forbidden": sum(
            target.startswith(FORBIDDEN) for seen in hosts.values() for target in seen.targets
        ),
        "peak MB": run["peak_mb"],
        "peak MB of a worker": run["peak_mb_of_a_worker"],
        "loop": run["loop"],
    }


SPEED = (
    "policy", "delay", "pages", "seconds", "pages per second", "one site after the other, seconds",
    "processors busy", "processor ms per page", "own share of that",
    "hosts in flight", "peak MB", "peak MB of a worker",
)  # fmt: skip
PAIRS = (
    "policy", "delay", "requests", "true pairs", "fetched", "downloads per pair", "verified",
    "of those verified, right",
)  # fmt: skip
POLITE = ("policy", "delay", "requests", "smallest gap", "at once", "forbidden")


def tables(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """All tables."""
    titles = {
        "Many sites at once: speed": SPEED,
        "Many sites at once: pairs, percent": PAIRS,
        "Many sites at once: politeness, as the server saw it": POLITE,
    }
    shown = {
        title: [{name: row[name] for name in names} for row in rows]
        for title, names in titles.items()
    }
    late = [{"policy": row["policy"], "delay": row["delay"], **row["loop"]} for row in rows]
    return {**shown, "Many sites at once: how late the event loop is, milliseconds": late}


def faults(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The reasons why the benchmark fails; empty if it succeeds."""
    found = []
    for row in rows:
        name = f"{row['policy']} with a delay of {row['delay']} s"
        if row["smallest gap"] < row["delay"]:
            found.append(f"{name}: two requests to one host within {row['smallest gap']} s")
        if row["at once"] > 1:
            found.append(f"{name}: {row['at once']} requests to one host at once")
        if row["forbidden"]:
            found.append(f"{name}: {row['forbidden']} requests that robots.txt forbids")
    return found


def main() -> int:
    """Measure, print and save the results; returns 1 if the crawl was impolite to a host."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="sites")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds, of the polite crawl")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    runs = (("hybrid", options.delay), ("hybrid", 0.0), ("bfs", 0.0))
    rows = [measure(policy, delay, options) for policy, delay in runs]
    shown = tables(rows)
    show(shown)
    speeds = [row["pages per second"] for row in rows]
    ratio = round(speeds[1] / speeds[2], 3)
    print(f"\nwithout a delay hybrid is {ratio} times as fast as bfs")
    if options.out:
        result = {"sites": options.count, "seed": options.seed, "hybrid beside bfs": ratio}
        result |= {"machine": machine(["aiohttp"]), "tables": shown}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    found = faults(rows)
    for fault in found:
        print(f"FAILED: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
