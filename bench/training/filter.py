"""Train the segment quality model, and ship it.

    python -m bench.training.filter [--most 10] [--lang-pairs 6] [--seed 0] [--cache DIR]
    python -m bench.training.filter --encoder [...]

Boosted trees over the measures of `quality.measures`, of the segments of `filter_pairs` from its
training families that break no rule.  Right segments count as much as all others together.  How
scores become probabilities is chosen on what cross-validation over families says.  The scores are
then corrected by what `bench.training.filter_correction` learns from judged segments.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from bench.support.filter_pairs import TRAINING
from bench.support.filter_rows import Rows, rows
from bench.support.paths import SOURCE
from bench.support.verify_scores import area, calibration
from diptych.learn.encoder.load import load_encoder
from diptych.learn.logistic import fit_logistic, sigmoid
from diptych.learn.trees import Forest
from diptych.stages.filter.quality import encoder_measures as likeness
from diptych.stages.filter.quality.measures import NAMES
from diptych.stages.filter.quality.model import QualityModel

WEIGHTS = SOURCE / "stages/filter/quality/weights"
FOLDS = 6
PRECISION = 0.985  # of what is kept, with a margin over the 0.98 that is wanted
FOR = frozenset({
    "alignment", "gain_less", "gain_more", "margin_less", "margin_more", "covered_less",
    "covered_more", "in_order", "numbers_kept", "names_kept", "language_less", "language_more",
    "foreign_less", "foreign_more", "neighbour_alignment", "neighbour_gain", "cosine",
    "cosine_over_page", "cosine_over_neighbours",
})  # fmt: skip
"""measures that speak for a segment the more the higher they are"""
AGAINST = frozenset({
    "length_off", "displaced", "jumps", "numbers_lost", "addresses_lost", "damaged", "end_differs",
    "begin_differs", "brackets_apart", "questions_apart", "breaks_apart",
})  # fmt: skip
CARD = """# Quality of segments: {name}

`{name}.npz`: {trees} trees over {count} measures: {measures}.
Trained by `python -m bench.training.filter --most {most} --lang-pairs {lang_pairs}
--seed {seed}{more}` on
{rows} segments of {families}.
Right segments count as much as all others together.
Cross-validated over families: area under the curve {area:.4f}, calibration error {calibration:.4f};
a precision of {precision} at {threshold:.3f}, with {recall:.1f}% of the right ones kept.
The sites are built from packages of Debian; none of their text is here.
"""


def weights_of(found: Rows) -> NDArray[np.float64]:
    """Half of it for the right ones, half for the others."""
    right = float(found.right.mean())
    return np.where(found.right, 0.5 / right, 0.5 / (1 - right))


def boosted(names: tuple[str, ...], seed: int) -> Any:
    """The trees, untrained: what a measure says may not turn round."""
    bounds = [1 if name in FOR else -1 if name in AGAINST else 0 for name in names]
    return HistGradientBoostingClassifier(
        max_iter=350, learning_rate=0.06, max_leaf_nodes=20, min_samples_leaf=30,
        l2_regularization=5.0, early_stopping=False, monotonic_cst=bounds, random_state=seed,
    )  # fmt: skip


def cross_validated(
    found: Rows, weights: NDArray[np.float64], names: tuple[str, ...], seed: int
) -> NDArray[np.float64]:
    """What trees of other families say of each, as the logarithm of odds."""
    fold = np.unique(found.family, return_inverse=True)[1].reshape(-1) % FOLDS
    said = np.zeros(len(fold))
    for number in range(FOLDS):
        own = fold == number
        model = boosted(names, seed)
        model.fit(found.values[~own], found.right[~own], sample_weight=weights[~own])
        said[own] = Forest.from_boosting(model).scores(found.values[own])
    return said


def threshold_for(
    said: NDArray[np.float64], found: Rows, weights: NDArray[np.float64], precision: float
) -> tuple[float, float]:
    """The least threshold with a precision if half are wrong, and the share of right ones kept."""
    order = np.argsort(-said, kind="stable")
    right = np.cumsum(np.where(found.right, weights, 0.0)[order])
    share = right / np.cumsum(weights[order])
    last = int(np.flatnonzero(share >= precision).max(initial=0))
    return float(said[order][last]), float(right[last] / right[-1])


def trained(found: Rows, names: tuple[str, ...], seed: int) -> tuple[QualityModel, dict[str, Any]]:
    """The model of what breaks no rule, and what cross-validation says of it."""
    weights = weights_of(found)[found.broken_rules == ""]  # half are wrong before any rule
    found = found.part(found.broken_rules == "")
    odds = cross_validated(found, weights, names, seed)
    slope, offset = fit_logistic(odds, found.right.astype(np.float64), weights)
    fitted = slope * odds + offset
    whole = boosted(names, seed).fit(found.values, found.right, sample_weight=weights)
    model = QualityModel(names, Forest.from_boosting(whole), slope, offset)
    said = sigmoid(fitted)
    threshold, recall = threshold_for(said, found, weights, PRECISION)
    figures = {
        "area": area(found.right, said), "calibration": calibration(found.right, said),
        "threshold": threshold, "recall": 100 * recall,
    }  # fmt: skip
    return model, figures


def ship(name: str, model: QualityModel, found: Rows, figures: dict[str, Any], **run: Any) -> None:
    """Write a model and its card."""
    WEIGHTS.mkdir(exist_ok=True)
    model.save(WEIGHTS / f"{name}.npz")
    card = CARD.format(
        name=name, trees=len(model.forest.roots), count=len(model.names),
        measures=", ".join(model.names), rows=len(found.label),
        families=", ".join(sorted(set(found.family.tolist()))), precision=PRECISION, **figures,
        **run,
    )  # fmt: skip
    (WEIGHTS / f"{name}.md").write_text(card, "utf-8")
    print(card)


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=10, help="page pairs of a pair of languages")
    parser.add_argument("--lang-pairs", type=int, default=6, help="of a site")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder to keep what was measured in")
    parser.add_argument("--encoder", action="store_true", help="train quality_encoder")
    options = parser.parse_args()
    run = {"most": options.most, "lang_pairs": options.lang_pairs, "seed": options.seed}
    encoder = load_encoder("") if options.encoder else None
    found = rows(TRAINING, **run, cache=options.cache, encoder=encoder)
    name, names = ("quality_encoder", likeness.NAMES) if encoder else ("quality", NAMES)
    model, figures = trained(found, names, options.seed)
    ship(name, model, found, figures, more=" --encoder" if encoder else "", **run)


if __name__ == "__main__":
    main()
