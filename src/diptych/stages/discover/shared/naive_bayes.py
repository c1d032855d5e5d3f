"""A naive Bayes model over link neighbourhoods, trained during the crawl.

Training targets are shares from 0 to 1 instead of two classes: a page that links to ten sites,
three of which are bilingual, has the target 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.learn.logistic import fit_logistic, sigmoid
from diptych.page.neighbourhood import BUCKETS

Floats = NDArray[np.float64]

_MIN_EXAMPLES = 30  # fewer examples give no weights
_MIN_COUNT = 3  # rarer words get no weight
_RIDGE = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class NaiveBayes:
    """A weight for each word, and a logistic curve that maps sums of weights to probabilities."""

    weights: Floats
    slope: float
    offset: float

    def probabilities(self, rows: Sequence[Sequence[int]]) -> Floats:
        """The expected target share for each row of word IDs."""
        return sigmoid(self.slope * _sums(self.weights, rows) + self.offset)


def fit(rows: Sequence[Sequence[int]], shares: Sequence[float]) -> NaiveBayes:
    """Train a model on rows of word IDs and their target shares.

    If there are too few examples, the model always predicts their mean share.

    Words are not independent, so the sum of their weights is overconfident.  The probabilities must
    be comparable with those of another model.  Therefore each half of the examples is predicted
    from the other half, and a logistic curve is fitted to these predictions (Platt 1999).
    """
    y = np.asarray(shares, dtype=np.float64)
    usual = (float(y.sum()) + 0.5) / (len(y) + 1.0)
    offset = math.log(usual / (1.0 - usual))
    if len(y) < _MIN_EXAMPLES or not 0.0 < y.mean() < 1.0:
        return NaiveBayes(np.zeros(BUCKETS), 0.0, offset)
    half = np.random.default_rng(len(y)).permutation(len(y)) % 2 == 0
    predicted = np.empty(len(y))
    for part in (half, ~half):
        others = [row for row, is_other in zip(rows, ~part, strict=True) if is_other]
        own = [row for row, is_own in zip(rows, part, strict=True) if is_own]
        predicted[part] = _sums(_weights(others, y[~part]), own)
    slope, offset = fit_logistic(predicted, y, ridge=_RIDGE)
    # A negative slope means that the weights are noise: they predict the opposite in the other
    # half.
    return NaiveBayes(_weights(rows, y), max(slope, 0.0), offset)


def _weights(rows: Sequence[Sequence[int]], shares: Floats) -> Floats:
    """For each word, the log ratio of its frequency in good examples to that in other examples."""
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    words = np.fromiter((word for row in rows for word in row), dtype=np.int64)
    good = np.bincount(words, weights=np.repeat(shares, lengths), minlength=BUCKETS)
    seen = np.bincount(words, minlength=BUCKETS).astype(np.float64)
    all_good, everything = float(shares.sum()), float(len(rows))
    usual = min(max(all_good / max(everything, 1.0), 1e-3), 1 - 1e-3)
    # Smoothing: rare words are mostly as good as any, so two average examples are added.
    of_good = (good + 2 * usual) / (all_good + 2 * usual)
    of_others = (seen - good + 2 * (1 - usual)) / (everything - all_good + 2 * (1 - usual))
    weights: Floats = np.where(seen >= _MIN_COUNT, np.log(of_good / of_others), 0.0)
    return weights


def _sums(weights: Floats, rows: Sequence[Sequence[int]]) -> Floats:
    """The sum of the word weights of each row."""
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    words = np.fromiter((word for row in rows for word in row), dtype=np.int64)
    owner = np.repeat(np.arange(len(rows)), lengths)
    sums = np.bincount(owner, weights=weights[words], minlength=len(rows))
    return sums.astype(np.float64)
