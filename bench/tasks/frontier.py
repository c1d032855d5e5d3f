"""The frontier at one million URLs: upserts and claims per second, and resident memory.

    python -m bench.tasks.frontier [--urls 1000000] [--hosts 1000]

Three rows: new URLs, the same URLs with higher priorities (each is raised), and claims with their
completion.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.support.machine import machine
from bench.support.paths import RESULTS
from diptych.frontier.queue import Entry, Frontier, Host
from diptych.run.store import Store
from diptych.types import Url

BATCH = 100  # entries of one page
FLOORS = {"new": 15_000, "raised": 15_000, "claims": 10_000}  # per second
MEMORY_FLOOR = 500.0  # MB


def entries(count: int, hosts: int, *, raised: bool) -> Iterator[list[Entry]]:
    """Batches of URLs spread over hosts, with priorities in random order."""
    for start in range(0, count, BATCH):
        batch = []
        for number in range(start, min(start + BATCH, count)):
            host = number % hosts + 1
            priority = ((number * 2_654_435_761) % 1000) / 1000 + raised
            url = Url(f"http://host{host}.example.org/section/{number // 100}/page-{number}.html")
            batch.append(Entry(url, host, priority, number % 7))
        yield batch


def resident_megabytes() -> float:
    """The current resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return pages * 4096 / 1e6


def measure(urls: int, hosts: int, folder: Path) -> dict[str, float]:
    """The rates per second, and the peak memory."""
    store = Store(folder)
    frontier = Frontier(store.db)
    for number in range(1, hosts + 1):
        frontier.add_host(Host(number))
    rates: dict[str, float] = {}
    peak = 0.0
    for name, raised in (("new", False), ("raised", True)):
        started = time.perf_counter()
        with store.transaction() as transaction:
            for position, batch in enumerate(entries(urls, hosts, raised=raised)):
                frontier.add(batch)
                if position % 10 == 9:
                    transaction.checkpoint()
        rates[name] = urls / (time.perf_counter() - started)
        peak = max(peak, resident_megabytes())
    started, claimed, now = time.perf_counter(), 0, 0.0
    while True:
        now += 1.0
        with store.transaction():
            claims = frontier.claim(now, 64)
            for claim in claims:
                frontier.complete(claim, now, status=200)
        if not claims:
            break
        claimed += len(claims)
    rates["claims"] = claimed / (time.perf_counter() - started)
    if claimed != urls:
        sys.exit(f"{claimed} of {urls} URLs were claimed")
    store.close()
    return {**rates, "memory": max(peak, resident_megabytes())}


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument(
        "--folder", type=Path, help="where to put the run; default: a temporary folder"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = measure(options.urls, options.hosts, Path(folder))
    print(
        f"| {options.urls:,} URLs, {options.hosts:,} hosts | measured | at least |\n|---|---:|---:|"
    )
    for name, floor in FLOORS.items():
        print(f"| {name}/s | {found[name]:,.0f} | {floor:,} |")
    print(f"| resident memory, MB | {found['memory']:.0f} | at most {MEMORY_FLOOR:.0f} |")
    result = {
        "urls": options.urls,
        "hosts": options.hosts,
        **{k: round(v, 1) for k, v in found.items()},
    }
    path = RESULTS / "frontier.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**result, "machine": machine([])}, indent=1) + "\n", "utf-8")
    missed = [name for name, floor in FLOORS.items() if found[name] < floor]
    if missed or found["memory"] > MEMORY_FLOOR:
        sys.exit(f"floor missed: {', '.join(missed) or 'memory'}")


if __name__ == "__main__":
    main()
