"""Evidence that two nodes correspond, from their words, text lengths and links.

Words are scored by IBM Model 1, as in Shi et al. 2006, relative to their frequency.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.beads import Windows, word_gains
from diptych.kernels.ibm1 import Bags
from diptych.kernels.length_costs import length_cost
from diptych.kernels.tables import Table
from diptych.learn.lexicon.bags import Text, read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import lexicon_links, lifts, trust, vocabulary_links
from diptych.stages.align_dom.domtree.document import Document
from diptych.stages.align_dom.flat import length_ratio

if TYPE_CHECKING:
    from diptych.stages.align_dom.domtree.strategy import DomTree

_MAX_CHARACTERS = 4_000  # per node: longer texts add no certainty
_FINE_BINS, _BIN_RATIO, _BINS = 20, 1.07, 128  # up to 29,000 characters
# DEVIATION(shi): a share of the known words has no translation, instead of one word in l + 1:
# otherwise a long text would explain every word.  Words that the lexicon does not know are no
# evidence.
_MIN_NULL = 1e-9  # null share if the empty word is used instead


class PairEvidence(NamedTuple):
    """The words, lengths and links of two documents, used to compute the gains of node pairs."""

    left: _NodeWords
    right: _NodeWords
    hrefs: tuple[Sequence[str], Sequence[str]]
    links: tuple[Table, Table]
    ratio: float
    weights: DomTree
    """the weight of each kind of evidence"""

    def gains(self, ours: slice, theirs: slice) -> NDArray[np.float32]:
        """The gain of each pair of a left node in `ours` and a right node in `theirs`.

        The gain from texts is the log of Pr(text | other text) / Pr(text | NULL).
        """
        weights = self.weights
        left, right = self.left.text.lengths[ours], self.right.text.lengths[theirs]
        rows, columns = np.flatnonzero(left > 0), np.flatnonzero(right > 0)
        gains = np.zeros((len(left), len(right)), np.float32)
        gains[rows] = gains[:, columns] = -weights.one_sided
        # Half of all nodes have no text and are skipped.
        words = self._words(rows + ours.start, columns + theirs.start)
        lengths = length_gains(left[rows] * self.ratio, right[columns])
        gains[np.ix_(rows, columns)] = weights.words * words + weights.length * lengths
        if weights.same_link:
            _add_links(gains, self.hrefs[0][ours], self.hrefs[1][theirs], weights.same_link)
        return gains

    def _words(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The word gain of each pair of nodes, averaged over both translation directions."""
        weights = self.weights
        found = _gains(self.left, self.right, self.links[0], rows, columns, weights.null)
        if not weights.backward:
            return found
        turned = _gains(self.right, self.left, self.links[1], columns, rows, weights.null)
        return (1 - weights.backward) * found + weights.backward * turned.T

    def contents(self, ours: slice, theirs: slice, gains: NDArray[np.float32]) -> Contents:
        """What the given gains of nodes owe to their words and links, not to their lengths."""
        lengths = self.left.text.lengths[ours] * self.ratio, self.right.text.lengths[theirs]
        return Contents(gains, *lengths, self.weights.length)


