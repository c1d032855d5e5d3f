"""Cognates: similarly spelt words in two languages (names, numbers, loanwords), in any script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from diptych.text.caches import TextCache

STEM = 5  # letters: most endings come later, and few words differ only there
MIN_SHARED = 4  # letters in the common prefix of cognates (Simard et al. 1992)
MIN_SIMILARITY = 0.6
MAX_COMPARED = 40  # words of one text that a word of the other is compared with


class Cognate(NamedTuple):
    """The indices of two similarly spelt words in their lists, and their similarity (at most 1)."""

    left: int
    right: int
    similarity: float


def stem(word: str) -> str:
    """Stem a word by truncating it to its first letters; numbers are not truncated.

    >>> stem("Bergsteiger"), stem("1956789"), stem("山")
    ('Bergs', '1956789', '山')
    """
    return word if word[:1].isdigit() else word[:STEM]


def _fold(word: str) -> str:
    from anyascii import anyascii

    return anyascii(word).lower()


_folded = TextCache(_fold, 32_000_000, per_character=4)


def folded(word: str) -> str:
    """Transliterate a word to lower-case Latin letters without accents."""
    return _folded[word]


def cognates(left: Sequence[str], right: Sequence[str]) -> Iterator[Cognate]:
    """Yield the pairs of similarly spelt words from two lists, each pair once.

    >>> list(cognates(["expedition", "1956"], ["1956", "expédition", "1957"]))
    [Cognate(left=0, right=1, similarity=1.0), Cognate(left=1, right=0, similarity=1.0)]
    >>> [round(found.similarity, 2) for found in cognates(["гималаи"], ["gimalaya"])]
    [0.8]
    """
    same: dict[str, list[int]] = {}
    begins: dict[str, list[tuple[int, str]]] = {}
    for index, word in enumerate(right):
        letters = folded(word)
        same.setdefault(letters, []).append(index)
        if len(letters) >= MIN_SHARED and not letters[0].isdigit():
            begins.setdefault(letters[:MIN_SHARED], []).append((index, letters))
    same.pop("", None)
    for index, word in enumerate(left):
        letters = folded(word)
        if letters in same:
            yield from (Cognate(index, other, 1.0) for other in same[letters][:MAX_COMPARED])
        for other, spelled in begins.get(letters[:MIN_SHARED], ())[:MAX_COMPARED]:
            similarity = _similarity(letters, spelled)
            if MIN_SIMILARITY <= similarity < 1:
                yield Cognate(index, other, similarity)


def _similarity(left: str, right: str) -> float:
    """The share of the letters of two words that are in their common prefix.

    The share is 0 if the prefix is short.  For numbers, it is 1 if they are equal and 0 otherwise.

    >>> _similarity("expedition", "expeditions"), _similarity("die", "dit")
    (0.9523809523809523, 0.0)
    >>> _similarity("1956", "1957")
    0.0
    """
    if left == right:
        return 1.0
    if left[0].isdigit() or right[0].isdigit():
        return 0.0
    shared = shared_prefix(left, right)
    return 2 * shared / (len(left) + len(right)) if shared >= MIN_SHARED else 0.0


def shared_prefix(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the common prefix of two sequences.

    >>> shared_prefix("expedition", "expert")
    4
    """
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
