"""Words that mean the same in different languages: a lexicon small enough to ship.

Every word is mapped to at most three *concepts*, which are English word stems: `accommodation`,
`zakwaterowanie` and `ubytovani` share one.  Word pairs are learned by IBM Model 1 from short
phrases (message catalogues, dictionaries) and from the slugs of parallel URLs.  A word that is not
in the table is looked up by its first letters, which is a poor man's stemmer for any language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from anyascii import anyascii

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Concepts",
    "Phrase",
    "fingerprint",
    "learn_concepts",
    "slug_letters",
    "slug_words",
    "spellings",
    "stem",
]

PREFIX = 5
"""letters by which a word that is not in the table is looked up"""
SENSES = 3
"""concepts per word, at most"""
_MIN_MEANS, _MIN_SAID = 0.05, 0.005  # t(English | word) and t(word | English)
_ITERATIONS = 4
_WORD = re.compile(r"[a-z]+")
_FOREIGN, _NO_LETTER = re.compile(r"[^\x00-\x7f]"), re.compile(r"[^A-Za-z0-9]")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


class Phrase(NamedTuple):
    """A phrase and its English translation, and how much it counts."""

    lang: str
    english: str
    other: str
    weight: float = 1.0


def slug_words(text: str) -> list[str]:
    """Words as they are written in slugs.

    >>> slug_words("Über uns (Größe)"), slug_words("О нас")
    (['uber', 'uns', 'grosse'], ['o', 'nas'])
    """
    return _WORD.findall(slug_letters(text))


def slug_letters(text: str) -> str:
    """Text in the letters that slugs are made of: Latin ones, without case and accents.

    Sites write Cyrillic or Greek slugs in either script, so that both come to the same.

    What is no letter becomes a hyphen, and none becomes a `/` or a `?`, which part a URL.

    >>> slug_letters("Łódź"), slug_letters("Новости"), slug_letters("新闻"), slug_letters("a？b")
    ('lodz', 'novosti', 'xinwen', 'a-b')
    """
    return (text if text.isascii() else _FOREIGN.sub(_spelled, text)).lower()


def _spelled(found: re.Match[str]) -> str:
    letters = _NO_LETTER.sub("", anyascii(found[0]))
    return letters if letters or unicodedata.category(found[0])[0] in "LM" else "-"


def stem(word: str) -> str:
    """An English word without its plural ending: what concepts are called.

    >>> stem("services"), stem("companies"), stem("glass"), stem("us")
    ('service', 'company', 'glass', 'us')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "siu" else word


def fingerprint(word: bytes) -> int:
    """A number of 32 bits that stands for a word (FNV-1a, its halves folded together).

    >>> fingerprint(b"hello") == 0xA430D84680AABD0B >> 32 ^ 0x80AABD0B
    True
    """
    value = 0xCBF29CE484222325
    for byte in word:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value >> 32 ^ value & 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """The lexicon: fingerprints in order, and for each its concepts and how sure they are."""

    keys: NDArray[np.uint32]
    ids: NDArray[np.uint16]
    scores: NDArray[np.uint8]

    def senses(self, word: bytes) -> dict[int, int]:
        """Concepts of a word with their scores (0 to 255); by its first letters if need be."""
        place = self._place(word)
        if place < 0 and (start := _start(word.decode("utf-8", "replace"))):
            place = self._place(start.encode())
        if place < 0:
            return {}
        found = zip(self.ids[place].tolist(), self.scores[place].tolist(), strict=True)
        return {concept: score for concept, score in found if score}

    def _place(self, key: bytes) -> int:
        """Where a word is, or -1; a row whose first score is nothing says nothing."""
        number = fingerprint(key)
        place = int(np.searchsorted(self.keys, number))
        is_there = place < len(self.keys) and self.keys[place] == number
        return place if is_there and self.scores[place, 0] else -1

    def similarity(self, left: bytes, right: bytes) -> float:
        """From 0 to 1: the strongest concept two words share."""
        one, other = self.senses(left), self.senses(right)
        return max((min(one[c], other[c]) for c in one.keys() & other.keys()), default=0) / 255


def _start(word: str) -> str:
    """What a longer word is looked up by: its first letters and a star."""
    return word[:PREFIX] + "*" if len(word) > PREFIX else ""


