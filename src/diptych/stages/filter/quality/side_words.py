"""The words on both sides of segments, as bags with positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.ibm1 import Bags
from diptych.kernels.tables import ends_of
from diptych.kernels.word_evidence import TextBags, find_bags
from diptych.learn.lexicon.stems import Stems
from diptych.types import SegmentPair

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SideWords:
    """The counts and positions of the words on one side of all segments.

    Segments form groups, such as the segments of two pages, each with a vocabulary of its own.
    """

    stems: Stems
    text_bags: TextBags
    lengths: Floats
    """length of each segment, in letters"""
    tokens: Floats
    """number of words in each segment"""
    token_offsets: Ints
    """index of the first word of each segment in `order`, and the number of words"""
    groups: Ints
    """index of the first segment of each group, and the number of segments"""

    @property
    def bags(self) -> Bags:
        """The words of each segment; of a single group only."""
        found = self.text_bags
        return Bags(found.word, found.times, found.offsets, len(found.vocabulary))

    @property
    def segment(self) -> Ints:
        """For each word of the bags, the index of its segment in the group."""
        return self.text_bags.segment

    @property
    def position(self) -> Floats:
        """Relative position of each word in its segment, 0 to 1; the mean of repeated words."""
        return self.text_bags.position

    @property
    def order(self) -> Ints:
        """For each word in the order of the texts, its index in the bags of the group."""
        return self.text_bags.order

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary of the side, as stems."""
        words = self.stems.words
        return tuple(words[stem] for stem in self.text_bags.vocabulary.tolist())

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """For each word of the vocabulary, True if it is a number."""
        return self.stems.arrays().is_number[self.text_bags.vocabulary]

    @property
    def types(self) -> Ints:
        """The number of distinct words in each segment."""
        is_last = np.zeros(len(self.text_bags.offsets), bool)
        is_last[self.groups[1:] + np.arange(len(self.groups) - 1)] = True
        return np.diff(self.text_bags.offsets)[~is_last[:-1]]

    def rarity(self) -> Floats:
        """The weight of each word of the vocabulary: the rarer in its group, the higher."""
        bags = self.text_bags
        words, entries = np.diff(bags.words_from), np.diff(bags.entries_from)
        place = bags.word + np.repeat(bags.words_from[:-1], entries)
        counts = np.bincount(place, bags.times, len(bags.vocabulary))
        total = np.repeat(np.diff(self.token_offsets[self.groups]), words)
        rarity: Floats = np.log((total + 500.0) / (counts + 1.0))
        return rarity

    def group(self, place: int) -> SideWords:
        """The words of one group only."""
        begin, end = self.groups[place : place + 2].tolist()
        tokens = self.token_offsets[begin : end + 1]
        bags = self.text_bags
        words, entries = (
            slice(*offsets[place : place + 2].tolist())
            for offsets in (bags.words_from, bags.entries_from)
        )
        own = TextBags(
            bags.vocabulary[words], bags.segment[entries], bags.word[entries], bags.times[entries],
            bags.position[entries], bags.offsets[begin + place : end + place + 1],
            bags.order[tokens[0] : tokens[-1]],
            np.array([0, words.stop - words.start]), np.array([0, entries.stop - entries.start]),
        )  # fmt: skip
        return SideWords(
            self.stems, own, self.lengths[begin:end], self.tokens[begin:end], tokens - tokens[0],
            np.array([0, end - begin]),
        )  # fmt: skip


def side_words(
    texts: Sequence[str], lang: str, stems: Stems | None = None, groups: Ints | None = None
) -> SideWords:
    """Collect the words on one side of all segments; both sides must use the same stems.

    By default, all segments are one group.
    """
    known = Stems() if stems is None else stems
    groups = np.array([0, len(texts)], np.int64) if groups is None else groups
    ids, offsets, lengths = known.read(texts, lang)
    made = (
        _bags(ids, offsets, groups)
        if native() is None
        else find_bags(ids, offsets, len(known), groups)
    )
    return SideWords(known, made, lengths, np.diff(offsets).astype(np.float64), offsets, groups)


def _bags(ids: NDArray[np.int32], offsets: Ints, groups: Ints) -> TextBags:
    """Compute `find_bags` in NumPy, as the reference implementation and the fallback."""
    parts = [
        _group_bags(ids[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin])
        for begin, end in pairwise(groups.tolist())
    ]
    columns = [*zip(*parts, strict=True)] or [()] * len(TextBags._fields)
    kinds = (np.int32, np.int64, np.int32, np.float32, np.float64, np.int64, np.int64)
    joined = [
        np.concatenate([np.empty(0, kind), *column])
        for kind, column in zip(kinds, columns, strict=False)
    ]
    ends = [ends_of(np.array([part[-1] for part in column], np.int64)) for column in columns[-2:]]
    return TextBags(*joined, *ends)


def _group_bags(ids: NDArray[np.int32], offsets: Ints) -> TextBags:
    texts, sizes = len(offsets) - 1, np.diff(offsets)
    distinct, first, of_token = np.unique(ids, return_index=True, return_inverse=True)
    by_occurrence = np.argsort(first)
    place = np.empty(len(distinct), np.int64)
    place[by_occurrence] = np.arange(len(distinct))
    segment = np.repeat(np.arange(texts), sizes)
    positions = (np.arange(len(ids)) - offsets[segment] + 0.5) / sizes[segment]
    size = max(len(distinct), 1)
    keys, inverse, counts = np.unique(
        segment * size + place[of_token.reshape(-1)], return_inverse=True, return_counts=True
    )
    return TextBags(
        distinct[by_occurrence],
        keys // size,
        (keys % size).astype(np.int32),
        counts.astype(np.float32),
        np.bincount(inverse.reshape(-1), positions, len(keys)) / counts,
        np.searchsorted(keys, np.arange(texts + 1) * size).astype(np.int64),
        inverse.reshape(-1),
        np.array([0, len(distinct)]),
        np.array([0, len(keys)]),
    )


def both_sides(
    segs: Sequence[SegmentPair], stems: Stems | None = None, groups: Ints | None = None
) -> tuple[SideWords, SideWords]:
    """Collect the words on each side of the segments of two pages, or of several such groups."""
    langs = (segs[0].left_lang, segs[0].right_lang) if segs else ("en", "en")
    lefts, rights = [seg.left for seg in segs], [seg.right for seg in segs]
    stems = Stems() if stems is None else stems
    return side_words(lefts, langs[0], stems, groups), side_words(rights, langs[1], stems, groups)
