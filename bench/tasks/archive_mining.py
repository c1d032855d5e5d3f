"""From archive to corpus: CPU seconds beside the least possible work, by stage, and as sites grow.

    python -m bench.tasks.archive_mining [--sites DIR] [--archives DIR-en-fr...] [--jobs 1 2]
                                         [--baseline DIPTYCH] [--runs RUN-en-fr...]
                                         [--pages 1000 10000 100000] [--out FILE]

The GIMP manual in English and French (1,370 pages) is written to a WARC file and mined by
`diptych mine --warc --profile`, with each number of processes in `--jobs`; the seconds are the sum
of user and system time of all processes.  Folders with archives of real sites are mined in the same
way; their names end with the two languages, such as `example-en-fr`.  The floor is the least work
on the same archive (see `bench.baselines.archive_floor`).  With `--baseline`, another installed
`diptych` mines each archive too, right before, with the first number of processes.

The larger archives are made of the segments of the manual, or of the runs in `--runs`, under many
hosts (see `bench.sites.many_hosts`).  The smaller ones are mined with each number of processes.
Exits with 1 if the manual or the growth costs more than allowed.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bench.sites.archive import write_archive
from bench.sites.built import add_sites_option, build_variant, site_builder
from bench.sites.many_hosts import Texts, segments_of, texts_of, write_hosts
from bench.sites.stored import read_truth
from bench.support.machine import machine
from bench.support.processes import give_up, last_line
from bench.support.tables import show

SECONDS = 15.0  # of CPU in all
FLAT = 1.1  # times the cost per page of the smallest archive
MEGABYTES = 700  # of memory in all processes
WALL, CPU = 0.58, 1.15  # of two processes, times one process, for PARALLEL pages or more
PARALLEL = 10_000
MAX_PAGES = 20_000  # of an archive that is mined with each number of processes
Rows = list[dict[str, Any]]


def mine(
    archive: Path, out: Path, jobs: int, langs: str = "en,fr", other: Path | None = None
) -> dict[str, Any]:
    """Mine an archive, or a folder of archives, in a separate process; returns the cost.

    `other` is another installed `diptych`, which may not know `--profile`.
    """
    command = [str(other)] if other else [sys.executable, "-m", "diptych"]
    command += ["mine", "--warc", str(archive), *([] if other else ["--profile"])]
    command += ["--langs", langs, "--out", str(out), "--json", "--jobs", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        give_up(f"{command[0]} could not mine {archive.name}: {last_line(done.stderr)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        "pages": found["pages"],
        "pairs": found["pairs"],
        "segments": found["segments"],
        "CPU s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "wall s": round(found["seconds"], 1),
        "peak MB": "" if other else round(profile(out)["total"]["peak_megabytes"]),
    }


def profile(run: Path) -> dict[str, Any]:
    """The cost of each stage of a run."""
    return tomllib.loads((run / "profile.toml").read_text("utf-8"))


def floor(archive: Path) -> dict[str, Any]:
    """Do the least work on an archive, or a folder of archives, in a separate process."""
    files = sorted(archive.rglob("*.warc*")) if archive.is_dir() else [archive]
    command = [sys.executable, "-m", "bench.baselines.archive_floor", *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Site(NamedTuple):
    """An archive to mine."""

    name: str
    archive: Path
    langs: str = "en,fr"


def site_of(folder: Path) -> Site:
    """A folder of archives whose name ends with two languages.

    >>> site_of(Path("real/example-en-fr"))[::2]
    ('example-en-fr', 'en,fr')
    """
    parts = folder.name.split("-")
    if len(parts) < 3:
        give_up(f"the name of {folder} does not end with two languages, such as -en-fr")
    return Site(folder.name, folder, ",".join(parts[-2:]))


def measure(
    site: Site, jobs: Sequence[int], folder: Path, baseline: Path | None = None
) -> tuple[Rows, Rows]:
    """Mine a site with each number of processes; returns the costs, and the stages of the first."""
    least = floor(site.archive)
    none = {"pairs": "", "segments": ""}
    costs = [{
        "site": site.name, "how": "floor", "pages": least["pages"], **none,
        "CPU s": round(least["seconds"], 2), "times the floor": 1.0, "by the baseline": "",
        "wall s": "", "peak MB": "",
    }]  # fmt: skip
    asked: list[tuple[str, int, Path | None]]
    asked = [(f"--jobs {count}", count, None) for count in jobs]
    if baseline:
        asked.insert(0, (f"baseline, --jobs {jobs[0]}", jobs[0], baseline))
    before = 0.0
    for how, count, other in asked:
        out = folder / f"{site.name}-{'baseline' if other else count}"
        row = mine(site.archive, out, count, site.langs, other)
        before = row["CPU s"] if other else before
        costs.append({
            "site": site.name, "how": how,
            **{name: row[name] for name in ("pages", "pairs", "segments", "CPU s")},
            "times the floor": round(row["CPU s"] / least["seconds"], 1),
            "by the baseline": round(row["CPU s"] / before, 2) if before else "",
            "wall s": row["wall s"], "peak MB": row["peak MB"],
        })  # fmt: skip
        print(costs[-1], file=sys.stderr, flush=True)
    return costs, stages(site.name, folder / f"{site.name}-{jobs[0]}", least["seconds"])


def stages(name: str, run: Path, least: float) -> Rows:
    """The cost of each stage of a run; `least` is the CPU time of the floor."""
    return [
        {
            "site": name,
            "stage": each["stage"],
            "CPU s": round(each["cpu_seconds"], 2),
            "of it in the main process": round(each["main_cpu_seconds"], 2),
            "times the floor": round(each["cpu_seconds"] / least, 2),
            "wall s": round(each["wall_seconds"], 2),
            "done": f"{each['done']:,} {each['unit']}" if "unit" in each else "",
        }
        for each in profile(run)["stages"]
    ]


def found_pairs(run: Path) -> Iterator[frozenset[Any]]:
    """The pairs of a run."""
    with (run / "pairs.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield frozenset((row["left_url"], row["right_url"]))


def grown(
    texts: Texts, sizes: Sequence[int], jobs: Sequence[int], folder: Path
) -> tuple[Rows, Rows]:
    """The costs of made archives of so many pages, with one and with more processes."""
    made, parallel = [], []
    for pages in sizes:
        archive = folder / f"{pages}.warc.gz"
        write_hosts(texts, pages, archive)
        langs = ",".join(texts.langs)
        first, *others = [
            mine(archive, folder / f"{pages}-{count}", count, langs)
            for count in (jobs if pages <= MAX_PAGES else jobs[:1])
        ]
        made.append({**first, "CPU ms per page": round(1000 * first["CPU s"] / first["pages"], 2)})
        for count, row in zip(jobs[1:], others, strict=False):
            ratios = {
                f"{name} by --jobs {jobs[0]}": round(row[f"{name} s"] / first[f"{name} s"], 2)
                for name in ("CPU", "wall")
            }
            parallel.append({"pages": row["pages"], "how": f"--jobs {count}", **row, **ratios})
        print(made[-1], *parallel[-1:], file=sys.stderr, flush=True)
    return made, parallel


def missed(seconds: float, made: Rows, parallel: Rows, first: int = 1) -> list[str]:
    """The limits that are exceeded; `first` is the number of processes that others are compared to.

    >>> made = [{"CPU ms per page": 9.0, "peak MB": 400}, {"CPU ms per page": 10.0, "peak MB": 701}]
    >>> missed(10.0, made, [])
    ['the cost per page grows from 9.0 to 10.0 ms', '701 MB of memory are more than 700']
    """
    short = [f"{seconds} s of CPU are more than {SECONDS}"] if seconds > SECONDS else []
    costs = [each["CPU ms per page"] for each in made]
    if costs and max(costs) > FLAT * costs[0]:
        short.append(f"the cost per page grows from {costs[0]} to {max(costs)} ms")
    most = max((each["peak MB"] for each in made), default=0)
    if most > MEGABYTES:
        short.append(f"{most} MB of memory are more than {MEGABYTES}")
    for row in parallel:
        for name, limit in (("wall", WALL), ("CPU", CPU)):
            ratio = row[f"{name} by --jobs {first}"]
            if row["how"] == "--jobs 2" and row["pages"] >= PARALLEL and ratio > limit:
                short.append(f"two processes take {ratio} of the {name} time of one")
    return short


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--archives", type=Path, nargs="*", default=[])
    parser.add_argument("--baseline", type=Path, help="another installed diptych")
    parser.add_argument("--runs", type=Path, nargs="*", default=[], help="whose segments are used")
    parser.add_argument("--pages", type=int, nargs="*", default=[1000, 10000, 100000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if a limit is exceeded."""
    arguments = parsed()
    jobs = arguments.jobs
    others = list(map(site_of, arguments.archives))
    given = texts_of(arguments.runs) if arguments.runs else None
    options = ["--family", "gimp-help", "--scheme", "dir", "--langs", "en,fr"]
    site = build_variant(site_builder(arguments.sites), "gimp-enfr", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        manual = Site("GIMP manual, en and fr", folder / "gimp.warc.gz")
        write_archive(site, manual.archive)
        measured = [measure(each, jobs, folder, arguments.baseline) for each in (manual, *others)]
        costs, by_stage = (list(chain(*rows)) for rows in zip(*measured, strict=True))
        run = folder / f"{manual.name}-{jobs[0]}"
        truth = read_truth(site).judge(found_pairs(run))
        texts = given or Texts(("en", "fr"), segments_of(run))
        made, parallel = grown(texts, arguments.pages, jobs, folder)
    pairs = {"site": manual.name, "precision / recall": str(truth)}
    shown = {
        "From archive to corpus": costs,
        "Page pairs": [pairs],
        "Stages from archive to corpus": by_stage,
        "From archive to corpus, by size": made,
        "From archive to corpus, by processes": parallel,
    }
    show({title: rows for title, rows in shown.items() if rows})
    own_costs = [row["CPU s"] for row in costs if row["how"] == f"--jobs {jobs[0]}"]
    short = missed(own_costs[0], made, parallel, jobs[0])
    print("\n".join(short), file=sys.stderr)
    if arguments.out:
        result = {"machine": machine(["selectolax", "numpy"]), "tables": shown, "missed": short}
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
