"""Candidates for the terms of two languages, found in three passes over the segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from diptych.corpus.bounded_counts import BoundedCounter
from diptych.corpus.function_words import RARE, WordUse
from diptych.corpus.term_texts import MAX_LABEL, MAX_LOG_ODDS, TermText, Words
from diptych.language.switchers import declared_language
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.phrases import Span, phrase_pairs, word_links
from diptych.learn.lexicon.word_links import discounted
from diptych.types import LangPair, Link, Url
from diptych.units import Unit

_LIMIT = 500_000  # distinct pairs of phrases that are counted; about 250 MB
_MAX_LETTERS = 500_000  # of text to learn a lexicon from
_MIN_EVIDENCE = 2  # segments with a pair of phrases; a single one is too often an accident
_GOOD_EXAMPLE = 90  # letters: long enough to show the use of a term, short enough to read
_INITIAL, _CAPITALS = 0.01, 0.0001  # weight of a spelling that is due to its place or to a design
_MAX_SPELLINGS = 50  # of a phrase, and different words beside it


class Key(NamedTuple):
    """The words of two phrases that may translate each other."""

    left: Words
    right: Words


class Segment(NamedTuple):
    """A unit of the corpus and its two texts."""

    left: TermText
    right: TermText
    unit: Unit

    @classmethod
    def of(cls, unit: Unit) -> Segment:
        """Take the texts of a unit."""
        left, right = (TermText(side.text, side.lang) for side in unit.sides)
        return cls(left, right, unit)

    @property
    def key(self) -> Key:
        """All words of both texts."""
        return Key(self.left.words, self.right.words)

    def is_label(self) -> bool:
        """True if both texts can be labels: menu items, headings, buttons."""
        left, right = self.left, self.right
        return (
            left.is_label()
            and right.is_label()
            and min(len(left.words), len(right.words)) <= MAX_LABEL
            and not self._is_switcher()
        )

    def _is_switcher(self) -> bool:
        """True if the texts are the names of two languages, as in a language menu."""
        texts = self.left, self.right
        langs = tuple(text.lang for text in texts)
        named = {declared_language(Link(Url(""), anchor=text.text), langs).lang for text in texts}
        return len(named) == 2 and "" not in named


@dataclass
class Survey:
    """First pass: the use of words, and labels."""

    langs: LangPair
    left: WordUse = field(default_factory=WordUse)
    right: WordUse = field(default_factory=WordUse)
    labels: BoundedCounter[Key] = field(default_factory=lambda: BoundedCounter(_LIMIT))
    """occurrences of each label and its translation, copies included"""
    sample: list[Key] = field(default_factory=list)
    """segments to learn a lexicon from"""
    letters: int = 0
    """length of the left side of the sample"""

    def add(self, segment: Segment) -> None:
        """Count the words of a segment."""
        self.left.add(segment.left.clauses())
        self.right.add(segment.right.clauses())
        if segment.is_label():
            self.labels.add({segment.key: segment.unit.copies})
        if self.letters < _MAX_LETTERS:
            self.letters += len(segment.left.text)
            self.sample.append(segment.key)

    def lexicon(self) -> Lexicon:
        """A lexicon that is learned from the segments themselves."""
        return discounted(train(self.sample, *self.langs))


@dataclass(frozen=True)
class Extraction:
    """Second pass: pairs of phrases that are consistent with the lexicon."""

    lexicon: Lexicon
    left_odds: Mapping[str, float]
    """log-odds that a word is a function word"""
    right_odds: Mapping[str, float]
    phrases: BoundedCounter[Key] = field(default_factory=lambda: BoundedCounter(_LIMIT))
    """number of segments with each pair of phrases"""
    whole: BoundedCounter[Key] = field(default_factory=lambda: BoundedCounter(_LIMIT))
    """the same, if all content words are linked"""
    unlinked: set[Key] = field(default_factory=set)
    """labels with known words of which none is linked"""

    @classmethod
    def of(cls, survey: Survey, lexicon: Lexicon | None) -> Extraction:
        """Begin with a lexicon, or learn one from the segments that were surveyed."""
        known = lexicon or survey.lexicon()
        left, right = survey.left.log_odds(known, "left"), survey.right.log_odds(known, "right")
        return cls(known, left, right)

    def add(self, segment: Segment) -> None:
        """Count the pairs of phrases of a segment, each once."""
        left, right = segment.left, segment.right
        links = word_links(left.words, right.words, self.lexicon)
        ours, theirs = left.sentence(self.left_odds), right.sentence(self.right_odds)
        found: dict[Key, bool] = {}
        for one, other, is_whole in phrase_pairs(ours, theirs, links):
            key = Key(left.words[slice(*one)], right.words[slice(*other)])
            found[key] = found.get(key, False) or is_whole
        self.phrases.add(found.keys())
        self.whole.add(key for key, is_whole in found.items() if is_whole)
        if not found and self._are_known(segment) and segment.is_label():
            self.unlinked.add(segment.key)

    def _are_known(self, segment: Segment) -> bool:
        """True if each text has a word that is frequent, but not a function word."""
        texts = (segment.left, self.left_odds), (segment.right, self.right_odds)
        return all(
            any(RARE < odds.get(word, RARE) <= MAX_LOG_ODDS for word in text.words)
            for text, odds in texts
        )

    def candidates(self, most: int) -> dict[Key, int]:
        """The most frequent pairs, and the number of segments that have them."""
        found = ((key, count) for key, count in self.phrases.items() if count >= _MIN_EVIDENCE)
        return dict(sorted(found, key=lambda item: (-item[1], item[0]))[:most])


class Example(NamedTuple):
    """A segment that shows a term in use; the lowest `rank` is the best."""

    rank: tuple[bool, int, str, str]
    left: str
    right: str
    left_url: str
    right_url: str


@dataclass
class Spellings:
    """The spellings of a phrase, and the words beside it."""

    forms: dict[str, float] = field(default_factory=dict)
    """weight of each spelling"""
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)

    def add(self, text: TermText, span: Span) -> None:
        """Count the spelling in a text; one in the middle of a sentence weighs most."""
        spelled = text.surface(span)
        weight = 1.0 if text.is_running and span.start > 0 else _INITIAL
        if len(spelled) > 1 and spelled.isupper() and not text.is_running:
            weight = _CAPITALS
        if spelled in self.forms or len(self.forms) < _MAX_SPELLINGS:
            self.forms[spelled] = self.forms.get(spelled, 0.0) + weight
        begins = span.start == 0 or not text.is_joined[span.start]
        ends = span.end == len(text.words) or not text.is_joined[span.end]
        _count(self.before, "" if begins else text.words[span.start - 1])
        _count(self.after, "" if ends else text.words[span.end])

    def best(self) -> str:
        """The spelling that weighs most."""
        return min(self.forms, key=lambda form: (-self.forms[form], form))


def _count(counts: Counter[str], word: str) -> None:
    if word in counts or len(counts) < _MAX_SPELLINGS:
        counts[word] += 1


@dataclass
class Sightings:
    """The places where a pair of phrases was seen."""

    count: int = 0
    """number of occurrences, copies included"""
    score: float = 0.0
    """sum of the scores of its occurrences as a label"""
    left: Spellings = field(default_factory=Spellings)
    right: Spellings = field(default_factory=Spellings)
    example: Example | None = None

    def add(self, segment: Segment, left: Span, right: Span, *, is_label: bool) -> None:
        """Record the pair in a segment."""
        copies = segment.unit.copies
        self.count += copies
        self.score += segment.unit.score * copies if is_label else 0.0
        self.left.add(segment.left, left)
        self.right.add(segment.right, right)
        one, other = segment.unit.sides
        rank = is_label, abs(len(one.text) - _GOOD_EXAMPLE), one.text, other.text
        if self.example is None or rank < self.example.rank:
            self.example = Example(rank, one.text, other.text, one.url, other.url)


@dataclass(frozen=True)
class Search:
    """Third pass: all places of the candidates."""

    keys: Collection[Key]
    """pairs of phrases to look for"""
    labels: Collection[Key]
    """labels to look for"""
    left_segments: Counter[Words] = field(default_factory=Counter)
    """number of segments that contain a left phrase"""
    right_segments: Counter[Words] = field(default_factory=Counter)
    sightings: dict[Key, Sightings] = field(default_factory=dict)

    @cached_property
    def _left(self) -> dict[Words, list[Key]]:
        found: dict[Words, list[Key]] = {}
        for key in self.keys:
            found.setdefault(key.left, []).append(key)
        return found

    @cached_property
    def _right(self) -> frozenset[Words]:
        return frozenset(key.right for key in self.keys)

    @cached_property
    def _first(self) -> tuple[frozenset[str], frozenset[str]]:
        return _first_words(self._left), _first_words(self._right)

    def add(self, segment: Segment) -> None:
        """Record the candidates in a segment."""
        left, right = segment.left, segment.right
        is_label = segment.key in self.labels
        if is_label:
            whole = Span(0, len(left.words)), Span(0, len(right.words))
            self._seen(segment.key).add(segment, *whole, is_label=True)
        ours = {words: span for words, span in left.phrases(self._first[0]) if words in self._left}
        theirs = {
            words: span for words, span in right.phrases(self._first[1]) if words in self._right
        }
        self.left_segments.update(ours.keys())
        self.right_segments.update(theirs.keys())
        for words, span in ours.items():
            for key in self._left[words]:
                if key.right in theirs and not (is_label and key == segment.key):
                    self._seen(key).add(segment, span, theirs[key.right], is_label=False)

    def _seen(self, key: Key) -> Sightings:
        return self.sightings.setdefault(key, Sightings())


def _first_words(phrases: Iterable[Words]) -> frozenset[str]:
    return frozenset(words[0] for words in phrases)
