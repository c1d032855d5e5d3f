"""From archive to corpus: CPU seconds for the GIMP manual, and the cost per page as sites grow.

    python -m bench.tasks.archive_mining [--sites DIR] [--pages 1000 10000 50000] [--jobs N]
                                         [--out FILE]

The GIMP manual in English and French (1,370 pages) is written to a WARC file and mined by
`diptych mine --warc` in one process; the seconds are the sum of user and system time.  The larger
sites are generated from the segments found there: each page has some of them in one language, under
`/en/` or `/fr/`, with links to other pages.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.sites.archive import site_url, write_archive
from bench.sites.built import add_sites_option, build_variant, site_builder
from bench.sites.stored import read_truth
from bench.support.machine import machine
from bench.support.processes import give_up
from bench.support.tables import show
from diptych.run.warc import compose, compose_info
from diptych.types import Response

SECONDS = 15.0  # of CPU in all
FLAT = 1.5  # times the cost per page of the smallest site
SEGMENTS = 20  # of a made page
LINKS = 6


def mine(archive: Path, out: Path, jobs: int) -> dict[str, Any]:
    """Mine an archive in a separate process; returns the cost."""
    command = [sys.executable, "-m", "diptych", "mine", "--warc", str(archive)]
    command += ["--langs", "en,fr", "--out", str(out), "--json", "--jobs", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    answer = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        give_up(f"diptych could not mine {archive.name}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = json.loads(answer)
    return {
        "pages": found["pages"],
        "pairs": found["pairs"],
        "segments": found["segments"],
        "CPU s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "wall s": round(found["seconds"], 1),
        "peak MB": used.ru_maxrss // 1024,
    }


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


def main() -> int:
    """Measure, print and save the results; returns 1 if a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--pages", type=int, nargs="*", default=[1000, 10000, 50000])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    options = ["--family", "gimp-help", "--scheme", "dir", "--langs", "en,fr"]
    site = build_variant(site_builder(arguments.sites), "gimp-enfr", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_archive(site, folder / "gimp.warc.gz")
        row = mine(folder / "gimp.warc.gz", folder / "gimp", arguments.jobs)
        truth = read_truth(site).judge(found_pairs(folder / "gimp"))
        gimp = {"site": "GIMP manual, en and fr", **row, "precision / recall": str(truth)}
        segments = segments_of(folder / "gimp")
        made = []
        for pages in arguments.pages:
            archive = folder / f"{pages}.warc.gz"
            make_site(segments, pages, archive)
            grown = mine(archive, folder / str(pages), arguments.jobs)
            made.append({**grown, "CPU ms per page": round(1000 * grown["CPU s"] / pages, 2)})
            print(made[-1], file=sys.stderr, flush=True)
    shown = {"From archive to corpus": [gimp], "From archive to corpus, by size": made}
    show({title: rows for title, rows in shown.items() if rows})
    short = [f"{row['CPU s']} s of CPU are more than {SECONDS}"] if row["CPU s"] > SECONDS else []
    costs = [each["CPU ms per page"] for each in made]
    if costs and max(costs) > FLAT * costs[0]:
        short.append(f"the cost per page grows from {costs[0]} to {max(costs)} ms")
    print("\n".join(short), file=sys.stderr)
    if arguments.out:
        result = {"machine": machine(["selectolax", "numpy"]), "tables": shown, "missed": short}
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
