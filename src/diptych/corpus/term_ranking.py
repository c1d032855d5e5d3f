"""Grouping, confidence and ranking of the candidates for terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from diptych.corpus.term_candidates import Extraction, Key, Search, Sightings, Survey
from diptych.corpus.term_texts import MAX_LOG_ODDS, Words
from diptych.text.cognates import shared_prefix

_MIN_CONFIDENCE = 0.4
_MIN_LOOSE, _MIN_LOOSE_CONFIDENCE = 3, 0.7  # segments and confidence if a word has no link
_DISCOUNT = 0.5  # segments; subtracted from counts, so that rare pairs are trusted less
_MIN_PREFIX = 4  # letters that inflected forms of a word have in common
_MAX_ENDING = 3  # letters in which they differ
_NESTED = 0.7  # a pair is dropped if so large a share of it stands within longer terms
_FIXED = 0.9  # a phrase is dropped if so large a share of it has the same word beside it
_MIN_FIXED = 3  # occurrences
_FREQUENT = 0.5  # share of the most frequent form; among such forms, the shortest is shown
_UNLINKED = 0.7  # confidence of a label whose words are known, but not as translations
# Share of kept segments that are not exact translations, in a sample of 950: nothing is surer that
# was seen in one segment, however often that segment is repeated.
_DOUBT = 0.1
_LENGTH_BONUS = 0.3  # for each word after the first: longer terms say more
_LABEL_WEIGHT = 0.5  # of the logarithm of a label's count: its copies are one piece of evidence


@dataclass(frozen=True, slots=True)
class Found:
    """A term: pairs of phrases that differ only in the endings of words."""

    keys: tuple[Key, ...]
    """the pair to show first"""
    evidence: int
    """number of segments in which the lexicon links the phrases"""
    labels: int
    """occurrences as a label, copies included"""
    count: int
    """all occurrences, copies included"""
    is_whole: bool
    """True if all content words are linked in some segment"""
    confidence: float
    usefulness: float


@dataclass(frozen=True)
class Ranking:
    """The candidates of two languages, with everything that was counted of them."""

    survey: Survey
    extraction: Extraction
    search: Search
    evidence: Mapping[Key, int]

    def found(self) -> list[Found]:
        """The terms; incomplete phrases and doubtful pairs are left out."""
        weights = Counter(self.evidence)
        weights.update(self.survey.labels)
        groups = (self._found(keys, weights) for keys in grouped(weights))
        return list(without_nested([each for each in groups if each is not None]))

    def _found(self, keys: Sequence[Key], weights: Mapping[Key, int]) -> Found | None:
        seen = [self.search.sightings.get(key, Sightings()) for key in keys]
        evidence = sum(self.evidence.get(key, 0) for key in keys)
        labels = sum(self.survey.labels[key] for key in keys)
        is_whole = any(self.extraction.whole[key] for key in keys)
        confidence = self._phrase_confidence(keys, evidence)
        if labels:
            confidence = max(confidence, self._label_confidence(keys, labels))
        elif self._is_fragment(keys[0]) or (not is_whole and evidence < _MIN_LOOSE):
            return None
        if confidence < (_MIN_CONFIDENCE if labels or is_whole else _MIN_LOOSE_CONFIDENCE):
            return None
        words = min(len(keys[0].left), len(keys[0].right))
        weight = math.log2(max(evidence, 1)) + _LABEL_WEIGHT * math.log2(1 + labels)
        content = 1.0 if labels else self._content(keys[0])
        usefulness = weight * confidence * content * (1 + _LENGTH_BONUS * (words - 1))
        shown = tuple(sorted(keys, key=lambda key: _shown_first(key, keys[0], weights)))
        count = sum(each.count for each in seen)
        surest = 1 - _DOUBT / max(evidence, 1)
        return Found(shown, evidence, labels, count, is_whole, min(confidence, surest), usefulness)

    def _phrase_confidence(self, keys: Sequence[Key], evidence: int) -> float:
        """The share of the phrases' segments in which they are linked, discounted."""
        left = sum(self.search.left_segments[words] for words in {key.left for key in keys})
        right = sum(self.search.right_segments[words] for words in {key.right for key in keys})
        return max(evidence - _DISCOUNT, 0.0) / math.sqrt(left * right) if left and right else 0.0

    def _label_confidence(self, keys: Sequence[Key], labels: int) -> float:
        """The share of these translations among all of the labels, times their mean score."""
        seen = self.search.sightings
        score = sum(seen[key].score for key in keys if key in seen) / labels
        if self.extraction.unlinked.issuperset(keys):
            score *= _UNLINKED
        left, right = self._label_totals
        ours = sum(left[words] for words in {key.left for key in keys})
        theirs = sum(right[words] for words in {key.right for key in keys})
        return score * labels / math.sqrt(ours * theirs)

    @cached_property
    def _label_totals(self) -> tuple[Counter[Words], Counter[Words]]:
        left: Counter[Words] = Counter()
        right: Counter[Words] = Counter()
        for key, count in self.survey.labels.items():
            left[key.left] += count
            right[key.right] += count
        return left, right

    def _is_fragment(self, key: Key) -> bool:
        """True if a phrase is nearly always a part of the same longer phrase.

        A function word before it, such as an article, does not count.
        """
        seen = self.search.sightings.get(key, Sightings())
        sides = (seen.left, self.extraction.left_odds), (seen.right, self.extraction.right_odds)
        return any(
            ((word := _fixed_neighbour(spellings.before)) and odds.get(word, 0.0) <= MAX_LOG_ODDS)
            or _fixed_neighbour(spellings.after)
            for spellings, odds in sides
        )

    def _content(self, key: Key) -> float:
        """The probability that the words at the edges of the phrases are content words."""
        left, right = self.extraction.left_odds, self.extraction.right_odds
        edges = (
            (left, key.left[0]),
            (left, key.left[-1]),
            (right, key.right[0]),
            (right, key.right[-1]),
        )
        mean = sum(odds.get(word, 0.0) for odds, word in edges) / len(edges)
        return 1 / (1 + math.exp(mean - MAX_LOG_ODDS))


