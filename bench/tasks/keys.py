"""Pairing keys: precision and recall on sites with known pairs, and time and memory at scale.

    python -m bench.tasks.keys [--built DIR] [--urls 10000 100000 1000000]

The sites are all built sites; `bench.sites.pair_sites` builds some.  Each method receives the URLs
of a site, with and without the languages of their pages.  Methods for two languages are run once
for each pair of languages.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from bench.sites.built import built_folder, built_sites
from bench.sites.stored import Counts
from bench.support.machine import machine
from bench.support.paths import RESULTS
from diptych.page.url_list import UrlList
from diptych.registry import signature
from diptych.stages.pair.keys.strategy import PAPER, Keys, pair_urls
from diptych.stages.pair.langstrip import LangStrip
from diptych.text.url_edits import learn_rules
from diptych.types import LangScore, Url

FLOOR_SITES = frozenset("apache2-manual debian-install-guide gnucash lilypond scilab".split())
"""sites with floors in addition to the variants `dev-*`; others are only shown and summed"""
WITHOUT_KEY = ("slug", "utf8slug", "numeric", "qopaque")
FLOOR = 0.98  # of precision and of recall, where there is a key
SECONDS, MEGABYTES = 60, 3000  # for a million URLs
Pages = list[tuple[str, str]]
Pairs = set[frozenset[str]]


class Truth(NamedTuple):
    """The pages of a site, and the known verdicts on their pairs."""

    name: str
    scheme: str
    pages: Pages
    right: Pairs
    neutral: Pairs
    half: Pages
    """every second document, in all its languages"""


def read_site(folder: Path) -> Truth:
    """The pages and pairs of a built site; faulty pages are neutral."""
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    groups: defaultdict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    for line in (folder / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, is_fine, _ = line.split("\t")
        url = f"http:/{path}" if path.startswith("//") else f"http://www.site.test{path}"
        if path.startswith("//"):
            host, _, rest = path[2:].partition("/")
            url = f"http://{host}.site.test/{rest}"
        groups[key].append((url, lang, is_fine == "1"))
    right: Pairs = set()
    neutral: Pairs = set()
    for group in groups.values():
        for (url, lang, fine), (other, other_lang, also) in combinations(group, 2):
            if lang != other_lang:
                (right if fine and also else neutral).add(frozenset((url, other)))
    pages = [(url, lang) for group in groups.values() for url, lang, _ in group]
    half = [(u, lang) for key in sorted(groups)[::2] for u, lang, _ in groups[key]]
    return Truth(meta["site"], meta["scheme"], pages, right, neutral, half)


def judge(found: Pairs, truth: Truth) -> Counts:
    """The numbers of correct and of wrong pairs."""
    return Counts(
        len(found & truth.right), len(found - truth.right - truth.neutral), len(truth.right)
    )


Method = Callable[[Pages, list[str]], Pairs]


def by_keys(keys: Keys) -> Method:
    """The pairs found by keys, for all languages at once."""

    def find(pages: Pages, langs: list[str]) -> Pairs:
        return {frozenset((pair.left, pair.right)) for pair in pair_urls(pages, langs, keys)}

    return find


def by_langstrip(pages: Pages, langs: list[str]) -> Pairs:
    """The pairs found by language marks alone."""
    listed = UrlList.of("bench", [(Url(url), LangScore(lang, 1.0)) for url, lang in pages], langs)
    return {frozenset((pair.left, pair.right)) for pair in LangStrip().pair(listed)}


def two_by_two(method: Method) -> Method:
    """Run a method for two languages on all pairs of languages."""

    def find(pages: Pages, langs: list[str]) -> Pairs:
        found: Pairs = set()
        for left, right in combinations(langs, 2):
            found |= method([page for page in pages if page[1] in (left, right)], [left, right])
        return found

    return find


def blind(method: Method) -> Method:
    """A method without the languages of the pages."""

    def find(pages: Pages, langs: list[str]) -> Pairs:
        return method([(url, "") for url, _ in pages], langs)

    return find


METHODS: dict[str, Method] = {
    "langstrip": two_by_two(by_langstrip),
    "paper": two_by_two(by_keys(PAPER)),
    "paper, languages unknown": two_by_two(blind(by_keys(PAPER))),
    "keys": by_keys(Keys()),
    "keys, languages unknown": blind(by_keys(Keys())),
}


def predicted(truth: Truth, langs: list[str]) -> dict[str, float]:
    """The quality of predicted URLs: rules learned from half of a site, tested on the rest."""
    book = learn_rules(pair_urls(truth.half, langs))
    lang_of = dict(truth.pages)
    known = {url for url, _ in truth.half}
    right = wrong = none = 0
    confidence = 0.0
    for pair in truth.right:
        left, other = sorted(pair)
        if left in known:
            continue
        made = [p for p in book.predict(left, lang_of[left]) if p.lang == lang_of[other]]
        if not made:
            none += 1
            continue
        confidence += made[0].confidence
        right, wrong = right + (made[0].url == other), wrong + (made[0].url != other)
    return {"right": right, "wrong": wrong, "none": none, "confidence": round(confidence, 3)}


def measure_sites(sites: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Run all methods on all sites."""
    rows: dict[str, dict[str, Any]] = {}
    for folder in sites:
        truth = read_site(folder)
        if not truth.right:
            continue
        langs = sorted({lang for _, lang in truth.pages}, key=lambda lang: (lang != "en", lang))
        row: dict[str, Any] = {
            "scheme": truth.scheme,
            "urls": len(truth.pages),
            "pairs": len(truth.right),
            "has_key": truth.scheme not in WITHOUT_KEY,
        }
        row |= {name: judge(find(truth.pages, langs), truth) for name, find in METHODS.items()}
        row["predicted"] = predicted(truth, langs)
        rows[truth.name] = row
        print(table_row(truth.name, row), flush=True)
    return rows


