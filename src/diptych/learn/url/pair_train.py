"""Training of the URL pair model: examples, cross-fitted features, boosted trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.learn.trees import Forest
from diptych.learn.url.concepts import Concepts
from diptych.learn.url.data import LabelledPair, fold_of
from diptych.learn.url.negatives import Negatives
from diptych.learn.url.pair import ALL_NAMES, UrlPair, all_features, load
from diptych.learn.url.pair_features import Features
from diptych.protocols import UrlLanguageModel

FOLDS = 2
_FOLD_SEED = 104_729  # other than any split's, or a fold could be empty
_EACH, _FOR_ALL = 2, 1.5  # two negatives of each method stand for the three that are tested


class Knowledge(NamedTuple):
    """The models behind the features: meanings of words and languages of URLs."""

    concepts: Concepts
    languages: UrlLanguageModel


Learn = Callable[[Callable[[str], bool]], Knowledge]
"""learns from the domains for which the given function is true"""


class Examples(NamedTuple):
    """Pairs of URLs with their labels (parallel or not), weights and domains."""

    lefts: list[str]
    rights: list[str]
    parallel: NDArray[np.bool_]
    weights: NDArray[np.float64]
    domains: list[str]


def examples(rows: Iterable[LabelledPair], *, seed: int = 0) -> Examples:
    """Positives and the paper's mix of negatives; URLs of a domain share a weight.

    A domain counts by the root of its size, or the few large ones would be all that is learned.
    """
    pairs = list(rows)
    share = {domain: 1 / math.sqrt(n) for domain, n in Counter(row.domain for row in pairs).items()}
    found = [(row, True) for row in pairs]
    found += [(row, False) for row, _ in Negatives(each=_EACH, seed=seed).make(pairs)]
    # A doubtful pair is a doubtful positive, but as good a source of negatives as any.
    weights = [
        (row.weight if parallel else _FOR_ALL) * share[row.domain] for row, parallel in found
    ]
    return Examples(
        [row.url_a for row, _ in found],
        [row.url_b for row, _ in found],
        np.array([parallel for _, parallel in found], bool),
        np.array(weights),
        [row.domain for row, _ in found],
    )


def train(
    rows: Iterable[LabelledPair],
    *,
    seed: int = 0,
    learn: Learn | None = None,
    iterations: int = 300,
) -> UrlPair:
    """A model trained on parallel URLs; the same rows and seed give the same model.

    Words and languages are those of the shipped models unless `learn` learns them.  Then the
    features of each half of the domains come from what was learned on the other half: judged by
    what it was learned from, a lexicon would look better than it is.
    """
    given = examples(rows, seed=seed)
    if not given.parallel.any() or given.parallel.all():
        raise ConfigError("training needs parallel URLs of at least two documents of a domain")
    if learn is None:
        shipped = load()
        known = Knowledge(shipped.features.concepts, shipped.languages)
        table = _rows(known, given, np.ones(len(given.domains), bool))
    else:
        known, table = _cross_fitted(given, learn)
    forest = fit_forest(table, given.parallel, given.weights, seed=seed, iterations=iterations)
    return UrlPair(Features(known.concepts), forest, known.languages)


def _cross_fitted(given: Examples, learn: Learn) -> tuple[Knowledge, NDArray[np.float32]]:
    """The knowledge learned from all domains, and features by knowledge from the other domains."""
    folds = np.array([int(fold_of(domain, _FOLD_SEED) * FOLDS) for domain in given.domains])
    table: NDArray[np.float32] | None = None
    for fold in range(FOLDS):
        known = learn(lambda domain, fold=fold: int(fold_of(domain, _FOLD_SEED) * FOLDS) != fold)  # type: ignore[misc]
        here = folds == fold
        rows = _rows(known, given, here)
        table = np.zeros((len(folds), rows.shape[1]), np.float32) if table is None else table
        table[here] = rows
    assert table is not None
    return learn(lambda domain: True), table


def _rows(known: Knowledge, given: Examples, here: NDArray[np.bool_]) -> NDArray[np.float32]:
    places = np.flatnonzero(here).tolist()
    features = Features(known.concepts)
    parts = [
        all_features(
            features,
            known.languages,
            [given.lefts[place] for place in places[start : start + 8192]],
            [given.rights[place] for place in places[start : start + 8192]],
        )
        for start in range(0, len(places), 8192)
    ]
    return np.concatenate([np.zeros((0, len(ALL_NAMES)), np.float32), *parts])


def fit_forest(
    rows: NDArray[np.float32], parallel: NDArray[np.bool_], weights: NDArray[np.float64],
    *, seed: int, iterations: int,
) -> Forest:  # fmt: skip
    """Boosted trees that tell parallel pairs from others."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise ConfigError("training needs scikit-learn: pip install 'diptych[train]'") from error
    model = HistGradientBoostingClassifier(
        max_iter=iterations,
        learning_rate=0.08,
        max_leaf_nodes=31,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    model.fit(rows, parallel, sample_weight=weights)
    return Forest.from_boosting(model)
