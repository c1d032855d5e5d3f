"""The words on both sides of segments, as bags with positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """The counts and positions of the words on one side of all segments."""

    stems: Stems
    vocabulary: NDArray[np.int32]
    """the stem of each word of the side, in order of occurrence"""
    bags: Bags
    segment: Ints
    """for each word of the bags, the index of its segment"""
    position: Floats
    """relative position of each word in its segment, from 0 to 1; the mean of repeated words"""
    lengths: Floats
    """length of each segment, in letters"""
    tokens: Floats
    """number of words in each segment"""
    token_offsets: Ints
    """index of the first word of each segment in `order`, and the number of words"""
    order: Ints
    """for each word in the order of the texts, its index in the bags"""

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary of the side, as stems."""
        words = self.stems.words
        return tuple(words[stem] for stem in self.vocabulary.tolist())

    @property
    def is_number(self) -> NDArray[np.bool_]:
        """For each word of the vocabulary, True if it is a number."""
        return self.stems.arrays().is_number[self.vocabulary]


def side_words(texts: Sequence[str], lang: str, stems: Stems | None = None) -> SideWords:
    """Collect the words on one side of all segments; both sides must use the same stems."""
    known = Stems() if stems is None else stems
    found = known.read_all(texts, lang)
    sizes = np.array([len(ids) for ids, _ in found], np.int64)
    flat = np.concatenate([ids for ids, _ in found] or [np.empty(0, np.int32)])
    offsets = ends_of(sizes)
    made = (_bags if native() is None else find_bags)(flat, offsets, len(known))
    return SideWords(
        known,
        made.vocabulary,
        Bags(made.word, made.times, made.offsets, len(made.vocabulary)),
        made.segment,
        made.position,
        np.array([length for _, length in found], np.float64),
        sizes.astype(np.float64),
        offsets,
        made.order,
    )


def _bags(ids: NDArray[np.int32], offsets: Ints, stems: int) -> TextBags:
    """Compute `find_bags` in NumPy, as the reference implementation and the fallback."""
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
    )


def both_sides(
    segs: Sequence[SegmentPair], stems: Stems | None = None
) -> tuple[SideWords, SideWords]:
    """Collect the words on each side of the segments of two pages."""
    langs = (segs[0].left_lang, segs[0].right_lang) if segs else ("en", "en")
    lefts, rights = [seg.left for seg in segs], [seg.right for seg in segs]
    stems = Stems() if stems is None else stems
    return side_words(lefts, langs[0], stems), side_words(rights, langs[1], stems)
