"""Four languages mined in one crawl: all six language pairs and the n-way rows, against the truth.

    python -m bench.tasks.n_way [--sites DIR] [--only NAME...] [--out FILE]

Development sites in four languages are served on loopback and mined by the command line with all
their languages, one connection and no delay.  For each language pair, page pairs are compared with
the truth; an n-way row is correct if all its pages are from one group and its texts are in no other
row.  For comparison, the sites are mined in six crawls with two languages each.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from bench.sites.archive import site_url
from bench.sites.built import add_sites_option, built_folder, serve, site_builder
from bench.sites.pair_sites import build_pair_sites
from bench.sites.stored import Counts, Truth, read_truth
from bench.support.machine import machine
from bench.support.processes import give_up, last_line
from bench.support.tables import percent, show
from diptych.language.codes import parse_lang
from diptych.types import Url

SITES = {
    "dev-dir-igfr": ("en", "fr", "ja", "ru"),
    "dev-suffix-mplayer": ("en", "de", "hu", "ru"),
    "dev-dotlang-igpl": ("en", "vi", "ro", "el"),
}
"""site -> languages to mine"""


def mine(home: str, langs: Sequence[str], out: Path) -> dict[str, Any]:
    """Mine a served site with the command line."""
    command = [sys.executable, "-m", "diptych", "mine", home, "--langs", ",".join(langs)]
    command += ["--allow-private", "--delay", "0", "--json", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: nothing was found
        give_up(f"diptych mine ended with {done.returncode}: {last_line(done.stderr)}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def table(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a tab-separated table, by column name."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def page(url: str, home: str) -> Url:
    """The address of a page in the truth; the address of a folder is that of its index."""
    path = url.removeprefix(home.rstrip("/"))
    return site_url(f"{path}index.html" if path.endswith("/") else path)


def by_languages(
    pairs: Iterable[dict[str, str]], home: str, truth: Truth, langs: dict[Url, str]
) -> dict[tuple[str, str], Counts]:
    """The correct, wrong and true pairs of each language pair."""
    names = sorted(set(langs.values()))
    found: dict[tuple[str, str], set[frozenset[Url]]] = {}
    for pair in pairs:
        key = tuple(sorted((pair["left_lang"], pair["right_lang"])))
        both = frozenset((page(pair["left_url"], home), page(pair["right_url"], home)))
        found.setdefault((key[0], key[1]), set()).add(both)
    counts = {}
    for one, other in combinations(names, 2):
        right = {pair for pair in truth.right if {langs[url] for url in pair} == {one, other}}
        own = Truth(frozenset(right), truth.neutral)
        counts[one, other] = own.judge(found.get((one, other), set()))
    return counts


def judge_rows(
    path: Path, langs: Sequence[str], home: str, group: dict[Url, str]
) -> dict[str, int]:
    """The numbers of n-way rows: all, with all languages, and from one group of pages."""
    rows = whole = right = 0
    for row in table(path):
        pages = [page(row[f"{lang}_url"], home) for lang in langs if row[lang]]
        rows += 1
        whole += len(pages) == len(langs)
        right += len({group.get(each, each) for each in pages}) == 1
    return {"rows": rows, "with all languages": whole, "of one group of pages": right}


def measure(name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Measure one site; returns a row per language pair, and one for the whole site."""
    site = built_folder() / name
    truth, group, lang_of = read_truth(site), {}, {}
    for line in (site / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, _, _ = line.split("\t")
        group[site_url(path)], lang_of[site_url(path)] = key, parse_lang(lang)
    wanted = [parse_lang(lang) for lang in SITES[name]]
    with tempfile.TemporaryDirectory() as scratch, serve([site]) as served:
        home, folder = served[name].home, Path(scratch)
        result = mine(home, wanted, folder / "all")
        counts = by_languages(table(folder / "all" / "pairs.tsv"), home, truth, lang_of)
        rows = judge_rows(folder / "all" / "n-way.tsv", wanted, home, group)
        alone = {
            (one, other): mine(home, [one, other], folder / f"{one}-{other}")
            for one, other in counts
        }
        apart = {
            key: by_languages(table(folder / f"{key[0]}-{key[1]}" / "pairs.tsv"), home, truth,
                              lang_of)[key]
            for key in counts
        }  # fmt: skip
    segments = {
        tuple(sorted((each["left"], each["right"]))): each["segments"]
        for each in result["lang_pairs"]
    }
    shown = [
        {
            "site": name.removeprefix("dev-"), "languages": f"{one}-{other}",
            "true pairs": each.true, "precision": percent(each.precision),
            "recall": percent(each.recall), "segments": segments.get((one, other), 0),
            "by itself: precision": percent(apart[one, other].precision),
            "by itself: recall": percent(apart[one, other].recall),
            "by itself: segments": alone[one, other]["segments"],
        }
        for (one, other), each in counts.items()
    ]  # fmt: skip
    total = sum(counts.values(), Counts(0, 0, 0))
    whole = {
        "site": name.removeprefix("dev-"), "downloads": result["downloads"],
        "downloads of six crawls": sum(each["downloads"] for each in alone.values()),
        "true pairs": total.true, "precision": percent(total.precision),
        "recall": percent(total.recall), **rows,
    }  # fmt: skip
    return shown, whole


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--only", nargs="*", default=list(SITES), metavar="NAME", choices=SITES)
    parser.add_argument("--out", type=Path, help="where to keep the results")
    options = parser.parse_args()
    build_pair_sites(site_builder(options.sites), options.only)
    pairs, wholes = [], []
    for name in options.only:
        shown, whole = measure(name)
        pairs.extend(shown)
        wholes.append(whole)
        print(whole, file=sys.stderr)
    tables = {"Four languages in one crawl": wholes, "Each two of them": pairs}
    show(tables)
    if options.out:
        result = {"machine": machine(["aiohttp"]), "tables": tables}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
