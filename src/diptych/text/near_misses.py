"""Suggestions for a mistyped name: the known names that are most similar to it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_SIMILAR, _WORSE = 0.6, 0.15  # similarity of a name, and how much less it may have than the best


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that are similar to a mistyped name, the most similar first.

    >>> closest_names("--lang", ["--delay", "--langid", "--langs"])
    ['--langs', '--langid']
    """
    found = get_close_matches(name, sorted(known), 3, _SIMILAR)
    alike = [SequenceMatcher(None, other, name).ratio() for other in found]
    return [other for other, ratio in zip(found, alike, strict=True) if ratio > alike[0] - _WORSE]
