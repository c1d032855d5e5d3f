"""A lexicon of concepts for URL slugs, which links words with the same meaning across languages.

Every word has at most three *concepts*, which are English word stems: `accommodation`,
`zakwaterowanie` and `ubytovani` share a concept.  A word that is not in the table is looked up by
its first letters, as a simple form of stemming.  `bench/training/concepts.py` learns the lexicon.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray

PREFIX = 5
"""length of the prefix by which a word that is not in the table is looked up"""
SENSES = 3
"""maximum number of concepts per word"""
_FOREIGN, _NO_LETTER = re.compile(r"[^\x00-\x7f]"), re.compile(r"[^A-Za-z0-9]")


def slug_letters(text: str) -> str:
    """Transliterate a text to lower-case Latin letters without accents, as in slugs.

    In slugs, some sites keep Cyrillic or Greek letters, and others transliterate them; the result
    is usually the same for both.  Symbols that cannot be transliterated become hyphens, so no new
    `/` or `?` appears.

    >>> slug_letters("Łódź"), slug_letters("Новости"), slug_letters("新闻"), slug_letters("a？b")
    ('lodz', 'novosti', 'xinwen', 'a-b')
    """
    return (text if text.isascii() else _FOREIGN.sub(_spelled, text)).lower()


def _spelled(found: re.Match[str]) -> str:
    letters = _NO_LETTER.sub("", anyascii(found[0]))
    return letters if letters or unicodedata.category(found[0])[0] in "LM" else "-"


def fingerprint(word: bytes) -> int:
    """A 32-bit hash of a word (64-bit FNV-1a with its halves combined).

    >>> fingerprint(b"hello") == 0xA430D84680AABD0B >> 32 ^ 0x80AABD0B
    True
    """
    value = 0xCBF29CE484222325
    for byte in word:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value >> 32 ^ value & 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """The lexicon: sorted fingerprints of words, and the concepts and scores of each word."""

    keys: NDArray[np.uint32]
    ids: NDArray[np.uint16]
    scores: NDArray[np.uint8]

    def senses(self, word: bytes) -> dict[int, int]:
        """Map the concepts of a word to their scores (0 to 255).

        An unknown word is looked up by its first letters.
        """
        place = self._place(word)
        if place < 0 and (start := prefix_key(word.decode("utf-8", "replace"))):
            place = self._place(start.encode())
        if place < 0:
            return {}
        found = zip(self.ids[place].tolist(), self.scores[place].tolist(), strict=True)
        return {concept: score for concept, score in found if score}

    def _place(self, key: bytes) -> int:
        """The row of a word or prefix key; -1 if it has no row or the row's first score is 0."""
        number = fingerprint(key)
        place = int(np.searchsorted(self.keys, number))
        is_there = place < len(self.keys) and self.keys[place] == number
        return place if is_there and self.scores[place, 0] else -1

    def similarity(self, left: bytes, right: bytes) -> float:
        """The similarity of two words, from 0 to 1, based on the best concept that they share."""
        one, other = self.senses(left), self.senses(right)
        return max((min(one[c], other[c]) for c in one.keys() & other.keys()), default=0) / 255


def prefix_key(word: str) -> str:
    """The key for looking up a long word by its first letters; empty for a short word."""
    return word[:PREFIX] + "*" if len(word) > PREFIX else ""
