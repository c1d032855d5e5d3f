"""Train the models of the verifiers, and ship them.

    python -m bench.training.verify [--most 8] [--lang-pairs 4] [--seed 0] [--cache DIR]

The candidates are those of `verify_pairs`, of its training sites, each site counting alike, and of
each its right pairs as much as the others.  For the default, logistic regression and boosted trees
are compared by cross-validation over sites, and the simpler is taken unless the other is better.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.support.paths import SOURCE
from bench.support.verify_pairs import RIGHT, TRAINING, Row, rows
from bench.support.verify_scores import Scores, scores
from bench.training.boosted_trees import boosted
from diptych.stages.verify.shared.features import MAXENT, NAMES, PPLOCATOR
from diptych.stages.verify.shared.model import Model, to_json
from diptych.stages.verify.shared.train import (
    Table,
    Trainer,
    cross_validated,
    decision_tree,
    logistic,
    monotone,
)

WEIGHTS = SOURCE / "stages/verify/shared/weights"
FOLDS = 9
WORTH = 0.003  # of F1 that trees must gain over regression to be worth their size
TRAINERS: Mapping[str, Trainer] = {"logistic regression": monotone, "boosted trees": boosted}
CARD = """# Verification: {method}

`{method}.json`: {kind} over {count} features: {features}.
Trained by `python -m bench.training.verify --most {most} --lang-pairs {lang_pairs}
--seed {seed}` on {pairs} candidates of
{sites}.
Each site counts alike, and so do right pairs and others.
Cross-validated over sites, unweighted, at a threshold of 0.5: {figures}.
{more}The sites are built from packages of Debian; none of their text is here.
"""


def table_of(found: Sequence[Row]) -> Table:
    """The candidates that need a model; each site counts alike, and so do both classes in it."""
    kept = [row for row in found if not row.obstacle]
    right = np.array([row.label == RIGHT for row in kept])
    sites = np.array([row.site for row in kept])
    weights = np.zeros(len(kept))
    for site in np.unique(sites):
        for label in (False, True):
            here = (sites == site) & (right == label)
            weights[here] = 1 / max(here.sum(), 1)
    weights *= len(kept) / weights.sum()
    return Table.of(NAMES, [row.features for row in kept], right, weights)


def site_folds(found: Sequence[Row]) -> NDArray[np.int64]:
    """A fold for each site, so that no site is in two."""
    sites = np.array([row.site for row in found if not row.obstacle])
    return np.unique(sites, return_inverse=True)[1].reshape(-1) % FOLDS


def chosen(table: Table, fold: NDArray[np.int64]) -> tuple[str, dict[str, Scores]]:
    """What the default is: trees if they are clearly better, and all that was measured."""
    measured = {
        name: scores(table.right, cross_validated(table, train, fold))
        for name, train in TRAINERS.items()
    }
    simple, other = TRAINERS
    is_worth = measured[other].f1 > measured[simple].f1 + 100 * WORTH
    return other if is_worth else simple, measured


def ship(method: str, model: Model, card: str) -> None:
    """Write a model and its card."""
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / f"{method}.json").write_text(to_json(model) + "\n", "utf-8")
    (WEIGHTS / f"{method}.md").write_text(card, "utf-8")


def main() -> None:
    """Train all three."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=8, help="true pairs of a pair of languages")
    parser.add_argument("--lang-pairs", type=int, default=4, help="of a site")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder to keep what was measured in")
    options = parser.parse_args()
    found = rows(
        TRAINING,
        most=options.most,
        lang_pairs=options.lang_pairs,
        seed=options.seed,
        cache=options.cache,
    )
    table, fold = table_of(found), site_folds(found)
    name, measured = chosen(table, fold)
    for each, value in measured.items():
        print(each, value)
    compared = "; ".join(f"{each}: {value}" for each, value in measured.items())
    methods = {
        "classify": (NAMES, name, TRAINERS[name], f"Compared were {compared}.\n"),
        "decision_tree": (PPLOCATOR, "decision tree", decision_tree, ""),
        "maxent": (MAXENT, "logistic regression", logistic, ""),
    }
    for method, (names, kind, train, more) in methods.items():
        part = table.only(names)
        value = scores(table.right, cross_validated(part, train, fold))
        print(method, value)
        card = CARD.format(
            method=method, kind=kind, count=len(names), features=", ".join(names),
            most=options.most, lang_pairs=options.lang_pairs, seed=options.seed,
            pairs=len(table.rows),
            sites=", ".join(TRAINING), figures=value, more=more,
        )  # fmt: skip
        ship(method, train(part), card)


if __name__ == "__main__":
    main()
