"""Archives of many sites as a job: cost per page, memory, speed-up, and words of all sites.

    python -m bench.tasks.scale --runs RUN-en-fr... [--pages 20000] [--parallel 4000]
                                [--small 20] [--out FILE]

Archives with the pages of many sites are made of segments of finished runs (see
`bench.sites.many_hosts`): eight files with pages of all sites, 100 pages a site, and one site with
15% of all pages, which is more than a partition.  `--pages 20000 200000` are 171 and 1,701 sites.

Each size is mined by `mine --warc --jobs 1`, as one run, and by `mine --warc --cluster pool:1`, as
a job.  CPU seconds are user and system time of all processes, memory is the peak of the largest
process.  The page pairs must be the same.  The largest job is also shown by stage: seconds of the
tasks, which take one processor each, and bytes that a task writes for others to read.  For
`--parallel`, pool:2 is compared with pool:1.

Small sites, of ten pages each in which every tenth segment is missing on one side, are mined one by
one, with their own words only, and as a job, with words learned over all of them.  A segment is
right if it is one of those that the pages were made of.  Exits with 1 if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.sites.many_hosts import Texts, texts_of, write_mixed
from bench.support.machine import machine
from bench.support.processes import give_up
from bench.support.tables import show

FILES = 8
PAGES_PER_SITE = 100
LARGEST = 0.15  # share of the pages of the largest site
CPU = 1.15  # times the CPU time of one run
FLAT = 1.15  # times the cost per page of the smallest archive
MEGABYTES = 1200  # of a process
SPEED_UP = 1.7  # of two processes
SMALL_PAGES, MISSING = 10, 0.1
STAGES = {
    "read": ("read archives, write pages by site", "pages"),
    "pair": ("pair pages, sample words", "words"),
    "words": ("learn words over all sites", ""),
    "part": ("align, score, export", "runs"),
}
"""what the tasks of a job are called, what they do, and the folder of what they write"""
Row = dict[str, Any]


def mined(out: Path, archives: Sequence[Path], langs: str, *more: str) -> Row:
    """Mine archives in a separate process; returns the cost."""
    command = [sys.executable, "-m", "diptych", "mine", "--langs", langs, "--out", str(out)]
    for archive in archives:
        command += ["--warc", str(archive)]
    log = out.with_name(f"{out.name}.log")
    started = time.monotonic()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*command, *more, "--quiet"], stdout=stream, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        give_up(f"diptych could not mine {out.name}: {log.read_text()[-300:]}")
    return {
        "CPU s": round(usage.ru_utime + usage.ru_stime, 1),
        "wall s": round(time.monotonic() - started, 1),
        "peak MB of a process": round(usage.ru_maxrss / 1024),
    }


def lines(path: Path, *names: str) -> set[tuple[str, ...]]:
    """Columns of a file of tab-separated values, without repetitions."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {tuple(row[name] for name in names) for row in rows}


def measured(how: str, out: Path, archives: Sequence[Path], langs: str, *more: str) -> Row:
    """Mine archives; returns the cost and what was found."""
    cost = mined(out, archives, langs, *more)
    row = {
        "how": how,
        "pairs": len(lines(out / "pairs.tsv", "left_url", "right_url")),
        "segments": len(lines(out / "corpus.tsv", "left", "right")),
        **cost,
    }
    print(row, file=sys.stderr, flush=True)
    return row


def by_size(texts: Texts, pages: int, folder: Path) -> list[Row]:
    """The costs of one run and of a job on the same archives."""
    langs = ",".join(texts.langs)
    place = folder / str(pages)
    place.mkdir()
    archives = write_mixed(
        texts, pages, place, files=FILES, pages_per_host=PAGES_PER_SITE, largest=LARGEST
    )
    found = [
        measured("one run", place / "run", archives, langs, "--jobs", "1"),
        measured("job, pool:1", place / "job", archives, langs, "--cluster", "pool:1"),
    ]
    sides = [lines(place / name / "pairs.tsv", "left_url", "right_url") for name in ("run", "job")]
    for row in found:
        row["CPU ms per page"] = round(1000 * row["CPU s"] / pages, 2)
        row["other pairs"] = len(sides[0] ^ sides[1])
    return [{"pages": pages, **row} for row in found]


def by_stage(job: Path, pages: int) -> list[Row]:
    """The time of a job's tasks, and what they write to the folder, by stage."""
    seconds: Counter[str] = Counter()
    for path in (job / "ledger").glob("*.json"):
        stage = path.stem.partition("-")[0]
        seconds[stage] += json.loads(path.read_bytes())["seconds"]
    return [
        {
            "stage": name,
            "s": round(seconds[stage], 1),
            "ms per page": round(1000 * seconds[stage] / pages, 2),
            "kB per page": round(written(job / folder) / 1000 / pages, 2) if folder else 0,
        }
        for stage, (name, folder) in STAGES.items()
    ]


