"""How long the event loop of a guided crawl is blocked, measured by a coroutine that sleeps in it.

    python -m bench.tasks.loop_block [--blame] [--out FILE]

Three crawls by the guided policy without a delay: 200 small sites at once (`small_sites.py`); the
Apache manual in eight languages, about 2,000 pages with a hundred links each, over 16 connections;
and the first 1,000 pages of a site with a sitemap of 50,000 URLs and their translations.  `late` is
elapsed time, `worked` is the CPU time of the loop's thread between two measurements: on a busy
machine, only the latter is caused by the crawl.  `--blame` shows where the loop was when it was
late.  Exits with 1 if the loop was blocked for more than 50 ms of CPU time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.sites.built import add_sites_option, build_variant, site_builder
from bench.sites.fast_server import served_from_memory
from bench.sites.small_sites import address_of, served
from bench.support.live_crawl import LATE, crawl_apart
from bench.support.machine import machine
from bench.support.tables import show
from bench.tasks.crawl_speed import APACHE

SMALL_SITES = 200
SITEMAP = 50_000  # URLs: as many as one file may have
FIRST = 1000  # pages of the site with that sitemap

Options = dict[str, object]


@contextmanager
def no_log() -> Iterator[Path]:
    """A file for an access log that is not read."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "log.tsv"


def small_sites(options: argparse.Namespace, settings: Options) -> dict[str, Any]:
    """Crawl many small sites at once."""
    with no_log() as log, served(log, sites=SMALL_SITES) as port:
        homes = [f"http://{address_of(number)}:{port}/" for number in range(SMALL_SITES)]
        return crawl_apart(homes, settings)


def heavy_site(options: argparse.Namespace) -> Path:
    """The site of `crawl_speed` with a hundred links per page, built if it is missing."""
    return build_variant(site_builder(options.sites), "bench-crawl-speed", APACHE.split())


def many_links(options: argparse.Namespace, settings: Options) -> dict[str, Any]:
    """Crawl one site whose pages have many links."""
    with served_from_memory(heavy_site(options)) as home:
        return crawl_apart([home], settings | {"connections": 16})


def large_sitemap(options: argparse.Namespace, settings: Options) -> dict[str, Any]:
    """Crawl one site whose sitemap has the maximum number of URLs."""
    with no_log() as log, served(log, large=SITEMAP) as port:
        home = f"http://{address_of(0)}:{port}/"
        return crawl_apart([home], settings | {"connections": 16, "max-pages": FIRST})


CRAWLS: dict[str, Callable[[argparse.Namespace, Options], dict[str, Any]]] = {
    "small": small_sites,
    "links": many_links,
    "sitemap": large_sitemap,
}
NAMES = {
    "small": f"{SMALL_SITES} small sites",
    "links": "Apache manual, a hundred links a page",
    "sitemap": f"sitemap of {SITEMAP:,} URLs",
}


def row_of(name: str, run: dict[str, Any]) -> dict[str, Any]:
    """The figures of one crawl."""
    speed = round(run["pages"] / run["seconds"], 1)
    return {"crawl": NAMES[name], "pages": run["pages"], "pages/s": speed, **run["loop"]}


def main() -> int:
    """Measure, print and save the results; returns 1 if the loop was blocked for too long."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--only", nargs="*", choices=CRAWLS, default=list(CRAWLS))
    parser.add_argument("--policy", default="hybrid")
    parser.add_argument("--blame", action="store_true", help="show where the loop was when late")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    settings: Options = {"policy": options.policy, "delay": 0.0}
    if options.blame:
        settings["blame"] = True
    if "links" in options.only:
        heavy_site(options)  # before anything is measured: it may be missing
    rows = []
    for name in options.only:
        run = CRAWLS[name](options, settings)
        rows.append(row_of(name, run))
        for place in run["blamed"]:
            print(place, file=sys.stderr)
    shown = {"How late the event loop of a guided crawl is, milliseconds": rows}
    show(shown)
    if options.out:
        result = {"machine": machine(["aiohttp"]), "tables": shown}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    worst = max(row["worked max"] for row in rows)
    if worst > 1000 * LATE:
        print(f"FAILED: the loop was held up for {worst} ms", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
