"""The alignment of the nodes of two trees: the best one in order, then pairs out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.tree_align import decode
from diptych.kernels.tree_match import Matched, MatchSettings, NodeColumns, match
from diptych.stages.align_dom.domtree.crossing import with_moved, with_swapped
from diptych.stages.align_dom.domtree.cut import cells, mirrored, sub_forest
from diptych.stages.align_dom.domtree.document import Document
from diptych.stages.align_dom.domtree.evidence import (
    BIN_RATIO,
    FINE_BINS,
    Contents,
    PairEvidence,
    length_table,
)
from diptych.stages.align_dom.domtree.lists import NO_EVIDENCE, doubtful
from diptych.stages.align_dom.domtree.model import shipped_gains, shipped_parameters
from diptych.stages.align_dom.domtree.word_gains import WordMatrix

if TYPE_CHECKING:
    from diptych.stages.align_dom.domtree.strategy import DomTree

_MAX_COUNTED_WORDS = 100  # words of a text that count in `per_word`


class Part(NamedTuple):
    """A part of two trees."""

    left: slice
    right: slice
    trees: tuple[Document, Document]
    forests: tuple[NDArray[np.int32], NDArray[np.int32]]
    """the `leftmost` arrays of the part"""
    blocks: tuple[NDArray[np.int32], NDArray[np.int32]]
    """the block number of each node, or -1"""
    evidence: PairEvidence

    @classmethod
    def of(
        cls, trees: tuple[Document, Document], evidence: PairEvidence, left: slice, right: slice
    ) -> Part:
        """Return the part of two trees that consists of the given nodes."""
        forests = sub_forest(trees[0].leftmost, left), sub_forest(trees[1].leftmost, right)
        blocks = (
            np.array(trees[0].blocks[left], np.int32),
            np.array(trees[1].blocks[right], np.int32),
        )
        return cls(left, right, trees, forests, blocks, evidence)

    @property
    def words(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The number of words of each node, for both sides."""
        left, right = self.evidence.left, self.evidence.right
        return left.sizes[self.left], right.sizes[self.right]

    @property
    def tags(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The index of each node's tag in the trained parameters, for both sides."""
        numbers = shipped_parameters().numbers
        return numbers(self.trees[0].tags[self.left]), numbers(self.trees[1].tags[self.right])

    def contents(self, texts: NDArray[np.float32]) -> Contents:
        """What the gains from texts owe to words and links."""
        return self.evidence.contents(self.left, self.right, texts)

    def text_nodes(self, contents: Contents) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes that represent blocks with text, for both sides."""
        return (
            np.flatnonzero((self.blocks[0] >= 0) & (contents.left > 0)),
            np.flatnonzero((self.blocks[1] >= 0) & (contents.right > 0)),
        )


def match_nodes(part: Part, weights: DomTree) -> Matched:
    """Align the nodes of a part of two trees."""
    words = part.evidence.words
    if not isinstance(words, WordMatrix):
        return match_reference(part, weights)
    (ours, theirs), evidence = words.rows, part.evidence
    lengths = evidence.left.lengths[part.left] * evidence.ratio, evidence.right.lengths[part.right]
    tags, sizes, links = part.tags, part.words, evidence.links
    return match(
        NodeColumns(
            ours[part.left], lengths[0], tags[0], *links[0].part(part.left), sizes[0],
            part.blocks[0], part.forests[0],
        ),
        NodeColumns(
            theirs[part.right], lengths[1], tags[1], *links[1].part(part.right), sizes[1],
            part.blocks[1], part.forests[1],
        ),
        words.gains,
        MatchSettings(
            weights.words, weights.length, weights.one_sided, weights.same_link, FINE_BINS,
            BIN_RATIO, length_table(), shipped_gains(), weights.swap, weights.crossing,
            weights.per_word, _MAX_COUNTED_WORDS, NO_EVIDENCE,
        ),
    )  # fmt: skip


def match_reference(part: Part, weights: DomTree) -> Matched:
    """Compute `match_nodes` in Python, as the reference implementation and the fallback."""
    texts = part.evidence.gains(part.left, part.right)
    rows, columns = part.tags
    gains = texts + shipped_gains()[rows][:, columns]
    pairs = best_alignment(*part.forests, gains)
    doubts = np.empty(0, np.int64)
    if weights.crossing:
        pairs = _reordered(pairs, part, gains, weights)
        contents = part.contents(texts)
        doubts = doubtful(pairs, part.text_nodes(contents), contents)
    partners = np.full(len(gains), -1, np.int32)
    partners[[i for i, _ in pairs]] = [j for _, j in pairs]
    return Matched(texts, gains, partners, doubts.astype(np.int32))


def _reordered(
    pairs: list[tuple[int, int]], part: Part, gains: NDArray[np.float32], weights: DomTree
) -> list[tuple[int, int]]:
    """Pair the texts that match although their order differs."""
    left, right = (np.flatnonzero(numbers >= 0).tolist() for numbers in part.blocks)
    blocks, (ours, theirs) = (left, right), part.words

    def surplus(rows: list[int], columns: list[int]) -> NDArray[np.float32]:
        sizes = np.minimum.outer(ours[rows], theirs[columns])
        least = weights.per_word * np.minimum(sizes, _MAX_COUNTED_WORDS)
        return (gains[np.ix_(rows, columns)] - least).astype(np.float32)

    pairs = with_swapped(pairs, blocks, gains, weights.swap)
    return with_moved(pairs, blocks, surplus, weights.crossing)


def best_alignment(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float32]
) -> list[tuple[int, int]]:
    """Find the alignment of two forests with the highest total gain.

    `left` and `right` are the `leftmost` arrays of the forests.  Both forests are mirrored if that
    needs fewer table cells.
    """
    (numbers, tree), (others, other_tree) = mirrored(left), mirrored(right)
    if cells(left, right) <= cells(tree, other_tree):
        return decode(left, right, gains)
    back, other_back = np.argsort(numbers), np.argsort(others)
    pairs = decode(tree, other_tree, gains[np.ix_(back, other_back)])
    return sorted((int(back[i]), int(other_back[j])) for i, j in pairs)