class Contents(NamedTuple):
    """The gains of node pairs from their words and links alone."""

    gains: NDArray[np.float32]
    """gains from words, links and lengths"""
    left: NDArray[np.float64]
    """length of the text of each left node; 0 if it has no text"""
    right: NDArray[np.float64]
    weight: float
    """weight of the lengths"""

    def of_pairs(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each pair of a left node in `rows` and the right node in `columns`."""
        lengths = _length_table()[_bins(self.left[rows]), _bins(self.right[columns])]
        found: NDArray[np.float32] = self.gains[rows, columns] - self.weight * lengths
        return found

    def between(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each left node in `rows` with each right node in `columns`."""
        lengths = length_gains(self.left[rows], self.right[columns])
        found: NDArray[np.float32] = self.gains[np.ix_(rows, columns)] - self.weight * lengths
        return found


class _NodeWords(NamedTuple):
    """The words of a document's nodes, and their weights as evidence."""

    text: Text
    rows: Bags
    """word counts, each multiplied by the weight of its word"""
    words_before: NDArray[np.float64]
    loose_before: NDArray[np.float64]

    @classmethod
    def of(cls, text: Text, trust: NDArray[np.float64]) -> _NodeWords:
        """Weight each word by `trust`, the probability that its translation would be recognised.

        The rest of a word's count is no evidence: it may be a translation of any word.
        """
        bags, share = text.bags, trust[text.bags.word]
        node = np.repeat(np.arange(len(text)), np.diff(bags.offsets))
        loose = np.bincount(node, bags.count * (1 - share), len(text)).astype(np.float64)
        loose[text.sizes == 0] = 1.0
        rows = Bags(bags.word, (bags.count * share).astype(np.float32), bags.offsets, bags.size)
        return cls(text, rows, text.words_before, _cumulative(loose))

    @classmethod
    def of_paper(cls, text: Text) -> _NodeWords:
        """Give all words the same weight, and add an empty word to each text, as in the paper.

        The empty word may translate to any word.
        """
        return cls(text, text.bags, _cumulative(text.sizes + 1), _cumulative(np.ones(len(text))))


def _cumulative(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate((np.zeros(1), np.cumsum(counts)))


def _gains(
    left: _NodeWords,
    right: _NodeWords,
    links: Table,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    null: float,
) -> NDArray[np.float32]:
    """The matrix of word gains of the left texts `rows`, given the right texts `columns`.

    `links` contains the lift of each word pair, and `null` is the share of words without a
    translation.
    """
    low, high = np.zeros((2, len(left.text)), np.int32)
    if len(rows) and len(columns):
        first, last = int(columns[0]), int(columns[-1]) + 1
        low[rows], high[rows] = first, last
        columns = columns - first
    found = word_gains(
        left.rows, links, right.text.postings, right.words_before, Windows(low, high),
        sizes=1, null_share=null or _MIN_NULL, loose_before=right.loose_before,
    )  # fmt: skip
    return found.reshape(len(rows), -1)[:, columns] if len(rows) else found[:, :0].T


def read_evidence(
    trees: tuple[Document, Document], lexicon: Lexicon, weights: DomTree
) -> PairEvidence:
    """Compute the evidence for all nodes of two documents, with the given weights."""
    left, right = (
        read_text([text[:_MAX_CHARACTERS] for text in tree.texts], lang)
        for tree, lang in zip(trees, (lexicon.left_lang, lexicon.right_lang), strict=True)
    )
    find = vocabulary_links if weights.cognates else lexicon_links
    links = find(left.words, right.words, lexicon)
    if weights.null:
        trusts = trust((left.words, left.bags), (right.words, right.bags), lexicon)
        known = _NodeWords.of(left, trusts[0]), _NodeWords.of(right, trusts[1])
    else:
        known = _NodeWords.of_paper(left), _NodeWords.of_paper(right)
    hrefs = trees[0].hrefs, trees[1].hrefs
    tables = lifts(links, left.bags, right.bags)
    ratio = length_ratio(float(left.lengths.sum()), float(right.lengths.sum()))
    return PairEvidence(*known, hrefs, tables, ratio, weights)


def length_gains(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float32]:
    """The gain of each pair of text lengths; similar lengths count more if the texts are long."""
    return _length_table()[_bins(left)][:, _bins(right)]


def _bins(lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin number of each length; bins are linear for short and logarithmic for long texts."""
    fine = np.minimum(lengths, _FINE_BINS)
    coarse = np.log(np.maximum(lengths, _FINE_BINS) / _FINE_BINS) / np.log(_BIN_RATIO)
    bins: NDArray[np.int64] = np.minimum(np.rint(fine + coarse), _BINS - 1).astype(np.int64)
    return bins


@cache
def _length_table() -> NDArray[np.float32]:
    at = [
        float(k) if k <= _FINE_BINS else _FINE_BINS * _BIN_RATIO ** (k - _FINE_BINS)
        for k in range(_BINS)
    ]
    table = np.zeros((_BINS, _BINS), np.float32)
    for row, left in enumerate(at):
        for column, right in enumerate(at[: row + 1]):
            gain = 0.5 * math.log1p((left + right) / 20) - length_cost(left, right)
            table[row, column] = table[column, row] = gain
    return table


def _add_links(
    gains: NDArray[np.float32], left: Sequence[str], right: Sequence[str], weight: float
) -> None:
    """Add `weight` to the gain of each pair of links that have the same URL.

    If only the last parts of the URLs are the same, half of `weight` is added.
    """
    rows = [node for node, href in enumerate(left) if href]
    columns = [node for node, href in enumerate(right) if href]
    if not rows or not columns:
        return
    names: tuple[Callable[[str], str], ...] = (str, _name)
    for name in names:
        numbers: dict[str, int] = {}
        ours = [numbers.setdefault(name(left[node]), len(numbers)) for node in rows]
        theirs = [numbers.get(name(right[node]), -1) for node in columns]
        is_same = np.equal.outer(ours, theirs)
        gains[np.ix_(rows, columns)] += np.float32(weight / 2) * is_same


def _name(href: str) -> str:
    """The part of a URL after its last slash, ignoring trailing slashes.

    >>> _name("http://a.test/en/help.html#top")
    'help.html#top'
    """
    return href.rstrip("/").rpartition("/")[2]
