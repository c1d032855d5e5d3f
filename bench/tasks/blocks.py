"""Block alignment on real pages, original and degraded: precision and recall of trees and flat.

    python -m bench.tasks.blocks [--pages 10] [--seed 0] [--families NAME ...] [--out FILE]

Pages, truth and degradations are those of `block_pairs`, on families that were not used for
training.  A method's pair of blocks counts if one of the two is scored; a pair of two blocks with
one block counts twice.  Precision is the share of these pairs that are correct, recall the share of
the true pairs that are found.  Both pairs of two swapped blocks are true: an aligner that keeps the
order can find one of them.  A block whose counterpart was deleted is still scored: any pair with it
is wrong.

`lexicon` is the second pass, similar to that of a run: IBM Model 1 learns the lexicon from pairs
that the first pass aligned with a score of at least 0.7 on pages of the same site with the same
degradation; a run learns from sentences instead of whole blocks.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.support.block_pairs import HELD_OUT, KINDS, LANGS, Sample, pairs_of, samples
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.tables import Tables, percent, show
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import discounted
from diptych.registry import signature
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_dom.flat import Flat
from diptych.text.tokens import tokens
from diptych.types import NodePair

SURE = 0.7
Aligned = list[list[NodePair]]
Method = Callable[[Sequence[Sample]], Aligned]
Scores = defaultdict[tuple[str, ...], Counter[str]]


def flat(site: Sequence[Sample]) -> Aligned:
    """The pairs of blocks aligned as one sequence."""
    return [Flat().align(sample.left, sample.right) for sample in site]


def trees(site: Sequence[Sample]) -> Aligned:
    """The pairs of blocks aligned as trees, without a lexicon."""
    return [DomTree().align(sample.left, sample.right) for sample in site]


def trees_in_order(site: Sequence[Sample]) -> Aligned:
    """The pairs of blocks aligned as trees, without a lexicon and without crossing pairs."""
    aligner = DomTree(crossing=0.0)
    return [aligner.align(sample.left, sample.right) for sample in site]


def trees_with_lexicon(site: Sequence[Sample]) -> Aligned:
    """The pairs of blocks aligned as trees with a lexicon from a first pass, as in a run."""
    lexicon = _lexicon(site, trees(site))
    return [DomTree().align(sample.left, sample.right, lexicon) for sample in site]


def _lexicon(site: Sequence[Sample], first: Aligned) -> Lexicon:
    langs = site[0].langs
    texts = {
        (pair.left[0].text, pair.right[0].text)
        for aligned in first
        for pair in aligned
        if pair.score >= SURE and pair.left[0].text != pair.right[0].text
    }
    pairs = [(tokens(left, langs[0]), tokens(right, langs[1])) for left, right in sorted(texts)]
    return discounted(train(pairs, *langs))


METHODS: dict[str, Method] = {
    "flat": flat,
    "domtree": trees,
    "domtree, order kept": trees_in_order,
    "domtree, lexicon": trees_with_lexicon,
}


def judged(sample: Sample, aligned: Iterable[NodePair]) -> Counter[str]:
    """The numbers of correct pairs, of wrong pairs, and of true pairs."""
    ours = {id(block): number for number, block in enumerate(sample.left.blocks)}
    theirs = {id(block): number for number, block in enumerate(sample.right.blocks)}
    counts = Counter(true=len(sample.truth))
    for pair in aligned:
        for left in pair.left:
            for right in pair.right:
                i, j = ours[id(left)], theirs[id(right)]
                if i in sample.scored[0] or j in sample.scored[1]:
                    partner = sample.truth.get(i)
                    # By text: a heading that stands twice may be paired with either.
                    is_right = (
                        partner is not None and sample.right.blocks[partner].text == right.text
                    )
                    counts["right" if is_right else "wrong"] += 1
    return counts


def run(families: Sequence[str], pages: int, seed: int) -> tuple[Scores, dict[str, float]]:
    """Run all methods on all families, language pairs and degradations."""
    scores: Scores = defaultdict(Counter)
    seconds: defaultdict[str, float] = defaultdict(float)
    for family in families:
        for langs in LANGS:
            pairs = pairs_of(family, langs, pages, seed)
            for kind in KINDS if pairs else ():
                site = list(samples(pairs, kind, seed))
                for name, method in METHODS.items():
                    start = time.perf_counter()
                    aligned = method(site)
                    seconds[name] += time.perf_counter() - start
                    for sample, found in zip(site, aligned, strict=True):
                        counts = judged(sample, found)
                        for key in (
                            (kind, name),
                            (kind, name, "-".join(langs)),
                            (kind, name, family),
                        ):
                            scores[key] += counts
                seconds["pages"] += len(site)
            print(family, *langs, len(pairs), file=sys.stderr, flush=True)
    return scores, seconds


def _precision(counts: Counter[str]) -> float:
    return counts["right"] / max(1, counts["right"] + counts["wrong"])


def _recall(counts: Counter[str]) -> float:
    return counts["right"] / max(1, counts["true"])


def tables(scores: Scores, seconds: dict[str, float]) -> Tables:
    """Tables of totals per degradation, and of language pairs and families for the worst one."""
    totals = [
        {
            "pages": kind, "method": name, "true pairs": scores[kind, name]["true"],
            "precision": percent(_precision(scores[kind, name])),
            "recall": percent(_recall(scores[kind, name])),
        }
        for kind in KINDS
        for name in METHODS
    ]  # fmt: skip
    found: Tables = {"Blocks of page pairs, percent": totals}
    worst = KINDS[-1]
    for title, names in (
        ("language pair", ["-".join(langs) for langs in LANGS]),
        ("site", sorted(HELD_OUT)),
    ):
        found[f"The worst pages by {title}, precision / recall"] = [
            _row(scores, worst, title, name) for name in names if (worst, "flat", name) in scores
        ]
    found["Milliseconds a page pair, with reading of words"] = [
        {"method": name, "ms": round(1000 * seconds[name] / max(1, seconds["pages"]), 1)}
        for name in METHODS
    ]
    return found


def _row(scores: Scores, kind: str, title: str, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {title: name, "true pairs": scores[kind, "flat", name]["true"]}
    for method in METHODS:
        counts = scores[kind, method, name]
        row[method] = f"{_precision(counts):.3f} / {_recall(counts):.3f}"
    return row


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10, help="of a family and language pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="+", default=list(HELD_OUT))
    parser.add_argument("--out", type=Path, default=RESULTS / "blocks.json")
    options = parser.parse_args()
    made = tables(*run(options.families, options.pages, options.seed))
    show(made)
    result = {
        "signature": signature({"align_dom": {"use": "domtree"}}, ["all"]),
        "pages": options.pages,
        "seed": options.seed,
        "families": options.families,
        "tables": made,
        "machine": machine(["numpy", "selectolax"]),
    }
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
