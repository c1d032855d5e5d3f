"""The share of words and numbers that are at corresponding places on two pages.

Any two pages of a site share many words.  In a translation, these words are in corresponding
sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from diptych.kernels import native
from diptych.kernels.same_words import SameWords, find_same_words
from diptych.types import SegmentPair

# Numbers, and words in alphabets in which names are mostly spelled alike.  Words in ideographs are
# left out, because they cannot be separated without a dictionary.
_WORD = re.compile("[0-9]+|[a-z\u00df-\u00f6\u00f8-\u024f]{3,}|[\u0370-\u052f]{3,}")
_NO_WORDS: frozenset[str] = frozenset()


class SamePlaces(NamedTuple):
    """The share and number of words that are at corresponding places on two pages."""

    share: float = 0.5
    """share of numbers and common words at corresponding places; shrunk towards 0.5 if there are
    few"""
    words: int = 0


def same_places(segments: Sequence[SegmentPair]) -> SamePlaces:
    """Measure how many numbers and common words occur in both texts of the same segment pair.

    Most words differ between languages, so words are expected at corresponding places only if they
    occur on both pages.  Numbers are always expected there, except single digits, which are often
    item numbers.
    """
    left, right = [seg.left for seg in segments], [seg.right for seg in segments]
    here, there, same = (count_reference if native() is None else find_same_words)(left, right)
    return SamePlaces((same + 1) / ((here + there) / 2 + 2), same)


def count_reference(lefts: Sequence[str], rights: Sequence[str]) -> SameWords:
    """Count the words of texts in Python, as the reference implementation and the fallback."""
    left, right = [_find_words(text) for text in lefts], [_find_words(text) for text in rights]
    ours, theirs = _NO_WORDS.union(*left), _NO_WORDS.union(*right)
    expected = ours & theirs
    expected |= {word for word in ours ^ theirs if word[0] <= "9" and len(word) > 1}
    here = there = same = 0
    for one, other in zip(left, right, strict=True):
        here += len(one & expected)
        there += len(other & expected)
        same += len(one & other)
    return SameWords(here, there, same)


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
