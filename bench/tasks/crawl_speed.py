"""Pages per second of a bare aiohttp loop, Scrapy and Diptych on the same site.

    python -m bench.tasks.crawl_speed

The site is a real one of about 2,000 pages, served from memory on loopback without delay.  The
programs run in turn in separate processes, several times; the best run of each counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.sites.built import add_sites_option, build_native, build_variant, site_builder
from bench.sites.fast_server import measure, served_from_memory
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.processes import give_up, last_line

RESULT = RESULTS / "crawl_speed.json"
FLOOR = 0.6  # least share of the bare loop's speed that Diptych must reach
TOLERANCE = 0.01  # by how much the programs may disagree on the number of pages
TIMEOUT = 900  # seconds; a run takes some ten
LIBRARIES = ("diptych", "aiohttp", "selectolax", "scrapy", "twisted", "lxml")

# The whole Apache manual in eight languages: 1,952 pages, about a hundred links on each.
APACHE = "--family apache2-manual --scheme dir --langs en,fr,de,es,ja,ko,ru,tr --crosslinks keep"


@dataclass(frozen=True)
class Row:
    """The best run of one program."""

    program: str
    pages: int
    seconds: float
    pages_per_second: float
    ratio: float
    runs: list[float]


Run = dict[str, Any]
Program = Callable[[str, int], Run]


def bare(home: str, connections: int) -> Run:
    """Crawl with the bare loop."""
    return report_of(["bench.baselines.bare_crawl", home, str(connections)])


def scrapy(home: str, connections: int) -> Run:
    """Crawl with Scrapy, with its queue in memory."""
    return report_of(["bench.baselines.scrapy_crawl", home, str(connections)])


def scrapy_jobdir(home: str, connections: int) -> Run:
    """Crawl with Scrapy, with its queue on disk."""
    with tempfile.TemporaryDirectory() as job:
        return report_of(["bench.baselines.scrapy_crawl", home, str(connections), job])


def diptych(home: str, connections: int) -> Run:
    """Crawl breadth-first with Diptych like its command line, without pairing and aligning."""
    return report_of(["bench.support.diptych_crawl", home, str(connections)])


def diptych_cold(home: str, connections: int) -> Run:
    """The same, with the start of the worker processes included in the time."""
    return report_of(["bench.support.diptych_crawl", home, str(connections), "--cold"])


PROGRAMS: dict[str, Program] = {
    "bare": bare,
    "scrapy": scrapy,
    "scrapy-jobdir": scrapy_jobdir,
    "diptych": diptych,
    "diptych-cold": diptych_cold,
}
NAMES = {
    "bare": "bare aiohttp loop",
    "scrapy": "Scrapy, queue in memory",
    "scrapy-jobdir": "Scrapy, queue on disk (JOBDIR)",
    "diptych": "Diptych",
    "diptych-cold": "Diptych, with starting its workers",
}


def report_of(arguments: Sequence[str]) -> Run:
    """Run a module to its end; returns the JSON object that it prints."""
    shown = " ".join(arguments[:3])
    try:
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        give_up(f"'{shown}' was not done after {TIMEOUT} seconds")
    if done.returncode:
        give_up(f"'{shown}' failed with status {done.returncode}: {last_line(done.stderr)}")
    try:
        run: Run = json.loads(done.stdout)
    except json.JSONDecodeError:
        give_up(f"'{shown}' did not print one JSON object but: {last_line(done.stdout)}")
    run.setdefault("crawl_seconds", run.get("seconds"))
    if not run.get("pages") or not run["crawl_seconds"]:
        give_up(f"'{shown}' reports no pages or no seconds; it has: {', '.join(sorted(run))}")
    return run


def speed_of(run: Run) -> float:
    """Pages per second of one run."""
    return float(run["pages"] / run["crawl_seconds"])


def run_interleaved(
    programs: Sequence[str], home: str, connections: int, runs: int
) -> dict[str, list[Run]]:
    """Run the programs in turn, so that a busy moment of the machine affects all of them."""
    done: dict[str, list[Run]] = {name: [] for name in programs}
    for number in range(runs):
        for name in programs:
            run = PROGRAMS[name](home, connections)
            done[name].append(run)
            print(f"run {number + 1} {name}: {speed_of(run):,.0f} pages/s", file=sys.stderr)
    return done


def rows_of(done: dict[str, list[Run]]) -> list[Row]:
    """The best run of each program, compared with the best run of the first program."""
    best = {name: max(runs, key=speed_of) for name, runs in done.items()}
    reference = speed_of(next(iter(best.values())))
    return [
        Row(
            program=name,
            pages=run["pages"],
            seconds=round(run["crawl_seconds"], 3),
            pages_per_second=round(speed_of(run), 1),
            ratio=round(speed_of(run) / reference, 3),
            runs=[round(speed_of(each), 1) for each in done[name]],
        )
        for name, run in best.items()
    ]


def faults(done: dict[str, list[Run]], rows: Sequence[Row]) -> list[str]:
    """The reasons why the benchmark fails; empty if it succeeds."""
    found = []
    counts = {name: [run["pages"] for run in runs] for name, runs in done.items()}
    every = [count for runs in counts.values() for count in runs]
    if max(every) - min(every) > TOLERANCE * max(every):
        found.append(f"the programs disagree on the number of pages: {counts}")
    by_name = {row.program: row for row in rows}
    if "diptych" not in by_name:
        return found
    own = by_name["diptych"]
    if "bare" in by_name and own.ratio < FLOOR:
        found.append(f"Diptych reaches {own.ratio:.3f} of the bare loop; {FLOOR} is asked for")
    for name in ("scrapy", "scrapy-jobdir"):
        if name in by_name and own.pages_per_second < by_name[name].pages_per_second:
            found.append(f"Diptych is behind {NAMES[name]}")
    return found


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| program | pages | seconds | pages/s | of the bare loop |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {NAMES[row.program]} | {row.pages:,} | {row.seconds:.2f} "
        f"| {row.pages_per_second:,.0f} | {row.ratio:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


@contextmanager
def chosen_site(options: argparse.Namespace) -> Iterator[tuple[str, str, float | None]]:
    """Yield the name and home URL of the site to crawl, and the requests/s of its server alone."""
    if options.site:
        yield "given by URL", options.site, None
        return
    folder: Path = options.folder or built_site(options)
    server_speed, _ = measure(folder, connections=options.connections, seconds=3.0)
    with served_from_memory(folder) as home:
        yield folder.name, home, round(server_speed)


def built_site(options: argparse.Namespace) -> Path:
    """The site with a given name, which is built if necessary."""
    builder = site_builder(options.sites)
    if options.pages == "heavy":
        return build_variant(builder, "bench-crawl-speed", APACHE.split())
    return build_native(builder, "debian-install-guide")


def is_runnable(package: str) -> bool:
    """True if a package is installed and can be run with python -m."""
    if importlib.util.find_spec(package) is None:
        return False
    return importlib.util.find_spec(f"{package}.__main__") is not None


def check_programs(programs: Sequence[str]) -> None:
    """Exit early if a program to be measured is not installed."""
    if "diptych" in programs and not is_runnable("diptych"):
        give_up("no 'python -m diptych' here: pip install -e . (or leave it out: --programs)")
    if importlib.util.find_spec("scrapy") is None:
        give_up("this Python has no scrapy: pip install -r bench/requirements.txt")


def site_facts(name: str, server_speed: float | None, run: Run) -> dict[str, Any]:
    """A description of the crawled site, from the report of the bare loop."""
    return {
        "name": name,
        "pages": run["pages"],
        "mean_bytes": round(run["bytes"] / run["pages"]),
        "links_per_page": round(run["links"] / run["pages"], 1),
        "server_requests_per_second": server_speed,
    }


def parsed() -> argparse.Namespace:
    """Parse the options of this benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument(
        "--pages",
        choices=("heavy", "light"),
        default="heavy",
        help="heavy: the Apache manual in 8 languages, a hundred links a page (default); "
        "light: the Debian installation guide in 19 languages, 17 links a page",
    )
    parser.add_argument("--folder", type=Path, help="another built site")
    parser.add_argument("--site", metavar="URL", help="a site that is being served already")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--programs",
        nargs="+",
        choices=PROGRAMS,
        default=list(PROGRAMS),
        help="measure only these, and the bare loop; no result is kept",
    )
    parser.add_argument("--output", type=Path, default=RESULT, help="file for the result")
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if Diptych is too slow or misses pages."""
    options = parsed()
    programs = [name for name in PROGRAMS if name == "bare" or name in options.programs]
    check_programs(programs)
    with chosen_site(options) as (name, home, server_speed):
        done = run_interleaved(programs, home, options.connections, options.runs)
    rows, site = rows_of(done), site_facts(name, server_speed, done["bare"][0])
    print(table(rows), json.dumps(site), sep="\n\n")
    if len(programs) == len(PROGRAMS):
        result = {
            "benchmark": "crawl_speed",
            "connections": options.connections,
            "site": site,
            "rows": [asdict(row) for row in rows],
            "machine": machine(LIBRARIES),
        }
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    found = faults(done, rows)
    for fault in found:
        print(f"FAILED: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
