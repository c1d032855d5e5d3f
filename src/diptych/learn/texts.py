"""A text as aligners see it: bags of stems, and how long its sentences are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.ibm1 import Bags, Postings, bags, postings
from diptych.text.cognates import stem
from diptych.text.lengths import text_length
from diptych.text.tokens import tokens

__all__ = ["Text", "read_text"]


@dataclass(frozen=True, eq=False)
class Text:
    """Sentences as bags of words of one vocabulary, in order."""

    words: tuple[str, ...]
    """the vocabulary"""
    bags: Bags
    lengths: NDArray[np.float64]
    """in letters, of each sentence"""

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def postings(self) -> Postings:
        """The sentences each word is in."""
        return postings(self.bags)

    @cached_property
    def lengths_before(self) -> NDArray[np.float64]:
        """Letters before each sentence and at the end."""
        return np.concatenate((np.zeros(1), np.cumsum(self.lengths)))

    @cached_property
    def words_before(self) -> NDArray[np.float64]:
        """Words before each sentence and at the end; one without any counts as one."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.bags.offsets))
        counts = np.bincount(rows, self.bags.count, len(self))
        return np.concatenate((np.zeros(1), np.cumsum(np.maximum(counts, 1.0))))

    def coarser(self) -> Text:
        """The text with its sentences joined two by two."""
        return self.grouped(np.arange(len(self)) // 2)

    def grouped(self, group: NDArray[np.int64]) -> Text:
        """The text with the sentences of each group joined; groups ascend from 0, -1 is none."""
        count = int(group.max(initial=-1)) + 1
        rows = np.repeat(group, np.diff(self.bags.offsets))
        kept = rows >= 0
        size = max(self.bags.size, 1)
        keys, place = np.unique(rows[kept] * size + self.bags.word[kept], return_inverse=True)
        counts = np.bincount(place, self.bags.count[kept], len(keys)).astype(np.float32)
        offsets = np.searchsorted(keys, np.arange(count + 1) * size).astype(np.int64)
        joined = Bags((keys % size).astype(np.int32), counts, offsets, self.bags.size)
        lengths = np.bincount(group[group >= 0], self.lengths[group >= 0], count)
        return Text(self.words, joined, lengths.astype(np.float64))


def read_text(sentences: Sequence[str], lang: str) -> Text:
    """The words of each sentence as stems, and its length."""
    ids: dict[str, int] = {}
    rows = [[ids.setdefault(stem(word), len(ids)) for word in tokens(s, lang)] for s in sentences]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    flat = np.fromiter((word for row in rows for word in row), np.int32, int(offsets[-1]))
    lengths = np.array([text_length(sentence) for sentence in sentences], np.float64)
    return Text(tuple(ids), bags(flat, offsets, len(ids)), lengths)
