"""Crawl policies: pairs found against downloads, replayed on real sites under all URL schemes.

    python -m bench.tasks.crawl_curves [--sites DIR] [--only NAME...] [--policies NAME...]
                                       [--jobs N] [--cache DIR] [--curves FILE] [--out FILE]
                                       [--svg FILE]

The sites are those of `crawl_sites.py`.  Each policy crawls each site from its home page to the
end; every request that a server would answer counts.  A true pair is found with the download of
its second page.  The results are Fig. 7 of Garcia-Romero et al., and the downloads per pair.  Exits
with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.sites.built import add_sites_option, built_folder, site_builder
from bench.sites.crawl_sites import CrawlSite, build_sites, chosen
from bench.sites.engine import BuiltSite, Readings, completed
from bench.support.crawl_chart import draw
from bench.support.crawl_figures import OURS, Curve, Curves, missed, tables
from bench.support.machine import machine
from bench.support.policy_crawl import policy_crawl
from bench.support.tables import show
from diptych.registry import STRATEGIES

POLICIES = ("bfs", "bfs+langs", "pplocator", "smart", "parallel_links", OURS)


def crawl_site(site: BuiltSite, langs: tuple[str, ...], policy: str, readings: Readings) -> Curve:
    """Crawl one site with one policy, to the end."""
    with policy_crawl(site, langs, policy, readings) as finished:
        served = finished.engine.served
    pairs = site.true_pairs(langs)
    found = completed(served, pairs)
    return Curve(site.folder.name, policy, len(pairs), len(served), tuple(found))


def crawl_all(site: CrawlSite, policies: Sequence[str], cache: Path | None) -> list[Curve]:
    """Crawl one site with all policies; its pages are read once."""
    built = BuiltSite(built_folder() / site.name)
    readings = Readings(built.folder, site.langs, cache)
    curves = []
    for policy in policies:
        started = time.process_time()
        curve = crawl_site(built, site.langs, policy, readings)
        curves.append(curve)
        seconds = time.process_time() - started
        star = "" if curve.cost.reached else "*"
        print(
            f"{site.name} {policy}: {len(curve.found)}/{curve.pairs} pairs, "
            f"{curve.cost}{star} downloads each, {curve.downloads} in all, {seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )
        readings.keep()
    return curves


def measure(
    sites: Sequence[CrawlSite], policies: Sequence[str], cache: Path | None, jobs: int
) -> Iterator[Curve]:
    """Crawl all sites with all policies, several sites in parallel."""
    if jobs == 1:
        for site in sites:
            yield from crawl_all(site, policies, cache)
        return
    with ProcessPoolExecutor(jobs) as pool:
        each = [pool.submit(crawl_all, site, policies, cache) for site in sites]
        for future in each:
            yield from future.result()


def read_curves(file: Path | None) -> list[Curve]:
    """Read saved curves."""
    if file is None or not file.exists():
        return []
    rows = json.loads(file.read_text("utf-8"))
    return [
        Curve(site, policy, pairs, downloads, tuple(found))
        for site, policy, pairs, downloads, found in rows
    ]


def write_curves(file: Path, curves: Iterable[Curve]) -> None:
    """Save curves, one per line."""
    lines = ",\n".join(json.dumps(curve) for curve in curves)
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


def _policy(name: str) -> str:
    if name not in STRATEGIES["crawl"]:
        known = ", ".join(sorted(STRATEGIES["crawl"]))
        raise argparse.ArgumentTypeError(f"no policy '{name}'; available: {known}")
    return name


def add_policies_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects policies; the default is all policies."""
    known = [name for name in POLICIES if name in STRATEGIES["crawl"]]
    parser.add_argument("--policies", nargs="*", type=_policy, default=known, metavar="NAME")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    add_policies_option(parser)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="parts of names")
    parser.add_argument("--cache", type=Path, default=built_folder().parent / "readings")
    parser.add_argument("--curves", type=Path, metavar="FILE",
                        help="curves of earlier calls: those not measured now count too, "
                        "and all are kept there")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="sites at once")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    parser.add_argument("--svg", type=Path, help="where to draw the curves")
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if a target is missed."""
    options = _options()
    sites = chosen(options.only)
    build_sites(site_builder(options.sites), sites)
    by = {(curve.site, curve.policy): curve for curve in read_curves(options.curves)}
    for curve in measure(sites, options.policies, options.cache, options.jobs):
        by[curve.site, curve.policy] = curve
    if options.curves:
        write_curves(options.curves, by.values())
    names = {site.name for site in sites}
    curves = Curves(curve for curve in by.values() if curve.site in names)
    shown = tables(curves)
    show(shown)
    short = missed(curves)
    print("\n".join(short), file=sys.stderr)
    if options.svg:
        options.svg.write_text(draw(curves), "utf-8")
    if options.out:
        result = {"machine": machine([]), "tables": shown, "missed": short}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
