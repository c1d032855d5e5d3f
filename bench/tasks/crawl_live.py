"""Crawl policies over HTTP: the figures of `crawl_curves.py`, from the access log of a server.

    python -m bench.tasks.crawl_live [--sites DIR] [--only NAME...] [--policies NAME...]
                                     [--out FILE]

Three of the sites are served on loopback and mined by the command line with one connection and no
delay.  The order of the server's responses is the crawl.  For comparison, the same crawl is
replayed without network access (`crawl_curves.py`): both should give the same figures.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.sites.archive import site_url
from bench.sites.built import add_sites_option, built_folder, serve, site_builder
from bench.sites.crawl_sites import CrawlSite, build_sites, chosen
from bench.sites.engine import BuiltSite, Readings, completed
from bench.support.crawl_figures import Curve
from bench.support.machine import machine
from bench.support.policy_crawl import OWN_RECIPES
from bench.support.processes import give_up, last_line
from bench.support.tables import show
from bench.tasks.crawl_curves import add_policies_option, crawl_site
from diptych import recipes

LIVE = ("crawl-full-suffix", "crawl-partial-dotlang", "crawl-third-qopaque")
"""small sites of different groups, with and without declared alternates"""

_REQUEST = re.compile(r'"GET (\S+) HTTP/1\.1" (\d+) ')


def read_log(file: Path, site: BuiltSite) -> list[Path | None]:
    """For each response in an access log, the file that was sent; None if it is not a page."""
    served: list[Path | None] = []
    for line in file.read_text("utf-8", "replace").splitlines():
        request = _REQUEST.search(line)
        if request is None:
            give_up(f"{file.name} has a line that is no request: {line}")
        answer = site.find(site_url(request[1]))
        if answer is None or answer.status != int(request[2]):
            give_up(f"replayed, the site answers otherwise than its server: {line}")
        served.append(answer.file)
    return served


def mine(home: str, others: Sequence[str], langs: str, policy: str, out: Path) -> dict[str, Any]:
    """Mine a served site with the command line."""
    command = [sys.executable, "-m", "diptych", "mine", home, "--langs", langs]
    command += ["--strategy", OWN_RECIPES.get(policy, recipes.DEFAULT), "--crawl", policy]
    command += ["--allow-private", "--delay", "0", "--json", "--out", str(out)]
    for url in others:
        command += ["--also", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: nothing was found
        give_up(f"diptych mine ended with {done.returncode}: {last_line(done.stderr)}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def crawl_live(site: CrawlSite, policy: str) -> tuple[Curve, dict[str, Any]]:
    """Crawl one site with one policy over HTTP; returns its curve and its own figures."""
    built = BuiltSite(built_folder() / site.name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with serve([built.folder], logs=folder) as served:
            one = served[site.name]
            others = [url + "/" for url in one.hosts if url + "/" != one.home]
            result = mine(one.home, others, site.wanted, policy, folder / "run")
        answered = read_log(folder / f"{site.name}.log", built)
    pairs = built.true_pairs(site.langs)
    found = tuple(completed(answered, pairs))
    return Curve(site.name, policy, len(pairs), len(answered), found), result


def compare(site: CrawlSite, policy: str, cache: Path | None) -> dict[str, Any]:
    """The live and the replayed crawl, side by side."""
    live, result = crawl_live(site, policy)
    built = BuiltSite(built_folder() / site.name)
    replayed = crawl_site(built, site.langs, policy, Readings(built.folder, site.langs, cache))
    row: dict[str, Any] = {"site": site.name.removeprefix("crawl-"), "policy": policy}
    row |= {"true pairs": live.pairs, "pairs mined": result["pairs"]}
    for name, curve in (("live", live), ("replayed", replayed)):
        star = "" if curve.cost.reached else "*"
        row |= {f"downloads, {name}": curve.downloads, f"pairs, {name}": len(curve.found)}
        row |= {f"downloads per pair, {name}": f"{curve.cost}{star}"}
    row["same curve"] = "yes" if live.found == replayed.found else "no"
    return row


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    add_policies_option(parser)
    parser.add_argument("--only", nargs="*", default=LIVE, metavar="NAME", help="parts of names")
    parser.add_argument("--cache", type=Path, default=built_folder().parent / "readings")
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    sites = chosen(options.only)
    build_sites(site_builder(options.sites), sites)
    rows = [compare(site, policy, options.cache) for site in sites for policy in options.policies]
    shown = {"Crawls over HTTP, by the access log, and replayed": rows}
    show(shown)
    if options.out:
        result = {"machine": machine(["aiohttp"]), "tables": shown}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