def table_row(name: str, row: Mapping[str, Any]) -> str:
    """A row of the table: the precision and recall of each method."""
    cells = [str(row[method]) for method in METHODS]
    return (
        f"| {name} | {row['scheme']} | {row['urls']:,} | {row['pairs']:,} | {' | '.join(cells)} |"
    )


def sums(rows: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """The sums over groups of sites: those with floors, all with a key, and all without."""
    some = [
        row
        for site, row in rows.items()
        if row["has_key"] is (name != "without a key")
        and (name != "floors" or site in FLOOR_SITES or site.startswith("dev-"))
    ]
    total: dict[str, Any] = {
        "scheme": name,
        "urls": sum(row["urls"] for row in some),
        "pairs": sum(row["pairs"] for row in some),
    }
    for method in METHODS:
        total[method] = Counts(*(sum(row[method][part] for row in some) for part in range(3)))
    return total


def generated(count: int) -> Iterator[tuple[str, str]]:
    """The URLs of a large site: sections in four schemes, up to four languages, dates, queries."""
    codes = ("en", "fr", "de", "ja")
    number = made = 0
    while made < count:
        number += 1
        scramble = (number * 2_654_435_761) % (1 << 32)
        langs = codes[: 2 + number % 3]
        day = f"{2001 + scramble % 20}/{1 + scramble // 32 % 12:02}"
        word = f"{scramble % 9973:x}-report-{number % 100}"
        for lang in langs if scramble % 10 else langs[:1]:
            scheme = number % 5
            url = (
                f"/{lang}/news/{day}/{word}.html",
                f"/docs/v{number % 7}.{number % 3}/{word}_{lang}.html",
                f"/{'' if lang == 'en' else lang + '/'}shop/item{number}/page/{scramble % 9}",
                f"/forum/view.php?lang={lang}&t={number}&start={scramble % 50}0&sort=date",
                f"/{lang}/guide/{day}/{scramble % 997}/{number}.{lang}.html",
            )[scheme]
            made += 1
            yield "https://www.example.org" + url, lang if number % 4 else ""


def measure_scale(count: int) -> dict[str, float]:
    """The seconds and peak memory for one size; to be run in a separate process."""
    pages = list(generated(count))
    started, began = time.perf_counter(), time.process_time()
    pairs = pair_urls(pages, ["en", "fr", "de", "ja"])
    seconds, cpu = time.perf_counter() - started, time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "urls": len(pages),
        "pairs": len(pairs),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "megabytes": memory,
    }


