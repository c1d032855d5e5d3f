"""Training of the lexicon of concepts, from phrases and from the slugs of parallel URLs.

Word pairs are learned by IBM Model 1 from short phrases (message catalogues, dictionaries) and from
the words by which parallel URLs differ.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from diptych.learn.url.concepts import SENSES, Concepts, fingerprint, prefix_key, slug_letters
from diptych.learn.url.data import LabelledPair

_MIN_MEANS, _MIN_SAID = 0.05, 0.005  # t(English | word) and t(word | English)
_ITERATIONS = 4
_WORD = re.compile(r"[a-z]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_WORDS = 12
_PER_DOMAIN = 40  # pairs of a domain from which words are learned


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


def stem(word: str) -> str:
    """An English word without its plural ending: what concepts are called.

    >>> stem("services"), stem("companies"), stem("glass"), stem("us")
    ('service', 'company', 'glass', 'us')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "siu" else word


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
        if start := prefix_key(word):
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


def slug_phrases(rows: Iterable[LabelledPair]) -> Iterator[Phrase]:
    """The words by which parallel URLs differ, where one of them is English."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.domain] += 1
        if seen[row.domain] > _PER_DOMAIN or (row.lang_a == "en") == (row.lang_b == "en"):
            continue
        english, other = url_words(row.url_a), url_words(row.url_b)
        lang = row.lang_b
        if row.lang_b == "en":
            english, other, lang = other, english, row.lang_a
        only = [word for word in english if word not in other][:_WORDS]
        others = [word for word in other if word not in english][:_WORDS]
        if only and others:
            # A slug is closer to what is looked up than a dictionary.
            yield Phrase(lang, " ".join(only), " ".join(others), 2 * row.weight)


def used_words(rows: Iterable[LabelledPair]) -> Counter[str]:
    """How often English URLs use each word."""
    used: Counter[str] = Counter()
    for row in rows:
        for url, lang in ((row.url_a, row.lang_a), (row.url_b, row.lang_b)):
            if lang == "en":
                used.update(url_words(url))
    return used


def url_words(url: str) -> Sequence[str]:
    """The words of a URL behind its host.

    >>> url_words("http://x.org/About-Us/team?id=%C3%A9t%C3%A9")
    ['about', 'us', 'team', 'id', 'ete']
    """
    return slug_words(unquote(url.partition("://")[2].partition("/")[2], errors="replace"))
