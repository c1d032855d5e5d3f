"""Evidence that two nodes correspond, from their words, text lengths and links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.length_costs import length_cost
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_dom.domtree.document import Document
from diptych.stages.align_dom.domtree.word_gains import NodeTexts, WordGains, read_words
from diptych.stages.align_dom.flat import length_ratio

if TYPE_CHECKING:
    from diptych.stages.align_dom.domtree.strategy import DomTree

FINE_BINS, BIN_RATIO = 20, 1.07
"""bins of lengths: linear up to this length, then growing by this factor"""
_BINS = 128  # up to 29,000 characters


class PairEvidence(NamedTuple):
    """The words, lengths and links of two documents, used to compute the gains of node pairs."""

    words: WordGains
    left: NodeTexts
    right: NodeTexts
    links: tuple[LinkNumbers, LinkNumbers]
    ratio: float
    weights: DomTree
    """the weight of each kind of evidence"""

    def gains(self, ours: slice, theirs: slice) -> NDArray[np.float32]:
        """The gain of each pair of a left node in `ours` and a right node in `theirs`.

        The gain from texts is the log of Pr(text | other text) / Pr(text | NULL).
        """
        weights = self.weights
        left, right = self.left.lengths[ours], self.right.lengths[theirs]
        rows, columns = np.flatnonzero(left > 0), np.flatnonzero(right > 0)
        gains = np.zeros((len(left), len(right)), np.float32)
        gains[rows] = gains[:, columns] = -weights.one_sided
        # Half of all nodes have no text and are skipped.
        words = self.words.between(rows + ours.start, columns + theirs.start)
        lengths = length_gains(left[rows] * self.ratio, right[columns])
        gains[np.ix_(rows, columns)] = weights.words * words + weights.length * lengths
        if weights.same_link:
            _add_links(gains, self.links[0].part(ours), self.links[1].part(theirs), weights)
        return gains

    def contents(self, ours: slice, theirs: slice, gains: NDArray[np.float32]) -> Contents:
        """What the given gains of nodes owe to their words and links, not to their lengths."""
        lengths = self.left.lengths[ours] * self.ratio, self.right.lengths[theirs]
        return Contents(gains, *lengths, self.weights.length)


@dataclass(frozen=True, eq=False)
class Contents:
    """The gains of node pairs from their words and links alone."""

    gains: NDArray[np.float32]
    """gains from words, links and lengths"""
    left: NDArray[np.float64]
    """length of the text of each left node; 0 if it has no text"""
    right: NDArray[np.float64]
    weight: float
    """weight of the lengths"""

    @cached_property
    def bins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The bin number of each length, for both sides."""
        return _bins(self.left), _bins(self.right)

    def of_pairs(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each pair of a left node in `rows` and the right node in `columns`."""
        lengths = length_table()[self.bins[0][rows], self.bins[1][columns]]
        found: NDArray[np.float32] = self.gains[rows, columns] - self.weight * lengths
        return found

    def between(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each left node in `rows` with each right node in `columns`."""
        lengths = length_table()[self.bins[0][rows]][:, self.bins[1][columns]]
        found: NDArray[np.float32] = self.gains[rows][:, columns] - self.weight * lengths
        return found


def read_evidence(
    trees: tuple[Document, Document], lexicon: Lexicon, weights: DomTree
) -> PairEvidence:
    """Compute the evidence for all nodes of two documents, with the given weights."""
    words = read_words((trees[0].texts, trees[1].texts), lexicon, weights)
    left, right = words.texts
    ratio = length_ratio(float(left.lengths.sum()), float(right.lengths.sum()))
    links = number_links(trees[0].hrefs, trees[1].hrefs)
    return PairEvidence(words, left, right, links, ratio, weights)


def length_gains(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float32]:
    """The gain of each pair of text lengths; similar lengths count more if the texts are long."""
    return length_table()[_bins(left)][:, _bins(right)]


def _bins(lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin number of each length; bins are linear for short and logarithmic for long texts."""
    fine = np.minimum(lengths, FINE_BINS)
    coarse = np.log(np.maximum(lengths, FINE_BINS) / FINE_BINS) / np.log(BIN_RATIO)
    bins: NDArray[np.int64] = np.minimum(np.rint(fine + coarse), _BINS - 1).astype(np.int64)
    return bins


@cache
def length_table() -> NDArray[np.float32]:
    """The gain of each pair of bins of lengths."""
    at = [
        float(k) if k <= FINE_BINS else FINE_BINS * BIN_RATIO ** (k - FINE_BINS)
        for k in range(_BINS)
    ]
    table = np.zeros((_BINS, _BINS), np.float32)
    for row, left in enumerate(at):
        for column, right in enumerate(at[: row + 1]):
            gain = 0.5 * math.log1p((left + right) / 20) - length_cost(left, right)
            table[row, column] = table[column, row] = gain
    return table


class LinkNumbers(NamedTuple):
    """The numbers of the links of nodes; equal links of both documents have the same numbers."""

    hrefs: NDArray[np.int32]
    """number of the URL, or -1 if the node is no link"""
    names: NDArray[np.int32]
    """number of the last part of the URL, or -1 if the node is no link"""

    def part(self, nodes: slice) -> LinkNumbers:
        """The numbers of some nodes."""
        return LinkNumbers(self.hrefs[nodes], self.names[nodes])


def number_links(left: Sequence[str], right: Sequence[str]) -> tuple[LinkNumbers, LinkNumbers]:
    """Number the links of two documents, given the URL of each node, empty if it is no link."""
    urls: dict[str, int] = {"": -1}
    names: dict[str, int] = {}
    name_of: list[int] = []
    found = []
    for hrefs in (left, right):
        for href in dict.fromkeys(hrefs):
            if href not in urls:
                name_of.append(names.setdefault(_name(href), len(names)))
                urls[href] = len(urls) - 1
        numbers = np.array([urls[href] for href in hrefs], np.int32)
        found.append(LinkNumbers(numbers, np.array([*name_of, -1], np.int32)[numbers]))
    return found[0], found[1]


def _add_links(
    gains: NDArray[np.float32], left: LinkNumbers, right: LinkNumbers, weights: DomTree
) -> None:
    """Add a gain to each pair of links that have the same URL.

    If only the last parts of the URLs are the same, half of it is added.
    """
    rows, columns = np.flatnonzero(left.hrefs >= 0), np.flatnonzero(right.hrefs >= 0)
    for ours, theirs in zip(left, right, strict=True):
        is_same = np.equal.outer(ours[rows], theirs[columns])
        gains[np.ix_(rows, columns)] += np.float32(weights.same_link / 2) * is_same


def _name(href: str) -> str:
    """The part of a URL after its last slash, ignoring trailing slashes.

    >>> _name("http://a.test/en/help.html#top")
    'help.html#top'
    """
    return href.rstrip("/").rpartition("/")[2]
