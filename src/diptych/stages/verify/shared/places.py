"""The share of words and numbers that are at corresponding places on two pages.

Any two pages of a site share many words.  In a translation, these words are in corresponding
sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from diptych.text.caches import TextCache
from diptych.types import SegmentPair

# Numbers, and words in alphabets in which names are mostly spelled alike.  Words in ideographs are
# left out, because they cannot be separated without a dictionary.
_WORD = re.compile("[0-9]+|[a-z\u00df-\u00f6\u00f8-\u024f]{3,}|[\u0370-\u052f]{3,}")


_NO_WORDS: frozenset[str] = frozenset()
_SET = 300  # bytes of a small set; each of its words has some 60, and their places, with the text


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
    left = [_words[segment.left] for segment in segments]
    right = [_words[segment.right] for segment in segments]
    ours, theirs = _NO_WORDS.union(*left), _NO_WORDS.union(*right)
    expected = ours & theirs
    expected |= {word for word in ours ^ theirs if word[0] <= "9" and len(word) > 1}
    here = there = same = 0
    for one, other in zip(left, right, strict=True):
        if one:
            here += len(one & expected)
            same += len(one & other)
        if other:
            there += len(other & expected)
    return SamePlaces((same + 1) / ((here + there) / 2 + 2), same)


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) or _NO_WORDS


# A site repeats most texts on many pages.
_words = TextCache(_find_words, 8_000_000, per_entry=_SET, per_character=12)
