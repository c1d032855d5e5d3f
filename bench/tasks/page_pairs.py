"""Page pairs: precision and recall on real sites under all URL schemes, compared with baselines.

    python -m bench.tasks.page_pairs [--sites DIR] [--cache DIR] [--only NAME...] [--jobs N]

The sites are those of `pair_sites`: twelve variants under ten URL schemes, and eight without
evidence in URLs, links and declarations.  Their families were not used for training.  Each method
receives the same pages.  Diptych's method is a run without the crawl: pairing, learning, pairing
again, aligning, verifying.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.sites.built import add_sites_option, built_folder, site_builder
from bench.sites.pair_sites import build_pair_sites, chosen, kind
from bench.sites.stored import Counts, Pair, languages, read_site, read_truth, view_of
from bench.support.machine import machine
from bench.support.tables import show
from diptych import recipes
from diptych.engine.workers import Workers
from diptych.learn.lexicon.lexicon import lexicon_of, read_lexicon
from diptych.pipeline import pair_and_learn
from diptych.protocols import Pairer, Verifier, Watcher
from diptych.registry import Strategies, build
from diptych.run.store import Store
from diptych.stages.pair.content import Content
from diptych.stages.pair.keys.strategy import Keys
from diptych.stages.pair.langstrip import LangStrip
from diptych.stages.pair.pplocator import PPLocator
from diptych.stages.pair.pti import Pti
from diptych.stages.pair.url_model import UrlModel
from diptych.stages.pair.url_rules import UrlRules
from diptych.stages.verify.decision_tree import DecisionTree
from diptych.stages.verify.maxent import MaxEnt
from diptych.steps.align_pairs import align_pairs
from diptych.steps.tasks import AlignTask, TaskContext
from diptych.types import PagePair, lang_pairs

OURS = "diptych"
PRECISION, RECALL = 0.985, 0.97
OPAQUE_PRECISION, OPAQUE_RECALL = 0.96, 0.92
DELETED_PRECISION = 0.98

Method = Callable[[Store, list[str]], Iterable[PagePair]]
Rows = dict[str, dict[str, Any]]
"""site -> method -> its counts"""


def read_known(files: Iterable[Path]) -> Rows:
    """Read the counts saved by earlier invocations."""
    known: Rows = {}
    for file in files:
        for site, counts in json.loads(file.read_text("utf-8")).items():
            known.setdefault(site, {}).update(counts)
    return known


def alone(pairer: Pairer) -> Method:
    """Run a pairer alone."""

    def find(store: Store, langs: list[str]) -> Iterable[PagePair]:
        return pairer.pair(view_of(store, langs))

    return find


def verified(pairer: Pairer, verifier: Verifier, recipe: str) -> Method:
    """Run a pairer, then a verifier on its pairs."""

    def find(store: Store, langs: list[str]) -> Iterable[PagePair]:
        made = replace(build(recipes.load(recipe, {})), verify=verifier)
        context = TaskContext(store.folder, made, langs).of(store)
        for pair in pairer.pair(view_of(store, langs)):
            if AlignTask(pair).run(context).decision.accept:
                yield pair

    return find


def with_word_list(pairer: Pairer, files: list[Path]) -> Method:
    """Run a pairer with word lists of the user."""

    def find(store: Store, langs: list[str]) -> Iterable[PagePair]:
        lexicons = [read_lexicon(file) for file in files]
        found = {pair: lexicon_of(pair, lexicons) for pair in lang_pairs(langs)}
        known = {pair: lexicon for pair, lexicon in found.items() if lexicon}
        return pairer.pair(view_of(store, langs, known))

    return find


def whole_run(jobs: int) -> Method:
    """Run the pipeline of Diptych on the pages."""

    def find(store: Store, langs: list[str]) -> Iterable[PagePair]:
        strategies: Strategies = build(recipes.load(recipes.DEFAULT, {}))
        with Store(store.folder, agent="bench") as run, Workers(jobs) as workers:
            run.db.execute("DELETE FROM learning")
            run.db.execute("DELETE FROM pairs")
            context = TaskContext(run.folder, strategies, langs)
            ((id, _),) = run.sites()
            learned = pair_and_learn(run, context, workers, Watcher())
            align_pairs(run, learned, workers, Watcher())
            return [pair for _, pair in run.verified_pairs(id)]

    return find


def methods(jobs: int, word_lists: list[Path]) -> dict[str, Method]:
    """All methods; that of Diptych is the first."""
    return {
        OURS: whole_run(jobs),
        "content, no lexicon": alone(Content()),
        "keys": alone(Keys()),
        "wmt16 (langstrip)": alone(LangStrip()),
        "url_rules": alone(UrlRules()),
        "smart (url_model)": alone(UrlModel()),
        "pplocator": alone(PPLocator()),
        "pplocator, verified": verified(PPLocator(), DecisionTree(), "bfs"),
        "dom": verified(UrlRules(), MaxEnt(), "dom"),
        f"pti{'' if word_lists else ', no word list'}": with_word_list(Pti(), word_lists),
    }


def measure(
    names: Iterable[str], cache: Path, found: dict[str, Method], known: Rows, keep: Path | None
) -> list[dict[str, Any]]:
    """Run all methods on all sites; saved results are not measured again."""
    rows: list[dict[str, Any]] = []
    for name in names:
        folder, site = read_site(name, cache), built_folder() / name
        truth, langs = read_truth(site), languages(site)
        row: dict[str, Any] = {"site": name, "kind": kind(name), "true pairs": len(truth.right)}
        for method, find in found.items():
            if method in known.get(name, {}):
                row[method] = Counts(*known[name][method])
                continue
            started = time.process_time()
            with Store(folder, write=False) as store:
                pairs: set[Pair] = {frozenset((p.left, p.right)) for p in find(store, langs)}
            row[method] = truth.judge(pairs)
            row[f"{method} s"] = round(time.process_time() - started, 1)
        rows.append(row)
        if keep is not None:
            counts = {each["site"]: {name: each[name] for name in found} for each in rows}
            keep.write_text(json.dumps(counts), "utf-8")
        print(name, *(f"{method} {row[method]}" for method in found), sep=" | ", flush=True)
    return rows


def summed(rows: list[dict[str, Any]], kinds: tuple[str, ...], method: str) -> Counts:
    """The micro-average over all sites of some kinds."""
    total = Counts(0, 0, 0)
    for row in rows:
        if row["kind"] in kinds:
            total = total + row[method]
    return total


SETS = {
    "all sites and schemes": ("scheme", "deleted", "opaque"),
    "the twelve development variants": ("scheme", "deleted"),
    "40% of a language deleted": ("deleted",),
    "opaque, nothing declared": ("opaque",),
}


def tables(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """The tables that are saved and shown in the documentation."""
    sums = [
        {"method": name, **{each: str(summed(rows, kinds, name)) for each, kinds in SETS.items()}}
        for name in names
    ]
    each = [
        {"site": row["site"], "true pairs": f"{row['true pairs']:,}",
         **{name: str(row[name]) for name in names}}
        for row in rows
    ]  # fmt: skip
    return {
        "Page pairs, precision / recall, micro-averaged": sums,
        "Page pairs by site, precision / recall": each,
    }


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """The floors that Diptych misses."""
    floors = {
        "the twelve development variants": (PRECISION, RECALL),
        "40% of a language deleted": (DELETED_PRECISION, 0.0),
        "opaque, nothing declared": (OPAQUE_PRECISION, OPAQUE_RECALL),
    }
    found = []
    for name, (precision, recall) in floors.items():
        counts = summed(rows, SETS[name], OURS)
        if counts.precision < precision or counts.recall < recall:
            found.append(f"{name}: {counts} is below {precision} / {recall}")
    return found


def main() -> int:
    """Measure, print and save the results; returns 1 if a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--cache", type=Path, default=built_folder().parent / "stores")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="sites to measure")
    parser.add_argument("--methods", nargs="*", default=[], metavar="NAME", help="of the rows")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to keep the counts")
    parser.add_argument("--known", type=Path, nargs="*", default=[], metavar="FILE",
                        help="counts that were kept, and are not measured again")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lexicon", type=Path, action="append", default=[], metavar="FILE",
                        help="word lists for PTI (diptych lexicon import)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="where to keep the results")
    arguments = parser.parse_args()
    names = chosen(arguments.only)
    build_pair_sites(site_builder(arguments.sites), names)
    found = methods(arguments.jobs, arguments.lexicon)
    if arguments.methods:
        found = {name: method for name, method in found.items() if name in arguments.methods}
    rows = measure(names, arguments.cache, found, read_known(arguments.known), arguments.keep)
    shown = tables(rows, found)
    show(shown)
    short = missed(rows) if OURS in found else []
    print("\n".join(short), file=sys.stderr)
    if arguments.out:
        result = {"machine": machine(["numpy", "rapidfuzz"]), "tables": shown, "missed": short}
        arguments.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
