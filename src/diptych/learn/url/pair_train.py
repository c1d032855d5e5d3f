"""Train the URL pair model: examples, features and boosted trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.learn.libraries import library
from diptych.learn.trees import Forest
from diptych.learn.url.data import LabelledPair
from diptych.learn.url.negatives import Negatives
from diptych.learn.url.pair import ALL_NAMES, UrlPair, all_features, load
from diptych.learn.url.pair_features import Features
from diptych.protocols import UrlLanguageModel

_BATCH = 8192  # pairs per batch of features
_EACH, _FOR_ALL = 2, 1.5  # two negatives per method, weighted like the three used in tests


class Examples(NamedTuple):
    """Pairs of URLs with their labels (parallel or not), weights and domains."""

    lefts: list[str]
    rights: list[str]
    parallel: NDArray[np.bool_]
    weights: NDArray[np.float64]
    domains: list[str]


def examples(rows: Iterable[LabelledPair], *, seed: int = 0) -> Examples:
    """Create positive examples and the paper's mix of negatives, weighted by domain.

    The weight of a domain is the square root of its number of pairs; otherwise a few large domains
    would dominate.
    """
    pairs = list(rows)
    share = {domain: 1 / math.sqrt(n) for domain, n in Counter(row.domain for row in pairs).items()}
    negatives = [row for row, _ in Negatives(each=_EACH, seed=seed).make(pairs)]
    if not negatives:
        raise ConfigError(
            "training requires parallel URLs for at least two documents from the same domain"
        )
    found = pairs + negatives
    # An uncertain pair is an uncertain positive, but a good source of negatives.
    weights = [row.weight for row in pairs] + [_FOR_ALL] * len(negatives)
    return Examples(
        [row.url_a for row in found],
        [row.url_b for row in found],
        np.arange(len(found)) < len(pairs),
        np.array([weight * share[row.domain] for row, weight in zip(found, weights, strict=True)]),
        [row.domain for row in found],
    )


def train(rows: Iterable[LabelledPair], *, seed: int = 0, iterations: int = 300) -> UrlPair:
    """Train a model on parallel URLs, using the shipped concept lexicon and URL language model.

    The same rows and seed give the same model.
    """
    given = examples(rows, seed=seed)
    shipped = load()
    table = feature_rows(shipped.features, shipped.languages, given.lefts, given.rights)
    return replace(shipped, forest=fit_forest(table, given, seed=seed, iterations=iterations))


def feature_rows(
    features: Features, languages: UrlLanguageModel, lefts: Sequence[str], rights: Sequence[str]
) -> NDArray[np.float32]:
    """Compute `all_features` for any number of pairs, in batches."""
    table = np.zeros((len(lefts), len(ALL_NAMES)), np.float32)
    for start in range(0, len(lefts), _BATCH):
        part = slice(start, start + _BATCH)
        table[part] = all_features(features, languages, lefts[part], rights[part])
    return table


def fit_forest(
    table: NDArray[np.float32], given: Examples, *, seed: int, iterations: int
) -> Forest:
    """Train boosted trees to classify URL pairs as parallel or not.

    `table` has a row of features for each pair; `given` holds the pairs with their labels and
    weights.
    """
    ensemble = library("sklearn.ensemble", "training")
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=iterations,
        learning_rate=0.08,
        max_leaf_nodes=31,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    model.fit(table, given.parallel, sample_weight=given.weights)
    return Forest.from_boosting(model)