def written(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def by_processes(texts: Texts, pages: int, folder: Path) -> list[Row]:
    """The costs of a job with one and with two processes."""
    langs = ",".join(texts.langs)
    place = folder / f"parallel-{pages}"
    place.mkdir()
    archives = write_mixed(texts, pages, place, files=FILES, pages_per_host=PAGES_PER_SITE)
    found = [
        measured(name, place / name.replace(":", ""), archives, langs, "--cluster", name)
        for name in ("pool:1", "pool:2")
    ]
    for row in found:
        row["speed-up"] = round(found[0]["wall s"] / row["wall s"], 2)
    return [{"pages": pages, **row} for row in found]


def small_sites(texts: Texts, count: int, folder: Path) -> list[Row]:
    """What small sites yield alone, and with words learned over all of them."""
    langs = ",".join(texts.langs)
    place = folder / "small"
    place.mkdir()
    archives = write_mixed(
        texts, count * SMALL_PAGES, place, files=1, pages_per_host=SMALL_PAGES, missing=MISSING
    )
    truth = {tuple(" ".join(side.split()) for side in segment) for segment in texts.segments}
    kept: set[tuple[str, ...]] = set()
    for number in range(count):
        out = place / f"alone-{number}"
        mined(out, archives, langs, f"http://site{number}.test/", "--jobs", "1", "--share", "100")
        kept |= lines(out / "corpus.tsv", "left", "right")
    mined(place / "job", archives, langs, "--cluster", "here")
    shared = lines(place / "job" / "corpus.tsv", "left", "right")
    return [
        {
            "sites": count,
            "words": words,
            "segments kept": len(found),
            "right": len(found & truth),
            "wrong": len(found - truth),
        }
        for words, found in (("of each site", kept), ("of all sites", shared))
    ]


def missed(sizes: Sequence[Row], parallel: Sequence[Row]) -> list[str]:
    """The limits that are exceeded.

    >>> cost = {"pages": 9, "peak MB of a process": 1300, "other pairs": 0}
    >>> missed([{**cost, "CPU ms per page": 9.0}, {**cost, "CPU ms per page": 11.0}], [])[0]
    'a page of 9 costs 1.22 times as much in a job as in one run'
    """
    short: list[str] = []
    for run, job in zip(sizes[::2], sizes[1::2], strict=True):
        ratio = job["CPU ms per page"] / run["CPU ms per page"]
        if ratio > CPU:
            short.append(
                f"a page of {job['pages']} costs {ratio:.2f} times as much in a job as in one run"
            )
        if job["other pairs"]:
            short.append(f"{job['other pairs']} page pairs of {job['pages']} pages differ")
        if job["peak MB of a process"] > MEGABYTES:
            short.append(f"{job['peak MB of a process']} MB are more than {MEGABYTES}")
    costs = [row["CPU ms per page"] for row in sizes[1::2]]
    if costs and max(costs) > FLAT * costs[0]:
        short.append(f"the cost per page grows from {costs[0]} to {max(costs)} ms")
    if parallel and parallel[-1]["speed-up"] < SPEED_UP:
        short.append(f"two processes are only {parallel[-1]['speed-up']} times as fast as one")
    return short


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, nargs="+", required=True, help="whose texts are used")
    parser.add_argument("--pages", type=int, nargs="*", default=[20_000])
    parser.add_argument("--parallel", type=int, default=4000, help="0: do not measure")
    parser.add_argument("--small", type=int, default=20, help="number of small sites; 0: none")
    parser.add_argument("--scratch", type=Path, help="folder for the archives and runs")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if a limit is exceeded."""
    asked = parsed()
    texts = texts_of(asked.runs)
    with tempfile.TemporaryDirectory(dir=asked.scratch) as scratch:
        folder = Path(scratch)
        small = small_sites(texts, asked.small, folder) if asked.small else []
        parallel = by_processes(texts, asked.parallel, folder) if asked.parallel else []
        sizes = [row for pages in asked.pages for row in by_size(texts, pages, folder)]
        most = max(asked.pages, default=0)
        stages = by_stage(folder / str(most) / "job", most) if most else []
    shown = {
        "Archives of many sites, by size": sizes,
        "Archives of many sites, by stage": stages,
        "Archives of many sites, by processes": parallel,
        "Words of small sites": small,
    }
    shown = {title: rows for title, rows in shown.items() if rows}
    show(shown)
    short = missed(sizes, parallel)
    print("\n".join(short), file=sys.stderr)
    if asked.out:
        result = {"machine": machine(["pyarrow", "numpy"]), "tables": shown, "missed": short}
        asked.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
