"""Node-by-node alignment of the trees of two pages, using texts and links (Shi et al. 2006)."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.tree_match import Matched
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.logistic import probability
from diptych.stages.align_dom.domtree.crossing import mutual_best
from diptych.stages.align_dom.domtree.cut import pieces, sub_forest
from diptych.stages.align_dom.domtree.document import Document, document
from diptych.stages.align_dom.domtree.evidence import PairEvidence, read_evidence
from diptych.stages.align_dom.domtree.lists import Items, ListTools, pair_items_by_content
from diptych.stages.align_dom.domtree.matching import Part, best_alignment, match_nodes
from diptych.types import NodePair, Page

_NUMBER = re.compile(r"\d+")


class _Matches(NamedTuple):
    """The aligned nodes of two trees, and the gain from aligning each pair."""

    left: list[int]
    right: list[int]
    gains: list[float]


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
        trees = document(left, with_links=False), document(right, with_links=False)
        matches = self._matches(trees, (left, right), lexicon)
        return _in_order(left, right, _block_pairs(trees, matches))

    def align_with_links(
        self, left: Page, right: Page, lexicon: Lexicon | None = None
    ) -> tuple[list[NodePair], list[tuple[str, str, float]]]:
        """Align two pages, and return the pairs of blocks and the pairs of links.

        Each pair of links is given as (left URL, right URL, score).
        """
        trees = document(left), document(right)
        matches = self._matches(trees, (left, right), lexicon)
        here, there = trees[0].hrefs, trees[1].hrefs
        links = [
            (here[one], there[other], _score(gain))
            for one, other, gain in zip(*matches, strict=True)
            if here[one] and there[other]
        ]
        return _in_order(left, right, _block_pairs(trees, matches)), links

    def _matches(
        self, trees: tuple[Document, Document], pages: tuple[Page, Page], lexicon: Lexicon | None
    ) -> _Matches:
        evidence = self.evidence(trees, pages, lexicon)
        left, right = trees
        cut = pieces(
            left.leftmost, right.leftmost, lambda: (_anchor_keys(left), _anchor_keys(right)),
            self.max_cells,
        )  # fmt: skip
        found = _Matches([], [], [])
        for piece in cut:
            part = Part.of(trees, evidence, piece.left, piece.right)
            matched = match_nodes(part, self)
            partners = self._by_content(part, matched) if len(matched.doubts) else matched.partners
            rows = np.flatnonzero(partners >= 0)
            columns = partners[rows]
            found.left.extend((rows + piece.left.start).tolist())
            found.right.extend((columns + piece.right.start).tolist())
            found.gains.extend(matched.gains[rows, columns].tolist())
        return found

    def _by_content(self, part: Part, matched: Matched) -> NDArray[np.int32]:
        """Pair the items of lists by content; return the partner of each left node, or -1."""
        contents = part.contents(matched.texts)
        texts, (left, right) = part.text_nodes(contents), part.forests

        def align(ours: slice, theirs: slice) -> list[tuple[int, int]]:
            forests = sub_forest(left, ours), sub_forest(right, theirs)
            found = best_alignment(*forests, np.ascontiguousarray(matched.gains[ours, theirs]))
            return [(ours.start + one, theirs.start + other) for one, other in found]

        def best(gains: NDArray[np.float32]) -> list[tuple[int, int]]:
            # Items of the same lists need less evidence than texts anywhere on the pages.
            return mutual_best(gains + np.float32(self.item), self.item)

        items = (
            Items.around(matched.doubts, part.trees[0], part.left, left, texts[0]),
            Items.around(
                matched.partners[matched.doubts], part.trees[1], part.right, right, texts[1]
            ),
        )
        tools = ListTools(contents, align, part.words, self.per_word, best)
        return pair_items_by_content(matched.partners, items, tools)

    def evidence(
        self, trees: tuple[Document, Document], pages: tuple[Page, Page], lexicon: Lexicon | None
    ) -> PairEvidence:
        """Compute the text evidence for two document trees, with the weights of this strategy."""
        if lexicon is None:
            lexicon = Lexicon.empty(pages[0].lang, pages[1].lang)
        return read_evidence(trees, lexicon, self)


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


def _block_pairs(
    trees: tuple[Document, Document], matches: _Matches
) -> dict[int, tuple[int, float]]:
    """Map the number of each left block that is aligned to its right block and their gain."""
    ours, theirs = trees[0].blocks, trees[1].blocks
    return {
        ours[one]: (theirs[other], gain)
        for one, other, gain in zip(*matches, strict=True)
        if ours[one] >= 0 <= theirs[other]
    }


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
