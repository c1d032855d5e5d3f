"""The share of a page's words whose translation is on another page, according to a lexicon."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.cognates import stem

_MIN_PROBABILITY = 0.2  # minimum probability of a translation
_MIN_COUNT = 3.0  # minimum occurrences of a well-known word
_MAX_WORD_SHARE = 1 / 300  # maximum share of all words; more frequent words are on every page
_MIN_WORDS = 8  # minimum well-known words on both pages; with fewer the shares are unknown
_UNKNOWN_SHARE = 0.5

_Known = Mapping[str, frozenset[str]]


class TranslatedShares(NamedTuple):
    """The share of each page's words in the lexicon whose translation is on the other page."""

    forward: float = _UNKNOWN_SHARE
    backward: float = _UNKNOWN_SHARE
    is_known: bool = False


def translated_shares(
    left: Mapping[str, int], right: Mapping[str, int], lexicon: Lexicon | None
) -> TranslatedShares:
    """Compute the translated shares of two bags of stems; 0.5 if too few are in the lexicon."""
    if lexicon is None or not len(lexicon):
        return TranslatedShares()
    forward, backward = _tables(lexicon)
    shares = []
    for bag, other, known in ((left, right, forward), (right, left, backward)):
        words = bag.keys() & known.keys()
        if len(words) < _MIN_WORDS:
            return TranslatedShares()
        there = other.keys()
        found = len(words) - sum([there.isdisjoint(known[word]) for word in words])
        shares.append((found + 1) / (len(words) + 2))
    return TranslatedShares(shares[0], shares[1], is_known=True)


@lru_cache(maxsize=4)
def _tables(lexicon: Lexicon) -> tuple[_Known, _Known]:
    """Map stems to their likely translations, in both directions.

    Very frequent and very rare stems are left out.
    """
    return _known(lexicon), _known(lexicon.reversed())


def _known(lexicon: Lexicon) -> _Known:
    counts = lexicon.counts("left", unknown=_MIN_COUNT)
    most = max(float(counts.sum()) * _MAX_WORD_SHARE, 2 * _MIN_COUNT)
    is_known = (counts >= _MIN_COUNT) & (counts <= most)
    offsets, columns, values = lexicon.forward
    rows = np.repeat(np.arange(len(lexicon.left_words)), np.diff(offsets))
    kept = np.flatnonzero((values >= _MIN_PROBABILITY) & is_known[rows])
    found: dict[str, set[str]] = {}
    for row, column in zip(rows[kept].tolist(), columns[kept].tolist(), strict=True):
        word, other = lexicon.left_words[row], lexicon.right_words[column]
        if word != other:  # names and numbers are on both pages without a lexicon too
            found.setdefault(stem(word), set()).add(stem(other))
    return {word: frozenset(others) for word, others in found.items()}
