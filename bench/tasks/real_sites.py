"""Crawl policies on unmodified real sites: recall, cost, estimate and waste.

    python -m bench.tasks.real_sites --real DIR [QUESTION...] [--policies NAME...] [--mine]
                                     [--jobs N] [--cache DIR] [--crawls FILE] [--out FILE]
                                     [--svg FILE]

The sites are not part of this repository: DIR has a folder for each site, with its pages and true
pairs (see `bench/sites/real_sites.py`).  A question is SITE:LANG,LANG; the default is all usual
questions.  Each policy crawls each site from its home page to its default end, without network
access; every request that a server would answer counts, except robots.txt.  A true pair is found
with the download of its second page; with --mine, the whole pipeline decides on pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.sites.built import work_folder
from bench.sites.engine import Readings, completed
from bench.sites.real_sites import Question, RealSite, one_page, questions
from bench.support.crawl_figures import BASELINE, OURS, Curve
from bench.support.policy_crawl import Finished, policy_crawl
from bench.support.processes import give_up
from bench.support.real_chart import draw
from bench.support.real_figures import RealCrawl, tables
from bench.support.tables import show_and_keep
from bench.tasks.crawl_curves import add_policies_option
from diptych.api.mine import MineOptions
from diptych.engine.workers import Workers
from diptych.pipeline import pair_and_learn
from diptych.protocols import Watcher
from diptych.steps.align_pairs import align_pairs
from diptych.steps.sketch_pages import sketch_pages
from diptych.types import Kind, Outlook, Url

POLICIES = (OURS, BASELINE, "smart", "pplocator", "parallel_links")


def crawl_real(
    site: RealSite, question: Question, policy: str, readings: Readings, *, mine: bool
) -> RealCrawl:
    """Crawl one site with one policy, to its default end."""
    right = wrong = None
    limits = MineOptions(langs="").limits()
    with policy_crawl(site.server, question.langs, policy, readings, limits) as finished:
        outlook = finished.crawl.outlook()
        finished.crawl.finish(interrupted=False)
        ends = [info.end for info in finished.crawl.hosts.sites.values()]
        if mine:
            right, wrong = site.score(_accepted(finished), question.truth_langs)
    asked = [
        (file and one_page(file), status)
        for file, (kind, status) in zip(
            finished.engine.served, finished.engine.answers, strict=True
        )
        if kind is not Kind.ROBOTS
    ]
    served = [file for file, _ in asked]
    pages = [file for file in served if file is not None]
    pairs = site.true_pairs(question.truth_langs)
    found = completed(served, pairs)
    return RealCrawl(
        Curve(question.name, policy, len(pairs), len(served), tuple(found)),
        redirects=sum(300 <= status < 400 for _, status in asked),
        dead=sum(status >= 400 for _, status in asked),
        copies=len(pages) - len(set(pages)),
        estimated=_share_found(outlook),
        end=" ".join(end for end in ends if end),
        right=right,
        wrong=wrong,
    )


def _share_found(outlook: Outlook | None) -> float | None:
    """The share of the pairs found, as estimated by the crawl."""
    return 1 - outlook.missing if outlook is not None and outlook.found else None


def _accepted(finished: Finished) -> list[tuple[Url, Url]]:
    """The pairs that the whole pipeline accepts on the pages of a crawl."""
    store, here, watcher = finished.store, Workers(0), Watcher()
    sketch_pages(store, finished.context, here, watcher)
    context = pair_and_learn(store, finished.context, here, watcher)
    align_pairs(store, context, here, watcher)
    return [
        (pair.left, pair.right)
        for site, _ in store.sites()
        for id, pair in store.pairs(site)
        if store.count("SELECT accept FROM decisions WHERE pair = ?", id)
    ]


def crawl_all(
    folder: Path, question: Question, names: Sequence[str], cache: Path | None, *, mine: bool
) -> list[RealCrawl]:
    """Crawl one site with all policies; its pages are read once."""
    site = RealSite(folder / question.site)
    readings = Readings(site.server.folder, question.langs, cache)
    crawls = []
    for policy in names:
        started = time.process_time()
        crawl = crawl_real(site, question, policy, readings, mine=mine)
        crawls.append(crawl)
        curve, seconds = crawl.curve, time.process_time() - started
        print(
            f"{curve.site} {policy}: {len(curve.found)}/{curve.pairs} pairs, {curve.downloads}"
            f" downloads ({crawl.waste:.0%} redirects, dead, copies), {crawl.end}, {seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )
        readings.keep()
    return crawls


def measure(
    folder: Path, asked: Sequence[Question], options: argparse.Namespace
) -> Iterator[RealCrawl]:
    """Crawl all sites with all policies, several sites in parallel."""
    more = options.policies, options.cache
    if options.jobs == 1:
        for question in asked:
            yield from crawl_all(folder, question, *more, mine=options.mine)
        return
    with ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as pool:
        each = [
            pool.submit(crawl_all, folder, question, *more, mine=options.mine) for question in asked
        ]
        for future in each:
            yield from future.result()


def read_crawls(file: Path | None) -> list[RealCrawl]:
    """Read saved crawls."""
    if file is None or not file.exists():
        return []
    rows = json.loads(file.read_text("utf-8"))
    return [
        RealCrawl(Curve(site, policy, pairs, downloads, tuple(found)), *rest)
        for (site, policy, pairs, downloads, found), *rest in rows
    ]


def write_crawls(file: Path, crawls: Iterable[RealCrawl]) -> None:
    """Save crawls, one per line."""
    lines = ",\n".join(json.dumps(crawl) for crawl in crawls)
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help="SITE:LANG,LANG")
    parser.add_argument("--real", type=Path, metavar="DIR", help="folder of the real sites")
    add_policies_option(parser)
    parser.set_defaults(policies=list(POLICIES))
    parser.add_argument("--mine", action="store_true", help="accept pairs by the whole pipeline")
    parser.add_argument("--cache", type=Path, default=work_folder() / "readings")
    parser.add_argument("--crawls", type=Path, metavar="FILE",
                        help="crawls of earlier calls: those not measured now count too, "
                        "and all are kept there")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="sites at once")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    parser.add_argument("--svg", type=Path, help="where to draw the curves")
    return parser.parse_args()


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    if options.real is None:
        give_up(
            "name the folder of the real sites with --real DIR; they come in real-dev.tar.zst and"
            " are unpacked with 'zstd -dc real-dev.tar.zst | tar x'"
        )
    asked = questions(options.real, options.questions)
    by = {(each.curve.site, each.curve.policy): each for each in read_crawls(options.crawls)}
    for crawl in measure(options.real, asked, options):
        by[crawl.curve.site, crawl.curve.policy] = crawl
    crawls = sorted(by.values(), key=lambda each: _place(each.curve.policy))
    if options.crawls is not None:
        write_crawls(options.crawls, crawls)
    if options.svg is not None:
        options.svg.write_text(draw(crawls), "utf-8")
    show_and_keep(tables(crawls), options.out)


def _place(policy: str) -> int:
    return POLICIES.index(policy) if policy in POLICIES else len(POLICIES)


if __name__ == "__main__":
    main()
