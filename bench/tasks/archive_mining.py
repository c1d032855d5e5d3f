"""From archive to corpus: CPU seconds beside the least possible work, by stage, and as sites grow.

    python -m bench.tasks.archive_mining [--sites DIR] [--archives DIR-en-fr...] [--jobs 1 2]
                                         [--pages 1000 10000 50000] [--out FILE]

The GIMP manual in English and French (1,370 pages) is written to a WARC file and mined by
`diptych mine --warc --profile`, with each number of processes in `--jobs`; the seconds are the sum
of user and system time of all processes.  Folders with archives of real sites are mined in the same
way; their names end with the two languages, such as `example-en-fr`.  The floor is the least work
on the same archive (see `bench.baselines.archive_floor`).  The larger sites are generated from the
segments of the manual: each page has some of them in one language, under `/en/` or `/fr/`, with
links to other pages; they are mined with the first number of processes.  Exits with 1 if the manual
or the growth costs more than allowed.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import random
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from bench.sites.archive import site_url, write_archive
from bench.sites.built import add_sites_option, build_variant, site_builder
from bench.sites.stored import read_truth
from bench.support.machine import machine
from bench.support.processes import give_up, last_line
from bench.support.tables import show
from diptych.run.warc import compose, compose_info
from diptych.types import Response

SECONDS = 15.0  # of CPU in all
FLAT = 1.5  # times the cost per page of the smallest site
SEGMENTS = 20  # of a made page
LINKS = 6
Rows = list[dict[str, Any]]


def mine(archive: Path, out: Path, jobs: int, langs: str = "en,fr") -> dict[str, Any]:
    """Mine an archive, or a folder of archives, in a separate process; returns the cost."""
    command = [sys.executable, "-m", "diptych", "mine", "--warc", str(archive), "--profile"]
    command += ["--langs", langs, "--out", str(out), "--json", "--jobs", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        give_up(f"diptych could not mine {archive.name}: {last_line(done.stderr)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        "pages": found["pages"],
        "pairs": found["pairs"],
        "segments": found["segments"],
        "CPU s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "wall s": round(found["seconds"], 1),
        "peak MB": round(profile(out)["total"]["peak_megabytes"]),
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


def measure(site: Site, jobs: Sequence[int], folder: Path) -> tuple[Rows, Rows]:
    """Mine a site with each number of processes; returns the costs, and the stages of the first."""
    least = floor(site.archive)
    none = {"pairs": "", "segments": ""}
    costs = [{
        "site": site.name, "how": "floor", "pages": least["pages"], **none,
        "CPU s": round(least["seconds"], 2), "times the floor": 1.0, "wall s": "", "peak MB": "",
    }]  # fmt: skip
    for count in jobs:
        row = mine(site.archive, folder / f"{site.name}-{count}", count, site.langs)
        times = round(row["CPU s"] / least["seconds"], 1)
        costs.append({
            "site": site.name, "how": f"--jobs {count}",
            **{name: row[name] for name in ("pages", "pairs", "segments", "CPU s")},
            "times the floor": times, "wall s": row["wall s"], "peak MB": row["peak MB"],
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


def segments_of(run: Path) -> list[tuple[str, str]]:
    """The segments of a run."""
    with (run / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["left"], row["right"]) for row in rows]


def make_site(segments: list[tuple[str, str]], pages: int, out: Path) -> None:
    """Write a site of documents in two languages, each with some segments and links to others."""
    chance = random.Random(pages)
    with out.open("wb") as stream:
        stream.write(compose_info(agent="bench", name=out.name, now=0.0))
        for number in range(pages // 2):
            chosen = chance.sample(segments, SEGMENTS)
            links = [chance.randrange(pages // 2) for _ in range(LINKS)]
            for side, lang in enumerate(("en", "fr")):
                text = "".join(f"<p>{html.escape(segment[side])}</p>" for segment in chosen)
                to = "".join(f"<li><a href='{link}.html'>{link}</a></li>" for link in links)
                body = f"<title>{html.escape(chosen[0][side])}</title><ul>{to}</ul>{text}"
                headers = (("Content-Type", "text/html; charset=utf-8"),)
                url = site_url(f"/{lang}/{number}.html")
                stream.write(compose(Response(url, 200, headers, body.encode(), 0.0)))


def grown(segments: list[tuple[str, str]], sizes: Sequence[int], jobs: int, folder: Path) -> Rows:
    """The cost of made sites with so many pages."""
    made = []
    for pages in sizes:
        archive = folder / f"{pages}.warc.gz"
        make_site(segments, pages, archive)
        row = mine(archive, folder / str(pages), jobs)
        made.append({**row, "CPU ms per page": round(1000 * row["CPU s"] / pages, 2)})
        print(made[-1], file=sys.stderr, flush=True)
    return made


def missed(seconds: float, made: Rows) -> list[str]:
    """The limits that are exceeded."""
    short = [f"{seconds} s of CPU are more than {SECONDS}"] if seconds > SECONDS else []
    costs = [each["CPU ms per page"] for each in made]
    if costs and max(costs) > FLAT * costs[0]:
        short.append(f"the cost per page grows from {costs[0]} to {max(costs)} ms")
    return short


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--archives", type=Path, nargs="*", default=[])
    parser.add_argument("--pages", type=int, nargs="*", default=[1000, 10000, 50000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if a limit is exceeded."""
    arguments = parsed()
    jobs = arguments.jobs
    others = list(map(site_of, arguments.archives))
    options = ["--family", "gimp-help", "--scheme", "dir", "--langs", "en,fr"]
    site = build_variant(site_builder(arguments.sites), "gimp-enfr", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        manual = Site("GIMP manual, en and fr", folder / "gimp.warc.gz")
        write_archive(site, manual.archive)
        measured = [measure(each, jobs, folder) for each in (manual, *others)]
        costs, by_stage = (list(chain(*rows)) for rows in zip(*measured, strict=True))
        run = folder / f"{manual.name}-{jobs[0]}"
        truth = read_truth(site).judge(found_pairs(run))
        made = grown(segments_of(run), arguments.pages, jobs[0], folder)
    pairs = {"site": manual.name, "precision / recall": str(truth)}
    shown = {
        "From archive to corpus": costs,
        "Page pairs": [pairs],
        "Stages from archive to corpus": by_stage,
        "From archive to corpus, by size": made,
    }
    show({title: rows for title, rows in shown.items() if rows})
    short = missed(costs[1]["CPU s"], made)
    print("\n".join(short), file=sys.stderr)
    if arguments.out:
        result = {"machine": machine(["selectolax", "numpy"]), "tables": shown, "missed": short}
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