def in_own_process(count: int) -> dict[str, float]:
    """Run `measure_scale` in a separate process, so that memory is measured separately."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.tasks.keys", "--scale", str(count)],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def missed(
    rows: Mapping[str, Mapping[str, Any]], scale: Sequence[Mapping[str, float]]
) -> list[str]:
    """The floors that are missed."""
    found = []
    total = sums(rows, "floors")
    if total["pairs"]:
        for name in ("keys", "keys, languages unknown"):
            if min(total[name].precision, total[name].recall) < FLOOR:
                found.append(f"{name}: {total[name].precision:.3f} / {total[name].recall:.3f}")
    for row in scale:
        share = max(1.0, row["urls"] / 1e6)
        if row["cpu_seconds"] > SECONDS * share or row["megabytes"] > MEGABYTES * share:
            found.append(f"{row['urls']:,} URLs")
    return found


def show(rows: dict[str, dict[str, Any]], scale: Sequence[Mapping[str, float]]) -> None:
    """Print the sums and the table of sizes."""
    for name in ("floors", "with a key", "without a key"):
        print(table_row("sum", sums(rows, name)))
    made = [row["predicted"] for row in rows.values()]
    right, wrong, none, sure = (
        sum(row[name] for row in made) for name in ("right", "wrong", "none", "confidence")
    )
    print(
        f"\nof half of each site, from the other half: {right:,} counterparts predicted right,"
        f" {wrong:,} wrong, {none:,} not; mean confidence {sure / max(1, right + wrong):.3f}"
    )
    print("\n| URLs | pairs | seconds | of a core | peak memory, MB |\n|---:|---:|---:|---:|---:|")
    for row in scale:
        numbers = (f"{row['seconds']:.1f}", f"{row['cpu_seconds']:.1f}", f"{row['megabytes']:.0f}")
        print(f"| {row['urls']:,} | {row['pairs']:,} | {' | '.join(numbers)} |")


def tables(
    rows: Mapping[str, Mapping[str, Any]], scale: Sequence[Mapping[str, float]]
) -> dict[str, list[dict[str, Any]]]:
    """The tables of the documentation: precision / recall of each method."""
    whole = {f"sum: {name}": sums(rows, name) for name in ("floors", "with a key", "without a key")}
    made = [row["predicted"] for row in rows.values()]
    totals = {name: sum(row[name] for row in made) for name in ("right", "wrong", "none")}
    return {
        "Pairs of sites, precision / recall": [
            {"site": name, "scheme": row["scheme"], "URLs": row["urls"], "true pairs": row["pairs"]}
            | {method: str(row[method]) for method in METHODS}
            for name, row in {**rows, **whole}.items()
        ],
        "Counterparts of one half of a site predicted from the other half": [totals],
        "Generated URLs": [{key: round(value, 2) for key, value in row.items()} for row in scale],
    }


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--built", type=Path, default=built_folder())
    parser.add_argument("--urls", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--scale", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scale:
        print(json.dumps(measure_scale(options.scale)))
        return
    sites = built_sites(options.built)
    # Before the sites: a process begins with the peak memory of the one that started it.
    scale = [in_own_process(count) for count in options.urls]
    print(f"| site | scheme | URLs | true pairs | {' | '.join(METHODS)} |")
    print(f"|---|---|---:|---:|{'---:|' * len(METHODS)}")
    rows = measure_sites(sites)
    show(rows, scale)
    result = {
        "signature": signature({"pair": {"use": "keys"}}, ["all"]),
        "tables": tables(rows, scale),
        "machine": machine(["numpy"]),
    }
    path = RESULTS / "keys.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if shortfalls := missed(rows, scale):
        sys.exit(f"floor missed: {'; '.join(shortfalls)}")


if __name__ == "__main__":
    main()
