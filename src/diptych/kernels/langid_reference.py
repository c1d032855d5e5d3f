"""Language identification in Python: reference implementation and fallback for `langid.c`."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.kernels.langid import Model


def label_shares(model: Model, text: bytes) -> NDArray[np.float64]:
    """The probability of each label for a text.

    The log score of a label is its prior plus the sum of log counts times log probabilities; it is
    divided by the square root of the text's length.
    """
    seen = feature_counts(model, text)
    logs = np.zeros(len(model.priors))
    if seen:  # without features all labels are equally probable
        logs += model.priors
    for feature, count in seen.items():
        logs += math.log1p(count) * model.table[feature].astype(np.float64)
    powers = np.exp((logs - logs.max()) / math.sqrt(len(text) or 1))
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares


def feature_counts(model: Model, text: bytes) -> Counter[int]:
    """The number of occurrences of each feature in a text."""
    automaton, seen = model.automaton, Counter[int]()
    row = automaton.start
    for byte in text:
        block = int(automaton.blocks[row * 16 + byte // 16])
        row, feature = automaton.moves[block * 16 + byte % 16].tolist()
        if feature >= 0:
            seen[feature] += 1
    return seen
