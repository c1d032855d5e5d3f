"""Clauses of sentences that are too long: for a corpus, or for an aligner."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from diptych.text.lengths import MAX_WEIGHT, letter_sums, text_length

# Boundaries of clauses, the strongest first.  Thai, Lao and Khmer have blanks between clauses.
_BOUNDARIES = (
    re.compile(r"(?<![;:.!?…])[;:.!?…]+\s+|[。！？；：؛۔؟।॥።፤፧။។៕៖།༎]\s*"),
    re.compile(r"[,،]\s+|[、，፣၊]\s*|\s[–—-]\s+|(?<=[\u0e00-\u0eff\u1780-\u17ff])\s+"),
    re.compile(r"\s+"),
)
CLAUSE_LEVELS = 2  # boundaries of clauses in `_BOUNDARIES`; those of words follow


def clause_spans(text: str, level: int) -> list[tuple[int, int]]:
    """Start and end of the clauses of a text, without blanks around them.

    Level 0 are semicolons, colons and full stops, level 1 also commas, dashes and blanks of Thai.

    >>> text = "one; two, three"
    >>> [[text[start:end] for start, end in clause_spans(text, level)] for level in (0, 1)]
    [['one;', 'two, three'], ['one;', 'two,', 'three']]
    """
    places = {found.end() for cut in _BOUNDARIES[: level + 1] for found in cut.finditer(text)}
    spans = []
    for start, end in pairwise([0, *sorted(places - {0, len(text)}), len(text)]):
        piece = text[start:end]
        if piece.strip():
            start += len(piece) - len(piece.lstrip())
            spans.append((start, start + len(piece.strip())))
    return spans


def cut_long(sentence: str, limit: int) -> list[str]:
    """Cut a sentence of more letters than a limit at the strongest boundary before the limit.

    >>> cut_long("one, two three", 10)
    ['one, two', 'three']
    >>> cut_long("one, two", 7)
    ['one,', 'two']
    """
    if MAX_WEIGHT * len(sentence) <= limit or text_length(sentence) <= limit:
        return [sentence]
    sums = letter_sums(sentence)
    ends = [0]
    while sums[-1] - sums[ends[-1]] > limit:
        ends.append(_next_end(sentence, ends[-1], sums, limit))
    parts = (sentence[start:end].strip() for start, end in pairwise([*ends, len(sentence)]))
    return [part for part in parts if part]


def _next_end(sentence: str, start: int, sums: list[float], limit: int) -> int:
    """The last of the strongest boundaries in the second half of what the limit allows."""
    last = max(bisect_right(sums, sums[start] + limit) - 1, start + 1)
    half = bisect_right(sums, sums[start] + limit / 2)
    for boundary in _BOUNDARIES:
        ends = [found.end() for found in boundary.finditer(sentence, start + 1, last)]
        if ends and ends[-1] > half:
            return ends[-1]
    return last
