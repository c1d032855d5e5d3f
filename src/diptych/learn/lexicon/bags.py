"""Input for aligners: sentences as bags of stems, and their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.beads import Windows, word_gains
from diptych.kernels.ibm1 import Bags, Postings, bags, postings
from diptych.kernels.tables import Table, ends_of, table_of
from diptych.kernels.word_evidence import find_bags
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import Stems, borrowed_stems, stem_links
from diptych.learn.lexicon.word_links import WordLinks

# Candidates for the share of words that come from chance.
_SHARES = (0.99, 0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
_SAMPLE = 500  # sentences to estimate the share from


@dataclass(frozen=True, eq=False)
class Text:
    """The sentences of a text, in order, as bags of words over one vocabulary."""

    words: tuple[str, ...]
    """the vocabulary"""
    bags: Bags
    lengths: NDArray[np.float64]
    """length of each sentence in letters"""

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def postings(self) -> Postings:
        """For each word, the sentences that contain it."""
        return postings(self.bags)

    @cached_property
    def lengths_before(self) -> NDArray[np.float64]:
        """The number of letters before each sentence, followed by the total."""
        return np.concatenate((np.zeros(1), np.cumsum(self.lengths)))

    @cached_property
    def words_before(self) -> NDArray[np.float64]:
        """The number of words before each sentence, followed by the total.

        Every sentence counts as at least one word.
        """
        return np.concatenate((np.zeros(1), np.cumsum(np.maximum(self.sizes, 1.0))))

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """The number of words in each sentence."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.bags.offsets))
        return np.bincount(rows, self.bags.count, len(self)).astype(np.float64)

    def coarser(self) -> Text:
        """A copy of the text in which every two consecutive sentences are joined into one."""
        return self.grouped(np.arange(len(self)) // 2)

    def grouped(self, group: NDArray[np.int64]) -> Text:
        """A copy of the text in which the sentences of each group are joined into one.

        `group` holds the group number of each sentence, in ascending order from 0.  Sentences
        with the group number -1 are omitted.
        """
        count = int(group.max(initial=-1)) + 1
        rows = np.repeat(group, np.diff(self.bags.offsets))
        kept = rows >= 0
        words = table_of(rows[kept], self.bags.word[kept], self.bags.count[kept], count)
        joined = Bags(words.columns, words.values, words.offsets, self.bags.size)
        lengths = np.bincount(group[group >= 0], self.lengths[group >= 0], count)
        return Text(self.words, joined, lengths.astype(np.float64))

    def chosen(self, places: NDArray[np.int64]) -> Text:
        """A text that consists of the sentences with the given indices, in that order."""
        begin, end = self.bags.offsets[places], self.bags.offsets[places + 1]
        sizes = end - begin
        offsets = ends_of(sizes)
        at = np.repeat(begin - offsets[:-1], sizes) + np.arange(offsets[-1])
        some = Bags(self.bags.word[at], self.bags.count[at], offsets, self.bags.size)
        return Text(self.words, some, self.lengths[places])


def likely_share(rows: Text, places: Text, links: Table, before: float) -> float:
    """Estimate the share of words in `rows` that are not translations of words in `places`.

    Sentence i of `rows` is the translation of sentence i of `places`; `links` holds the lifts of
    word pairs (see `word_links.lifts`).
    The result is the mean of the most likely share and `before`, the previous estimate.
    """
    if not len(rows):
        return before
    every = np.arange(0, len(rows), len(rows) // _SAMPLE + 1)
    rows, places = rows.chosen(every), places.chosen(every)
    each = np.arange(len(rows), dtype=np.int32)
    gains = [
        word_gains(
            rows.bags, links, places.postings, places.words_before, Windows(each, each + 1),
            sizes=1, null_share=share,
        ).sum(dtype=np.float64)
        for share in _SHARES
    ]  # fmt: skip
    return (before + _SHARES[int(np.argmax(gains))]) / 2


def read_text(sentences: Sequence[str], lang: str) -> Text:
    """Convert sentences to a `Text`, which holds the stems and the length of each sentence."""
    with borrowed_stems() as stems:
        vocabulary, text = _read(sentences, lang, stems)
        words = tuple(map(stems.words.__getitem__, vocabulary.tolist()))
    return replace(text, words=words)


def read_both(
    left: Sequence[str], right: Sequence[str], lexicon: Lexicon
) -> tuple[Text, Text, WordLinks]:
    """Convert the sentences of two sides to texts, and find the links between their words.

    The texts have no list of words, which takes a while to make.
    """
    with borrowed_stems() as stems:
        ours, one = _read(left, lexicon.left_lang, stems)
        theirs, other = _read(right, lexicon.right_lang, stems)
        return one, other, stem_links(ours, theirs, stems, lexicon)


def _read(sentences: Sequence[str], lang: str, stems: Stems) -> tuple[NDArray[np.int32], Text]:
    """Convert sentences to a text without its words, and return the number of each word's stem."""
    ids, offsets, lengths = stems.read(sentences, lang)
    vocabulary, made = _bags(ids, offsets, len(stems))
    return vocabulary, Text((), made, lengths)


def _bags(
    numbers: NDArray[np.int32], offsets: NDArray[np.int64], stems: int
) -> tuple[NDArray[np.int32], Bags]:
    """The numbers of stems in order of occurrence, and sentences as bags over that vocabulary."""
    if native() is not None:
        found = find_bags(numbers, offsets, stems)
        size = len(found.vocabulary)
        return found.vocabulary, Bags(found.word, found.times, found.offsets, size)
    flat = numbers.tolist()
    ids = {number: place for place, number in enumerate(dict.fromkeys(flat))}
    made = bags(np.array([ids[number] for number in flat], np.int32), offsets, len(ids))
    return np.array([*ids], np.int32), made
