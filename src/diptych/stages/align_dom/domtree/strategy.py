"""Node-by-node alignment of the trees of two pages, using texts and links (Shi et al. 2006)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.tree_align import decode
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.logistic import probability
from diptych.stages.align_dom.domtree.crossing import mutual_best, with_moved, with_swapped
from diptych.stages.align_dom.domtree.cut import cells, mirrored, pieces, sub_forest
from diptych.stages.align_dom.domtree.document import Document, document
from diptych.stages.align_dom.domtree.evidence import PairEvidence, read_evidence
from diptych.stages.align_dom.domtree.lists import (
    Items,
    ListTools,
    doubtful,
    pair_items_by_content,
)
from diptych.stages.align_dom.domtree.model import shipped_gains, shipped_parameters
from diptych.types import NodePair, Page

_NUMBER = re.compile(r"\d+")
_MAX_COUNTED_WORDS = 100  # words of a text that count in `per_word`


class _Match(NamedTuple):
    """Two aligned nodes, and the gain from aligning them."""

    left: int
    right: int
    gain: float


class _Part(NamedTuple):
    """A part of two trees, and the gain of each pair of their nodes."""

    left: slice
    right: slice
    trees: tuple[Document, Document]
    forests: tuple[NDArray[np.int32], NDArray[np.int32]]
    """the `leftmost` arrays of the part"""
    evidence: PairEvidence
    texts: NDArray[np.float32]
    """gains from texts and links"""
    gains: NDArray[np.float32]
    """gains from texts, links and tags"""

    @property
    def blocks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The block number of each node, or -1, for both sides."""
        return self.trees[0].blocks[self.left], self.trees[1].blocks[self.right]

    @property
    def words(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The number of words of each node, for both sides."""
        left, right = self.evidence.left.text, self.evidence.right.text
        return left.sizes[self.left], right.sizes[self.right]


@dataclass(frozen=True, slots=True)
class DomTree:
    """Aligns the trees of two pages by dynamic programming, preserving order and hierarchy.

    `DomTree.of_paper()` is the model as published, without any additional evidence.
    """

    uses_lexicon: ClassVar[bool] = True
    words: float = 1.0
    """weight of the translation model"""
    null: float = 0.4
    """share of known words without a translation; 0 means 1 / (words + 1), counting all words"""
    backward: float = 0.5
    """share of the word gain that comes from the opposite translation direction"""
    cognates: bool = True
    """True if words that are spelled alike count as translations"""
    length: float = 1.0
    """weight of text lengths"""
    one_sided: float = 3.0
    """cost, as -log, of aligning a node with text to a node without text"""
    same_link: float = 3.0
    """gain of two links to the same address; half as much if only the last parts are the same"""
    crossing: float = 4.0
    """texts are paired out of order only if they match better than any alternative by this margin;
    0 means never"""
    swap: float = 3.0
    """minimum increase in gain for pairing two neighbours crosswise"""
    per_word: float = 0.3
    """minimum gain per word of the shorter text for pairing out of order, because long texts share
    words by chance"""
    item: float = 3.0
    """items of lists are paired by content only if they match better than any alternative by this
    margin"""
    max_cells: int = 60_000_000
    """maximum number of table cells (about 0.1 s); larger trees are cut at sure matches"""

    @classmethod
    def of_paper(cls) -> DomTree:
        """Return the model as published: only tags and IBM Model 1, with the order preserved."""
        return cls(
            null=0.0, backward=0.0, cognates=False, length=0.0, one_sided=0.0, same_link=0.0,
            crossing=0.0,
        )  # fmt: skip

    def align(self, left: Page, right: Page, lexicon: Lexicon | None = None) -> list[NodePair]:
        """Align all blocks of two pages, and return the pairs in the order of the left page."""
        return self.align_with_links(left, right, lexicon)[0]

    def align_with_links(
        self, left: Page, right: Page, lexicon: Lexicon | None = None
    ) -> tuple[list[NodePair], list[tuple[str, str, float]]]:
        """Align two pages, and return the pairs of blocks and the pairs of links.

        Each pair of links is given as (left URL, right URL, score).
        """
        trees = document(left), document(right)
        matches = self._matches(trees, (left, right), lexicon)
        blocks = {
            trees[0].blocks[match.left]: (trees[1].blocks[match.right], match.gain)
            for match in matches
            if trees[0].blocks[match.left] >= 0 <= trees[1].blocks[match.right]
        }
        links = [
            (trees[0].hrefs[match.left], trees[1].hrefs[match.right], _score(match.gain))
            for match in matches
            if trees[0].hrefs[match.left] and trees[1].hrefs[match.right]
        ]
        return _in_order(left, right, blocks), links

    def _matches(
        self, trees: tuple[Document, Document], pages: tuple[Page, Page], lexicon: Lexicon | None
    ) -> list[_Match]:
        evidence = self.evidence(trees, pages, lexicon)
        left, right = trees
        cut = pieces(
            left.leftmost, right.leftmost, lambda: (_anchor_keys(left), _anchor_keys(right)),
            self.max_cells,
        )  # fmt: skip
        return [
            match
            for piece in cut
            for match in self._decoded(trees, evidence, piece.left, piece.right)
        ]

    def _decoded(
        self, trees: tuple[Document, Document], evidence: PairEvidence, ours: slice, theirs: slice
    ) -> list[_Match]:
        texts = evidence.gains(ours, theirs)
        parameters = shipped_parameters()
        rows = parameters.numbers(trees[0].tags[ours])
        columns = parameters.numbers(trees[1].tags[theirs])
        gains = texts + shipped_gains()[rows][:, columns]
        forests = sub_forest(trees[0].leftmost, ours), sub_forest(trees[1].leftmost, theirs)
        pairs = best_alignment(*forests, gains)
        if self.crossing:
            pairs = self._reordered(
                pairs, _Part(ours, theirs, trees, forests, evidence, texts, gains)
            )
        start, other = ours.start, theirs.start
        found = gains[[i for i, _ in pairs], [j for _, j in pairs]].tolist()
        return [
            _Match(start + i, other + j, gain) for (i, j), gain in zip(pairs, found, strict=True)
        ]

    def _reordered(self, pairs: list[tuple[int, int]], part: _Part) -> list[tuple[int, int]]:
        """Pair the texts that match although their order differs, and items of lists by content."""
        blocks = _block_nodes(part.blocks[0]), _block_nodes(part.blocks[1])
        ours, theirs = part.words

        def surplus(rows: list[int], columns: list[int]) -> NDArray[np.float32]:
            sizes = np.minimum.outer(ours[rows], theirs[columns])
            least = self.per_word * np.minimum(sizes, _MAX_COUNTED_WORDS)
            return (part.gains[np.ix_(rows, columns)] - least).astype(np.float32)

        pairs = with_swapped(pairs, blocks, part.gains, self.swap)
        pairs = with_moved(pairs, blocks, surplus, self.crossing)
        return self._by_content(pairs, part)

    def _by_content(self, pairs: list[tuple[int, int]], part: _Part) -> list[tuple[int, int]]:
        """Pair the items of lists by content, if the alignment is in doubt."""
        contents = part.evidence.contents(part.left, part.right, part.texts)
        texts = (
            _text_nodes(part.blocks[0], contents.left),
            _text_nodes(part.blocks[1], contents.right),
        )
        doubts = doubtful(pairs, texts, contents)
        if not len(doubts[0]):
            return pairs
        left, right = part.forests

        def align(ours: slice, theirs: slice) -> list[tuple[int, int]]:
            forests = sub_forest(left, ours), sub_forest(right, theirs)
            found = best_alignment(*forests, np.ascontiguousarray(part.gains[ours, theirs]))
            return [(ours.start + one, theirs.start + other) for one, other in found]

        def best(gains: NDArray[np.float32]) -> list[tuple[int, int]]:
            # Items of the same lists need less evidence than texts anywhere on the pages.
            return mutual_best(gains + np.float32(self.item), self.item)

        items = (
            Items.around(doubts[0], part.trees[0], part.left, left, texts[0]),
            Items.around(doubts[1], part.trees[1], part.right, right, texts[1]),
        )
        tools = ListTools(contents, align, part.words, self.per_word, best)
        return pair_items_by_content(pairs, items, tools)

    def evidence(
        self, trees: tuple[Document, Document], pages: tuple[Page, Page], lexicon: Lexicon | None
    ) -> PairEvidence:
        """Compute the text evidence for two document trees, with the weights of this strategy."""
        if lexicon is None:
            lexicon = Lexicon.empty(pages[0].lang, pages[1].lang)
        return read_evidence(trees, lexicon, self)


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


def _anchor_keys(tree: Document) -> list[Hashable]:
    """The anchor key of each node: its tag, and the numbers in its text or else the whole text.

    Numbers are used if they are long enough.  The key is None if the text is too short.
    """
    keys: list[Hashable] = []
    for tag, text in zip(tree.tags, tree.texts, strict=True):
        numbers = tuple(_NUMBER.findall(text)) if len(text) < 10_000 else ()
        is_short = len(text) < 4
        keys.append(
            (tag, numbers) if sum(map(len, numbers)) > 3 else None if is_short else (tag, text)
        )
    return keys


def _block_nodes(numbers: Sequence[int]) -> list[int]:
    """The indices of the nodes that represent blocks, given the block number of each node."""
    return [node for node, number in enumerate(numbers) if number >= 0]


def _text_nodes(numbers: Sequence[int], lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """The indices of the nodes that represent blocks with text."""
    return np.flatnonzero((np.array(numbers, np.int64) >= 0) & (lengths > 0))


def _in_order(left: Page, right: Page, matched: dict[int, tuple[int, float]]) -> list[NodePair]:
    """Return all pairs and unpaired blocks in left-page order.

    `matched` maps the number of a left block to the number of its right block and their gain.  An
    unpaired right block comes before the first pair that contains a later right block.
    """
    paired = {other for other, _ in matched.values()}
    found: list[NodePair] = []
    shown = 0
    for number, block in enumerate(left.blocks):
        if number not in matched:
            found.append(NodePair((block,), (), 0.0))
            continue
        other, gain = matched[number]
        while shown < other:
            if shown not in paired:
                found.append(NodePair((), (right.blocks[shown],), 0.0))
            shown += 1
        found.append(NodePair((block,), (right.blocks[other],), _score(gain)))
    found += [
        NodePair((), (right.blocks[at],), 0.0)
        for at in range(shown, len(right.blocks))
        if at not in paired
    ]
    return found


def _score(gain: float) -> float:
    """Convert the gain of a pair to a score between 0 and 1."""
    return probability(gain / 2)
