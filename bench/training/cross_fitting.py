"""Training of the URL pair model together with its words and languages, by cross-fitting.

The features of each half of the domains come from the words and languages learned on the other
half: judged by the domains it was learned from, a lexicon would look better than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.learn.url.concepts import Concepts
from diptych.learn.url.data import LabelledPair, fold_of
from diptych.learn.url.pair import ALL_NAMES, UrlPair
from diptych.learn.url.pair_features import Features
from diptych.learn.url.pair_train import Examples, examples, feature_rows, fit_forest
from diptych.protocols import UrlLanguageModel

FOLDS = 2
_FOLD_SEED = 104_729  # other than any split's, or a fold could be empty


class Knowledge(NamedTuple):
    """The models behind the features: meanings of words and languages of URLs."""

    concepts: Concepts
    languages: UrlLanguageModel


Learn = Callable[[Callable[[str], bool]], Knowledge]
"""learns from the domains for which the given function is true"""


def train(
    rows: Iterable[LabelledPair], learn: Learn, *, seed: int = 0, iterations: int = 300
) -> UrlPair:
    """A model trained on parallel URLs, and the words and languages learned from all domains."""
    given = examples(rows, seed=seed)
    table = _cross_fitted(given, learn)
    known = learn(lambda domain: True)
    forest = fit_forest(table, given, seed=seed, iterations=iterations)
    return UrlPair(Features(known.concepts), forest, known.languages)


def _cross_fitted(given: Examples, learn: Learn) -> NDArray[np.float32]:
    """The features of all examples, each by what was learned from the other domains."""
    folds = np.array([_fold(domain) for domain in given.domains])
    table = np.zeros((len(folds), len(ALL_NAMES)), np.float32)
    for fold in range(FOLDS):
        known = learn(lambda domain, fold=fold: _fold(domain) != fold)  # type: ignore[misc]
        places = np.flatnonzero(folds == fold)
        table[places] = feature_rows(
            Features(known.concepts),
            known.languages,
            [given.lefts[place] for place in places],
            [given.rights[place] for place in places],
        )
    return table


def _fold(domain: str) -> int:
    return int(fold_of(domain, _FOLD_SEED) * FOLDS)