def learn_concepts(
    phrases: Iterable[Phrase], used: Mapping[str, float], *, words: int = 600_000
) -> Concepts:
    """The lexicon of some phrases.

    `used` says how often English words occur in URLs: concepts are what is used, and where there
    are more words than fit, those of the most used concepts are kept.
    """
    by_lang: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    forms = set(used)
    concepts: Counter[str] = Counter()
    for word, count in used.items():
        concepts[stem(word)] += count  # type: ignore[assignment]
    for phrase in phrases:
        english = " ".join(dict.fromkeys(stem(word) for word in slug_words(phrase.english)))
        for other in spellings(phrase.other):
            by_lang[phrase.lang][english, other] += phrase.weight  # type: ignore[assignment]
    names = [name for name, _ in concepts.most_common(65_535)]
    number = {name: place for place, name in enumerate(names)}
    senses: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for lang in sorted(by_lang):
        for english, other, score in word_pairs(by_lang[lang]):
            if english in number:
                senses[other][number[english]] += score  # type: ignore[assignment]
    for form in sorted(forms):
        if stem(form) in number:  # an English word means itself before anything else
            senses[form][number[stem(form)]] += 1 + max(senses[form].values(), default=0)
    return _table(senses, words)


def spellings(text: str) -> set[str]:
    """A phrase as slugs spell it: accents gone, or umlauts as two letters."""
    lower = text.lower()
    return {" ".join(slug_words(lower)), " ".join(slug_words(lower.translate(_UMLAUTS)))}


def word_pairs(phrases: Mapping[tuple[str, str], float]) -> Iterator[tuple[str, str, float]]:
    """Pairs of words by IBM Model 1 in both directions: English, other, from 0 to 1."""
    rows = [(one.split(), other.split(), n) for (one, other), n in sorted(phrases.items())]
    english = _numbered(word for row in rows for word in row[0])
    others = _numbered(word for row in rows for word in row[1])
    links = [
        (english[e], others[f], row, n)
        for row, (left, right, n) in enumerate(rows)
        for e in left
        for f in right
    ]
    if not links:
        return
    table = np.array(links, np.float64)
    e, f, row = (table[:, column].astype(np.int64) for column in range(3))
    pair, index = np.unique(e * len(others) + f, return_inverse=True)
    one = _ibm1(index, len(pair), pair // len(others), _cell(row, f, len(others)), table[:, 3])
    other = _ibm1(index, len(pair), pair % len(others), _cell(row, e, len(english)), table[:, 3])
    # A dictionary has many words for one: what a word means counts, not how else that is said.
    score = np.sqrt(other)
    e_words, f_words = list(english), list(others)
    for place in np.flatnonzero((other >= _MIN_MEANS) & (one >= _MIN_SAID)).tolist():
        code = int(pair[place])
        yield e_words[code // len(others)], f_words[code % len(others)], float(score[place])


def _numbered(words: Iterable[str]) -> dict[str, int]:
    return {word: place for place, word in enumerate(dict.fromkeys(words))}


def _cell(row: NDArray[np.int64], word: NDArray[np.int64], words: int) -> NDArray[np.int64]:
    """A number for each (phrase, word) that a word of the other side may be aligned to."""
    cells: NDArray[np.int64] = np.unique(row * words + word, return_inverse=True)[1]
    return cells


def _ibm1(
    index: NDArray[np.int64], pairs: int, given: NDArray[np.int64], cell: NDArray[np.int64],
    count: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """t(other | given) for each pair of words, by EM."""
    probability = np.full(pairs, 1.0)
    for _ in range(_ITERATIONS):
        share = probability[index]
        share = share / np.bincount(cell, share)[cell] * count
        expected = np.bincount(index, share, pairs)
        # Words seen once prove little: half a count is kept back.
        probability = expected / (np.bincount(given, expected)[given] + 0.5)
    return probability


def _table(senses: Mapping[str, Counter[int]], words: int) -> Concepts:
    known = sorted(senses, key=lambda word: (min(senses[word]), word))[:words]
    prefixes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for word in known:
        if start := _start(word):
            prefixes[start].update(senses[word])
    rows: dict[int, list[tuple[int, int]]] = {}
    for word, found in [*prefixes.items(), *((word, senses[word]) for word in known)]:
        best = found.most_common(SENSES)
        whole = max(1.0, float(sum(found.values()))) if word.endswith("*") else max(1.0, best[0][1])
        rows[fingerprint(word.encode())] = [
            (concept, round(255 * min(1.0, score / whole))) for concept, score in best
        ]
    keys = np.array(sorted(rows), np.uint32)
    ids, scores = np.zeros((len(keys), SENSES), np.uint16), np.zeros((len(keys), SENSES), np.uint8)
    for place, key in enumerate(keys.tolist()):
        for sense, (concept, score) in enumerate(rows[key]):
            ids[place, sense], scores[place, sense] = concept, score
    return Concepts(keys, ids, scores)
