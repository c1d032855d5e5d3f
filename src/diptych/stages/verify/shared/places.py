"""The share of words and numbers that are at corresponding places on two pages.

Any two pages of a site share many words.  In a translation, these words are in corresponding
sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from diptych.types import SegmentPair

# Numbers, and words in alphabets in which names are mostly spelled alike.  Words in ideographs are
# left out, because they cannot be separated without a dictionary.
_WORD = re.compile("[0-9]+|[a-z\u00df-\u00f6\u00f8-\u024f]{3,}|[\u0370-\u052f]{3,}")


class SamePlaces(NamedTuple):
    """The share and number of words that are at corresponding places on two pages."""

    share: float = 0.5
    """share of numbers and common words at corresponding places; shrunk towards 0.5 if there are
    few"""
    words: int = 0


def same_places(segments: Sequence[SegmentPair]) -> SamePlaces:
    """Measure how many numbers and common words occur in both texts of the same segment pair.

    Most words differ between languages, so words are expected at corresponding places only if they
    occur on both pages.  Numbers are always expected there.
    """
    left = [frozenset(_WORD.findall(segment.left.lower())) for segment in segments]
    right = [frozenset(_WORD.findall(segment.right.lower())) for segment in segments]
    ours, theirs = frozenset[str]().union(*left), frozenset[str]().union(*right)
    expected = (ours & theirs) | {word for word in ours ^ theirs if _is_number(word)}
    here = there = same = 0
    for one, other in zip(left, right, strict=True):
        here += len(one & expected)
        there += len(other & expected)
        same += len(one & other)
    return SamePlaces((same + 1) / ((here + there) / 2 + 2), same)


def _is_number(word: str) -> bool:
    """True if a word is a number with several digits; single digits are often item numbers."""
    return len(word) > 1 and word[0].isdigit()
