"""Thai, Lao, Khmer and Burmese phrases: these scripts put blanks between phrases, not words.

Thai and Lao have no full stop: a sentence ends at a blank, but not every blank ends one.  Khmer and
Burmese have one, but often go without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from diptych.text.lengths import text_length

_THAI_AND_LAO = (
    r"\u0e01-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ec4\u0ec8-\u0ece\u0edc-\u0edf"
)
_LETTERS = rf"{_THAI_AND_LAO}\u1000-\u103f\u1780-\u17d3"
HAS_PHRASES = re.compile(f"[{_LETTERS}]")
_HAS_NO_STOPS = re.compile(f"[{_THAI_AND_LAO}]")
# A blank between two letters of these scripts; not beside a number, a foreign word or a sign.
_BLANK = re.compile(rf"(?<=[{_LETTERS}])\s+(?=[{_LETTERS}])")
# Letters of the phrases beside a blank that ends a Thai sentence, and of a sentence that ends at
# the next blank: by the benchmark `splitter`, a compromise between Thai messages of one sentence,
# of which 90% stay whole, and of several, of which 51% get the right number of sentences.
_LONG_PHRASE = 30
_LONG_SENTENCE = 100
_LONG_WITH_STOPS = 300  # letters of a Khmer or Burmese sentence that lacks full stops


def cut_at_blanks(sentence: str) -> list[str]:
    """Cut a Thai or Lao text into sentences, and a Khmer or Burmese sentence that is too long.

    >>> cut_at_blanks("one two"), len(cut_at_blanks("ก" * 90 + " " + "ข" * 90))
    (['one two'], 2)
    """
    places = [found.end() for found in _BLANK.finditer(sentence)]
    if not places:
        return [sentence]
    ends = [0, *_cuts(sentence, [0, *places, len(sentence)]), len(sentence)]
    return [sentence[start:end] for start, end in pairwise(ends)]


def _cuts(sentence: str, places: list[int]) -> Iterator[int]:
    lengths = [text_length(sentence[start:end]) for start, end in pairwise(places)]
    has_no_stops = _HAS_NO_STOPS.search(sentence) is not None
    limit = _LONG_SENTENCE if has_no_stops else _LONG_WITH_STOPS
    total = 0.0
    for place, length, following in zip(places[1:], lengths, lengths[1:], strict=False):
        total += length + 1  # the blank
        is_between = has_no_stops and min(length, following) >= _LONG_PHRASE
        if is_between or total + following > limit:
            yield place
            total = 0.0
