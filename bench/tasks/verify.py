"""Verification of candidate pairs on sites that were not used for training.

    python -m bench.tasks.verify [--most 10] [--lang-pairs 4] [--seed 0] [--draws 20] [--cache DIR]

The candidates are those of `verify_pairs`.  The tables show the quality of the decision tree of
Vieira & Moreira 2012 from 110 labelled pairs, the contribution of each feature (their Table II),
and the quality of the shipped verifiers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.tables import Tables, percent, show
from bench.support.verify_pairs import MEASURED, PARTIAL, RIGHT, WORN, Row, rows
from bench.support.verify_scores import Scores, scores
from bench.training.verify import table_of
from diptych._version import VERSION
from diptych.stages.verify.classify import Classify
from diptych.stages.verify.decision_tree import DecisionTree
from diptych.stages.verify.maxent import MaxEnt
from diptych.stages.verify.shared.features import NAMES, PPLOCATOR
from diptych.stages.verify.shared.train import (
    Table,
    Trainer,
    cross_validated,
    decision_tree,
    folds,
    leave_one_out,
    monotone,
    probabilities,
)
from diptych.stages.verify.size_ratio import SizeRatio
from diptych.types import LangPair

POSITIVE, NEGATIVE = 25, 85  # of the 110 pairs of the paper
PUBLISHED = {  # Vieira & Moreira 2012, Table II
    "all features": (84, 87, 86), "words_ratio": (81, 81, 81), "bytes_ratio": (81, 75, 78),
    "tag_distance": (76, 81, 78), "word_overlap": (75, 78, 76),
}  # fmt: skip
_Said = tuple[bool, float, str]


def size_ratio(row: Row) -> _Said:
    """The probability from the baseline."""
    left, _, right = row.langs.partition(",")
    strategy = SizeRatio()
    score = strategy.score(row.features.letters_ratio, LangPair(left, right))
    return score >= strategy.threshold, score, "length_ratio"


def tree(row: Row) -> _Said:
    """The probability from the decision tree."""
    score = DecisionTree().score(row.features)
    return score >= DecisionTree().threshold, score, "not_parallel"


def maxent(row: Row) -> _Said:
    """The probability from maximum entropy."""
    score = MaxEnt().score(row.features)
    return score >= MaxEnt().threshold, score, "not_parallel"


def classify(row: Row) -> _Said:
    """The probability from the default verifier."""
    decision = Classify().judge(row.features)
    return decision.accept, decision.score, decision.reason


VERIFIERS: Mapping[str, Callable[[Row], _Said]] = {
    "size_ratio": size_ratio, "decision_tree": tree, "maxent": maxent, "classify": classify,
}  # fmt: skip


def said_of(found: Sequence[Row], verifier: Callable[[Row], _Said]) -> list[_Said]:
    """The probability of each candidate by a verifier; an obstacle rejects it first."""
    return [
        (False, 0.0, row.obstacle) if row.obstacle else verifier(row) for row in found
    ]  # fmt: skip


def measured(found: Sequence[Row], verifier: Callable[[Row], _Said]) -> Scores:
    """The scores of a verifier; only complete, correct pairs are positive."""
    said = said_of(found, verifier)
    right = np.array([row.label == RIGHT for row in found])
    return scores(right, np.array([each[1] for each in said]), np.array([each[0] for each in said]))


def told(value: Scores) -> dict[str, Any]:
    """The columns of a table."""
    return {
        "precision": round(value.precision, 2), "recall": round(value.recall, 2),
        "F1": round(value.f1, 2), "area under the curve": round(value.area, 4),
        "calibration error": round(value.calibration, 4),
    }  # fmt: skip


def of_110_pairs(table: Table, draws: int, seed: int) -> dict[str, Any]:
    """The scores of decision trees from 25 correct pairs and 85 others, averaged over the draws."""
    part = table.only(PPLOCATOR)
    found = []
    for number in range(draws):
        generator = np.random.default_rng([seed, number])
        chosen = np.concatenate([
            generator.choice(np.flatnonzero(part.right), POSITIVE, replace=False),
            generator.choice(np.flatnonzero(~part.right), NEGATIVE, replace=False),
        ])  # fmt: skip
        rest = np.ones(len(part.rows), bool)
        rest[chosen] = False
        model = decision_tree(alike(part.part(chosen)))
        found.append(scores(part.right[rest], probabilities(model, part.rows[rest])))
    return told(Scores(*np.mean(np.array(found), axis=0)))


def alike(table: Table) -> Table:
    """The table with equal weights for all pairs, as in the paper."""
    return Table(table.names, table.rows, table.right, np.ones(len(table.rows)))


def without_each(
    table: Table, train: Trainer, seed: int, fold: NDArray[np.int64] | None = None
) -> dict[str, Scores]:
    """Ten-fold cross-validation with all features, and without each feature in turn.

    `fold` states which candidates are left out together; without it, folds are random.
    """
    fold = folds(table.right, 10, seed) if fold is None else fold
    whole = {"all features": cross_validated(table, train, fold)}
    whole |= leave_one_out(table, train, fold)
    return {name: scores(table.right, said) for name, said in whole.items()}


def as_in_the_paper(found: Sequence[Row], seed: int) -> Table:
    """Candidates as from a crawler: uncut pairs without a lexicon, 23% of them correct."""
    some = [row for row in found if row.kind != WORN and not row.has_lexicon]
    table = table_of(some)
    wrong = np.flatnonzero(~table.right)
    count = min(int(table.right.sum()), round(len(wrong) * 252 / (1109 - 252)))
    right = np.random.default_rng(seed).choice(np.flatnonzero(table.right), count, replace=False)
    return alike(table.part(np.sort(np.concatenate([wrong, right]))))


def table_two(found: Sequence[Row], seed: int) -> list[dict[str, Any]]:
    """The contribution of each of the four features."""
    measured_here = without_each(as_in_the_paper(found, seed).only(PPLOCATOR), decision_tree, seed)
    return [
        {"without": name if name in PPLOCATOR else "nothing"}
        | {
            key: value
            for key, value in told(figures).items()
            if key in ("precision", "recall", "F1")
        }
        | {"published": "{} / {} / {}".format(*PUBLISHED[name])}
        for name, figures in measured_here.items()
    ]


def ours_without(found: Sequence[Row], seed: int) -> list[dict[str, Any]]:
    """The contribution of each feature, on sites that were not used for training."""
    # A page pair is there several times, with a lexicon and without: sites are left out whole.
    kept = [row.site for row in found if not row.obstacle]
    sites = np.unique(kept, return_inverse=True)[1]
    table = alike(table_of(found)).only(NAMES)
    measured_here = without_each(table, monotone, seed, sites)
    return [
        {"without": name if name in NAMES else "nothing"} | told(value)
        for name, value in measured_here.items()
    ]


def by_site(found: Sequence[Row]) -> list[dict[str, Any]]:
    """The scores of the default verifier on each site."""
    return [
        {"site": family, "candidates": len(here)} | told(measured(here, classify))
        for site, family in MEASURED.items()
        if (here := [row for row in found if row.site == site])
    ]


def parts(found: Sequence[Row]) -> list[dict[str, Any]]:
    """The verdicts on pages of which a part was removed."""
    cut = [row for row in found if row.kind == PARTIAL]
    result: list[dict[str, Any]] = []
    for name, verifier in VERIFIERS.items():
        said = said_of(cut, verifier)
        reasons = [each[2] for each in said if not each[0]]
        result.append({
            "verifier": name, "cut pairs": len(cut),
            "accepted, %": percent(sum(each[0] for each in said) / len(cut)),
            "partial, %": percent(reasons.count("partial") / len(cut)),
            "too little text, %": percent(reasons.count("too_little_text") / len(cut)),
        })  # fmt: skip
    return result


def tables(found: Sequence[Row], draws: int, seed: int) -> Tables:
    """All tables."""
    paper = as_in_the_paper(found, seed)
    subsets = {
        "all": found,
        "without a lexicon": [row for row in found if not row.has_lexicon],
        "with a lexicon": [row for row in found if row.has_lexicon],
    }
    small = {"trained on": 110, "tested on": len(paper.rows) - 110, "draws": draws}
    return {
        "Decision tree of 110 pairs": [small | of_110_pairs(paper, draws, seed)],
        "Decision tree without each feature, ten-fold": table_two(found, seed),
        "All features, without each, ten-fold": ours_without(found, seed),
        "Verifiers on sites nothing was trained on": [
            {"verifier": name, "candidates": title, "count": len(some)} | told(measured(some, each))
            for title, some in subsets.items()
            for name, each in VERIFIERS.items()
        ],
        "The default by site": by_site(found),
        "Pages of which a part was cut away": parts(found),
    }  # fmt: skip


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=10, help="true pairs of a pair of languages")
    parser.add_argument("--lang-pairs", type=int, default=4, help="of a site")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--cache", type=Path, help="folder to keep what was measured in")
    options = parser.parse_args()
    found = rows(
        MEASURED,
        most=options.most,
        lang_pairs=options.lang_pairs,
        seed=options.seed,
        cache=options.cache,
    )
    shown = tables(found, options.draws, options.seed)
    show(shown)
    result = {
        "signature": f"verify:{'+'.join(VERIFIERS)}|pairs:{options.most}x{options.lang_pairs}"
        f"|seed:{options.seed}|v:{VERSION}",
        "tables": shown,
        "machine": machine(["numpy", "scikit-learn", "rapidfuzz"]),
    }
    path = RESULTS / "verify.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