def _fixed_neighbour(counts: Counter[str]) -> str:
    """The word that stands beside nearly all occurrences of a phrase; empty if there is none.

    >>> _fixed_neighbour(Counter({"dysfunction": 9, "": 1}))
    'dysfunction'
    """
    total = counts.total()
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    return word if total >= _MIN_FIXED and count >= _FIXED * total else ""


def _shown_first(key: Key, head: Key, weights: Mapping[Key, int]) -> tuple[bool, int, int, Key]:
    """Sort key: of the frequent forms, the shortest first: it is nearest to a dictionary form."""
    is_rare = weights[key] < _FREQUENT * weights[head]
    length = sum(len(word) for words in key for word in words)
    return is_rare, 0 if is_rare else length, -weights[key], key


def is_same_word(one: str, other: str) -> bool:
    """True if two words differ at most in their endings.

    >>> is_same_word("médecin", "médecins"), is_same_word("test", "tester"), is_same_word("a", "as")
    (True, True, False)
    >>> is_same_word("community", "communication")
    False
    """
    if one == other:
        return True
    shared = shared_prefix(one, other)
    return shared >= _MIN_PREFIX and max(len(one), len(other)) - shared <= _MAX_ENDING


def grouped(weights: Mapping[Key, int]) -> list[list[Key]]:
    """Group pairs whose words differ at most in their endings, the most frequent pair first.

    >>> grouped({Key(("tide",), ("marée",)): 2, Key(("tides",), ("marées",)): 3})
    [[Key(left=('tides',), right=('marées',)), Key(left=('tide',), right=('marée',))]]
    """
    groups: dict[tuple[Words, ...], list[list[Key]]] = {}
    for key in sorted(weights, key=lambda key: (-weights[key], key)):
        alike = groups.setdefault(_beginnings(key), [])
        group = next((each for each in alike if all(map(_is_same_phrase, each[0], key))), None)
        if group is None:
            alike.append([key])
        else:
            group.append(key)
    return [group for alike in groups.values() for group in alike]


def _beginnings(key: Key) -> tuple[Words, ...]:
    return tuple(tuple(word[:_MIN_PREFIX] for word in words) for words in key)


def _is_same_phrase(one: Words, other: Words) -> bool:
    return len(one) == len(other) and all(map(is_same_word, one, other))


def without_nested(found: Sequence[Found]) -> Iterator[Found]:
    """Leave out the terms that mostly stand within longer ones; labels stay.

    A longer term with a word that is not linked counts only if it is not less certain.
    """
    longer: dict[Key, list[Found]] = {key: [] for each in found for key in each.keys[:1]}
    for each in found:
        for key in each.keys:
            for part in _parts(key):
                if part in longer:
                    longer[part].append(each)
    for each in found:
        if each.labels or not any(_covers(other, each) for other in longer[each.keys[0]]):
            yield each


def _covers(longer: Found, shorter: Found) -> bool:
    return longer.evidence >= _NESTED * shorter.evidence and (
        longer.is_whole or longer.confidence >= shorter.confidence
    )


def _parts(key: Key) -> Iterator[Key]:
    """All pairs of parts of two phrases, without the pair itself."""
    for left in _shorter(key.left):
        for right in _shorter(key.right):
            if (left, right) != key:
                yield Key(left, right)


def _shorter(words: Words) -> Iterator[Words]:
    size = len(words)
    return (words[start:end] for start in range(size) for end in range(start + 1, size + 1))
