"""Words of a segment that have no counterpart on the other side, in the order of the text.

A clause that only one side has is a long run of such words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class UnlinkedWords(NamedTuple):
    """The words without a counterpart on one side of each segment."""

    total: Floats
    share: Floats
    """share of all words"""
    known: Floats
    """number of these words that the lexicon knows"""
    known_share: Floats
    """smoothed share of the known words"""
    longest: Floats
    """length of the longest run"""
    longest_known: Floats
    """number of known words in the run that has most of them"""
    first: Floats
    """length of the run at the beginning"""
    last: Floats
    """length of the run at the end"""


def unlinked_words(
    segment: Ints, is_unlinked: NDArray[np.bool_], known: Floats, count: int
) -> UnlinkedWords:
    """Count the words without a counterpart in `count` segments.

    For each word, in order, `segment` is the index of its segment, and `known` the probability
    that the lexicon knows it.

    >>> found = unlinked_words(
    ...     np.array([0, 0, 0, 0, 1]), np.array([True, False, True, True, False]), np.ones(5), 2
    ... )
    >>> found.longest.tolist(), found.first.tolist(), found.last.tolist()
    ([2.0, 0.0], [1.0, 0.0], [2.0, 0.0])
    """
    words = np.bincount(segment, minlength=count).astype(np.float64)
    unlinked = np.bincount(segment, is_unlinked, count).astype(np.float64)
    all_known = np.bincount(segment, known, count)
    unlinked_known = np.bincount(segment, known * is_unlinked, count).astype(np.float64)
    starts = is_unlinked.copy()
    starts[1:] &= ~is_unlinked[:-1] | (segment[1:] != segment[:-1])
    run = np.cumsum(starts)[is_unlinked] - 1
    first_words = np.flatnonzero(starts)
    owner = segment[first_words]
    sizes = np.bincount(run, minlength=len(owner)).astype(np.float64)
    known_sizes = np.bincount(run, known[is_unlinked], len(owner)).astype(np.float64)
    begins = np.cumsum(words) - words
    at = first_words - begins[owner]  # place of each run in its segment
    is_last = at + sizes == words[owner]
    return UnlinkedWords(
        unlinked,
        unlinked / np.maximum(words, 1.0),
        unlinked_known,
        unlinked_known / (all_known + 1.0),
        _highest(owner, sizes, count),
        _highest(owner, known_sizes, count),
        _highest(owner[at == 0], sizes[at == 0], count),
        _highest(owner[is_last], sizes[is_last], count),
    )


def _highest(owner: Ints, values: Floats, count: int) -> Floats:
    """For each segment, the highest value of its runs; 0 if it has none."""
    found = np.zeros(count)
    np.maximum.at(found, owner, values)
    return found
