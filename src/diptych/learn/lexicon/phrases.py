"""Phrases of two sentences that translate each other: consistent with word links (Koehn 2003)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import vocabulary_links
from diptych.text.cognates import stem

MAX_WORDS = 4  # of a phrase; longer ones are rarely terms
MAX_SENTENCE = 80  # words; in longer sentences, too many words are linked by chance
_FLOOR = 0.01  # probability of a word pair that only one direction of the lexicon knows
# Weaker pairs of words are not linked.  In small texts, words that meet twice by accident are
# below, and most words that translate each other are above.
_MIN_LINK = 0.1
_MIN_SECOND = 0.3  # probability of a second translation of a word: French "en ligne" for "online"
_DISTANCE = 1.5  # how fast a link loses against others with the distance from the diagonal

Place = int
"""index of a word in its sentence"""


class Span(NamedTuple):
    """The words of a sentence from `start` up to, but not including, `end`."""

    start: Place
    end: Place


class PhrasePair(NamedTuple):
    """Two phrases that translate each other."""

    left: Span
    right: Span
    is_whole: bool = True
    """True if all content words are linked"""


class SentenceLinks(NamedTuple):
    """Links between the words of two sentences."""

    pairs: list[tuple[Place, Place]]
    left_seconds: frozenset[Place]
    """left words that share the translation of a neighbour"""
    right_seconds: frozenset[Place]


class _Candidate(NamedTuple):
    """A possible link; links are sorted by these fields."""

    cost: float
    left: Place
    right: Place
    score: float
    """geometric mean of the probabilities of both directions"""
    highest: float
    """the higher one of these"""


def word_links(left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> SentenceLinks:
    """Links between the words of two sentences.

    The best links are taken one after the other, each between words that have none yet (competitive
    linking, Melamed 2000); then a word without a link joins a word near it if both are translations
    of the same word, because one word may be several in another language ("mise à jour").

    >>> links = [("blue", "bleue", 1), ("house", "maison", 1), ("the", "la", 1)]
    >>> lexicon = Lexicon.of_links("en", "fr", links)
    >>> word_links(["the", "blue", "house"], ["la", "maison", "bleue"], lexicon).pairs
    [(0, 0), (1, 2), (2, 1)]
    """
    if not left or not right or max(len(left), len(right)) > MAX_SENTENCE:
        return SentenceLinks([], frozenset(), frozenset())
    candidates = sorted(_candidates(left, right, lexicon))
    of_left: dict[Place, Place] = {}
    of_right: dict[Place, Place] = {}
    for _, one, other, score, _ in candidates:
        if score >= _MIN_LINK and one not in of_left and other not in of_right:
            of_left[one], of_right[other] = other, one
    firsts = set(of_left.items())
    seconds = [each for each in candidates if each.highest >= _MIN_SECOND]
    return SentenceLinks(
        sorted(firsts | _joining(seconds, of_left, of_right)),
        frozenset(of_left).difference(one for one, _ in firsts),
        frozenset(of_right).difference(other for _, other in firsts),
    )


def _joining(
    candidates: Sequence[_Candidate], of_left: dict[Place, Place], of_right: dict[Place, Place]
) -> set[tuple[Place, Place]]:
    """Links of words that have none yet to words whose link leads to a word near them.

    Neighbours come first; a word at a distance of two joins only if no neighbour has.
    """
    found: set[tuple[Place, Place]] = set()
    for distance in (1, 2):
        taken = {one for one, _ in found}, {other for _, other in found}
        for _, one, other, *_ in candidates:
            left, right = of_right.get(other, one), of_left.get(one, other)
            if one not in of_left and other not in taken[1]:
                is_new = _are_near(left, one, distance, of_left)
            else:
                is_free = other not in of_right and one not in taken[0]
                is_new = is_free and _are_near(right, other, distance, of_right)
            if is_new:
                of_left.setdefault(one, other)
                of_right.setdefault(other, one)
                found.add((one, other))
    return found


def _are_near(one: Place, other: Place, distance: int, linked: Container[Place]) -> bool:
    """True if two words have this distance, and no word with a link stands between them.

    >>> _are_near(1, 2, 1, ()), _are_near(1, 3, 2, {1}), _are_near(1, 3, 2, {1, 2})
    (True, True, False)
    """
    return abs(one - other) == distance and not any(
        place in linked for place in range(min(one, other) + 1, max(one, other))
    )


def _candidates(left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[_Candidate]:
    ours, theirs = _places_by_stem(left), _places_by_stem(right)
    left_stems, right_stems = tuple(ours), tuple(theirs)
    known = vocabulary_links(left_stems, right_stems, lexicon)
    scores = np.sqrt((known.forward + _FLOOR) * (known.backward + _FLOOR))
    highest = np.maximum(known.forward, known.backward)
    found = []
    for index in np.flatnonzero((scores >= _MIN_LINK) | (highest >= _MIN_SECOND)).tolist():
        places = ours[left_stems[known.left[index]]], theirs[right_stems[known.right[index]]]
        score = float(scores[index])
        for one, other in product(*places):
            distance = abs((one + 0.5) / len(left) - (other + 0.5) / len(right))
            cost = (1 + _DISTANCE * distance) / score
            found.append(_Candidate(cost, one, other, score, float(highest[index])))
    return found


def _places_by_stem(words: Sequence[str]) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for place, word in enumerate(words):
        places.setdefault(stem(word), []).append(place)
    return places


@dataclass(frozen=True, slots=True)
class Sentence:
    """What phrase extraction needs to know of each word of a sentence."""

    is_content: Sequence[bool]
    """True for a word with a meaning of its own"""
    is_tied: Sequence[bool]
    """True for a word that a hyphen ties to the word before"""
    is_joined: Sequence[bool]
    """True if no punctuation stands between the word and the one before"""

    def spans(self, seconds: frozenset[Place]) -> set[Span]:
        """All spans that can be phrases: their first and last words are content words or `seconds`.

        >>> sentence = Sentence([True, False, True], [False] * 3, [False, True, True])
        >>> sorted(sentence.spans(frozenset()))
        [Span(start=0, end=1), Span(start=0, end=3), Span(start=2, end=3)]
        """
        edges = [each or place in seconds for place, each in enumerate(self.is_content)]
        is_last = [
            each and not is_tied
            for each, is_tied in zip(edges, [*self.is_tied[1:], False], strict=True)
        ]
        found = set()
        for start, is_edge in enumerate(edges):
            if not is_edge or self.is_tied[start]:
                continue
            for end in range(start + 1, min(start + MAX_WORDS, len(edges)) + 1):
                if end > start + 1 and not self.is_joined[end - 1]:
                    break
                if is_last[end - 1]:
                    found.add(Span(start, end))
        return found


def phrase_pairs(left: Sentence, right: Sentence, links: SentenceLinks) -> Iterator[PhrasePair]:
    """All pairs of phrases such that no word in one is linked to a word outside the other.

    Each content word in the phrases is linked, except at most one: it may be part of a term that is
    one word in the other language.

    >>> house = Sentence([False, True, True], [False] * 3, [True] * 3)
    >>> links = SentenceLinks([(0, 0), (1, 2), (2, 1)], frozenset(), frozenset())
    >>> [(tuple(left), tuple(right)) for left, right, _ in phrase_pairs(house, house, links)]
    [((1, 2), (2, 3)), ((1, 3), (1, 3)), ((2, 3), (1, 2))]
    """
    of_left = _partners(links.pairs)
    of_right = _partners((other, one) for one, other in links.pairs)
    spans = right.spans(links.right_seconds)
    for span in sorted(left.spans(links.left_seconds)):
        inner = [other for place in range(*span) for other in of_left.get(place, ())]
        if not inner:
            continue
        core = Span(min(inner), max(inner) + 1)
        if core.end - core.start > MAX_WORDS or not _lead_back(core, span, of_right):
            continue
        loose = _unlinked(left, span, of_left)
        for other in _around(core, of_right):
            if other in spans and (rest := loose + _unlinked(right, other, of_right)) <= 1:
                yield PhrasePair(span, other, not rest)


def _partners(links: Iterable[tuple[Place, Place]]) -> dict[Place, list[Place]]:
    found: dict[Place, list[Place]] = {}
    for one, other in links:
        found.setdefault(one, []).append(other)
    return found


def _lead_back(core: Span, span: Span, partners: dict[Place, list[Place]]) -> bool:
    """True if the links of all words in `core` lead to words in `span`."""
    return all(
        span.start <= other < span.end
        for place in range(*core)
        for other in partners.get(place, ())
    )


def _unlinked(sentence: Sentence, span: Span, partners: dict[Place, list[Place]]) -> int:
    """The number of content words in a span that are not linked."""
    return sum(sentence.is_content[place] and place not in partners for place in range(*span))


def _around(core: Span, partners: dict[Place, list[Place]]) -> Iterator[Span]:
    """The spans that contain `core` and besides it only words without a link.

    >>> [tuple(span) for span in _around(Span(2, 4), {0: [0], 2: [3], 3: [2], 5: [5]})]
    [(2, 4), (2, 5), (1, 4), (1, 5)]
    """
    start = core.start
    while start >= 0 and core.end - start <= MAX_WORDS:
        end = core.end
        while end - start <= MAX_WORDS:
            yield Span(start, end)
            if end in partners:
                break
            end += 1
        start -= 1
        if start in partners:
            break
