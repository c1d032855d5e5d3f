"""Words that look alike in two languages: names, numbers, loans, in whatever script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["LEAST", "MIN_LIKENESS", "MOST", "Cognate", "cognates", "folded", "stem"]

STEM = 5  # letters: most endings are behind them, and few words differ only there
LEAST = 4  # letters that cognates share from the beginning (Simard et al. 1992)
MIN_LIKENESS = 0.6
MOST = 40  # words of one text that one of the other is compared with


class Cognate(NamedTuple):
    """Places of two words in their lists, and how much they are alike: 1 is the same word."""

    left: int
    right: int
    likeness: float


def stem(word: str) -> str:
    """The beginning of a word, which stands for all its forms; numbers stay whole.

    >>> stem("Bergsteiger"), stem("1956789"), stem("山")
    ('Bergs', '1956789', '山')
    """
    return word if word[:1].isdigit() else word[:STEM]


@lru_cache(maxsize=1 << 17)
def folded(word: str) -> str:
    """In Latin letters without accents, as far as a script can be told letter by letter."""
    from anyascii import anyascii

    return anyascii(word).lower()


def cognates(left: Sequence[str], right: Sequence[str]) -> Iterator[Cognate]:
    """The pairs of words of two lists that look alike, once each.

    >>> list(cognates(["expedition", "1956"], ["1956", "expédition", "1957"]))
    [Cognate(left=0, right=1, likeness=1.0), Cognate(left=1, right=0, likeness=1.0)]
    >>> [round(found.likeness, 2) for found in cognates(["гималаи"], ["gimalaya"])]
    [0.8]
    """
    same: dict[str, list[int]] = {}
    begins: dict[str, list[tuple[int, str]]] = {}
    for index, word in enumerate(right):
        letters = folded(word)
        same.setdefault(letters, []).append(index)
        if len(letters) >= LEAST and not letters[0].isdigit():
            begins.setdefault(letters[:LEAST], []).append((index, letters))
    same.pop("", None)
    for index, word in enumerate(left):
        letters = folded(word)
        if letters in same:
            yield from (Cognate(index, other, 1.0) for other in same[letters][:MOST])
        for other, spelled in begins.get(letters[:LEAST], ())[:MOST]:
            likeness = _likeness(letters, spelled)
            if MIN_LIKENESS <= likeness < 1:
                yield Cognate(index, other, likeness)


def _likeness(left: str, right: str) -> float:
    """Share of the letters of both words in their common beginning; numbers are equal or not.

    >>> _likeness("expedition", "expeditions"), _likeness("1956", "1957"), _likeness("die", "dit")
    (0.9523809523809523, 0.0, 0.0)
    """
    if left == right:
        return 1.0
    if left[0].isdigit() or right[0].isdigit():
        return 0.0
    shared = next(
        (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return 2 * shared / (len(left) + len(right)) if shared >= LEAST else 0.0
