"""Seconds to open a run of many sites, with and without indexes.

    python -m bench.tasks.open_run [--sites 10000] [--urls 500] [--out bench/results/open_run.json]

There are runs with a tenth, a third and all of the sites; half of the URLs are fetched.  To open a
run is to open its store and restore its crawl.  Runs of earlier versions have no indexes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from bench.support.tables import Tables, show_and_keep
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope
from diptych.run.store import Store
from diptych.stages.crawl.bfs import Bfs
from diptych.text.urls import url_key
from diptych.types import Site, Url

INDEXES = ("hosts_site", "urls_redirected", "fetches_site", "fetches_url")
LANGS = ("en", "fr")


def made(folder: Path, sites: list[Site], urls: int) -> None:
    """Write a run of some sites into a folder."""
    with Store(folder) as store, store.transaction():
        db = store.db
        for number, site in enumerate(sites, start=1):
            store.site_id(site.name)
            origin = f"http://{site.name}"
            db.execute(
                "INSERT INTO hosts (id, origin, site) VALUES (?, ?, ?)", (number, origin, number)
            )
            rows = [
                (url_key(Url(f"{origin}/{place}")), f"{origin}/{place}", place)
                for place in range(urls)
            ]
            db.executemany(
                "INSERT INTO urls (key, url, host, kind, state, depth, priority, hops, reason)"
                " VALUES (?, ?, ?, 0, ?, 1, 0.5, 0, '')",
                [(key, url, number, 2 * (place % 2)) for key, url, place in rows],
            )
            db.executemany(
                "INSERT INTO fetches (url, site, at, status, size, reason)"
                " VALUES (?, ?, 0, 200, 5000, '')",
                [(key, number) for key, _, place in rows if place % 2],
            )


def opened(folder: Path, sites: list[Site], *, indexed: bool) -> float:
    """The seconds to open a run."""
    started = time.perf_counter()
    with Store(folder) as store:
        if not indexed:
            for name in INDEXES:
                store.db.execute(f"DROP INDEX {name}")
            started = time.perf_counter()
        Crawl(
            store, sites, Scope.of(sites), Bfs(), LANGS,
            politeness=Politeness("bench", delay=1.0), limits=Limits(), now=0.0,
        )  # fmt: skip
        return round(time.perf_counter() - started, 2)


def measured(count: int, urls: int) -> dict[str, float]:
    """Measure one run; returns a row of the table."""
    sites = [Site(f"s{n}.org", (Url(f"http://s{n}.org/"),)) for n in range(count)]
    with tempfile.TemporaryDirectory() as name:
        made(Path(name), sites, urls)
        return {
            "sites": count,
            "URLs": count * urls,
            "s": opened(Path(name), sites, indexed=True),
            "s without indexes": opened(Path(name), sites, indexed=False),
        }


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--urls", type=int, default=500, help="of each site")
    parser.add_argument("--out", type=Path, help="file for the result")
    asked = parser.parse_args()
    counts = (asked.sites // 10, asked.sites // 3, asked.sites)
    tables: Tables = {"Opening a run": [measured(count, asked.urls) for count in counts]}
    show_and_keep(tables, asked.out)


if __name__ == "__main__":
    main()
