"""Seconds per site of each step after the crawl as the number of sites grows: they must not grow.

    python -m bench.tasks.mine_many [--sites 4000] [--out bench/results/mine_many.json]

There are runs with a quarter, half and all of the sites.  Every fourth site has two pages in
English and their translations into French, with paragraphs of the demo site; the others have two
pages in English.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from bench.sites.small_sites import paragraphs
from bench.support.tables import Tables, show_and_keep
from diptych import recipes
from diptych.corpus.from_run import Choice, RunCorpus
from diptych.engine.workers import Workers
from diptych.frontier.queue import Entry, Frontier
from diptych.page.read import read_page
from diptych.pipeline import pair_and_learn
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.reports.summary import summarise
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.steps.align_pairs import align_pairs
from diptych.steps.score_segments import score_segments
from diptych.steps.sketch_pages import sketch_pages
from diptych.steps.tasks import TaskContext
from diptych.steps.write_corpus import write_run_corpus
from diptych.types import Response, Url

LANGS = ("en", "fr")
PAIRED = 4  # of so many sites one has pages in both languages
PAGES = 2  # in a language
PARTS = 4  # paragraphs of a page


def pages_of(number: int) -> Iterator[Response]:
    """The pages of the site with a number."""
    random = Random(number)
    for place in range(PAGES):
        parts = random.sample(paragraphs(), PARTS)
        year = random.randint(1000, 9999)
        for side, lang in enumerate(LANGS if number % PAIRED == 0 else LANGS[:1]):
            other = LANGS[1 - side]
            body = "".join(f"<p>{each[side]}</p>" for each in parts)
            html = (
                f"<html lang={lang}><head><title>{parts[0][side][:30]} {year}</title></head><body>"
                f'<a href="/{other}/{place}.html">{other}</a>{body}<p>{year}</p></body></html>'
            )
            url = Url(f"http://s{number}.org/{lang}/{place}.html")
            yield Response(url, 200, (("Content-Type", "text/html"),), html.encode(), 0.0)


def made(folder: Path, sites: int) -> None:
    """Write a run with a number of sites whose crawl has ended."""
    with Store(folder) as store, store.transaction():
        frontier = Frontier(store.db)
        for number in range(sites):
            id = store.site_id(f"s{number}.org")
            store.db.execute(
                "INSERT INTO hosts (id, origin, site) VALUES (?, ?, ?)",
                (id, f"http://s{number}.org", id),
            )
            for response in pages_of(number):
                frontier.add([Entry(response.url, id, 0.0)])
                pointer = store.archive.append(compose(response), 0.0)
                store.save_fetch(
                    id, response.url, 0.0, status=200, size=9, reason="", pointer=pointer
                )
                store.save_page(id, read_page(response, langs=LANGS), pointer)
        store.db.execute("UPDATE urls SET state = 2")


def measured(sites: int) -> dict[str, Any]:
    """Measure one run; returns a row of the table."""
    strategies = build(recipes.load(recipes.DEFAULT, {}))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made(folder, sites)
        context = TaskContext(folder, strategies, LANGS)
        watcher, here = Watcher(), Workers(0)
        with Store(folder) as store:

            def learn() -> None:
                nonlocal context
                context = pair_and_learn(store, context, here, watcher)

            corpus = RunCorpus(store, LANGS, "", Choice(strategies.filter.threshold))
            steps: dict[str, Callable[[], object]] = {
                "sketch": lambda: sketch_pages(store, context, here, watcher),
                "pair and learn": learn,
                "align": lambda: align_pairs(store, context, here, watcher),
                "score": lambda: score_segments(store, strategies.filter, watcher),
                "write": lambda: write_run_corpus(store, corpus, watcher),
                "summary": lambda: summarise(store, LANGS),
            }
            row: dict[str, Any] = {"sites": sites}
            for step, run in steps.items():
                started = time.process_time()
                run()
                row[f"{step}, ms per site"] = round(
                    1000 * (time.process_time() - started) / sites, 3
                )
            row["pairs"] = summarise(store, LANGS).pairs
            return row


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=4_000)
    parser.add_argument("--out", type=Path, help="file for the result")
    asked = parser.parse_args()
    counts = (asked.sites // 4, asked.sites // 2, asked.sites)
    tables: Tables = {"Mining many sites": [measured(count) for count in counts]}
    show_and_keep(tables, asked.out)


if __name__ == "__main__":
    main()
