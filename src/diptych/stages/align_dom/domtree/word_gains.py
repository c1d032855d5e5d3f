"""The gain of two nodes from their words: IBM Model 1, as in Shi et al. 2006.

The gain is the log of Pr(text | other text) / Pr(text | NULL), relative to word frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.beads import Windows, word_gains
from diptych.kernels.ibm1 import Bags
from diptych.kernels.tables import Table
from diptych.kernels.word_evidence import (
    EvidenceSettings,
    SideArrays,
    TextBags,
    find_bags,
    find_text_gains,
)
from diptych.learn.lexicon.bags import Text, read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import Stems, borrowed_stems, known_stems
from diptych.learn.lexicon.word_links import (
    BASE,
    FREQUENT,
    LOOKS,
    MIN_LIFT,
    NAME,
    NUMBER,
    RARE,
    lexicon_links,
    lifts,
    trust,
    vocabulary_links,
)

if TYPE_CHECKING:
    from diptych.stages.align_dom.domtree.strategy import DomTree

_MAX_CHARACTERS = 4_000  # per node: longer texts add no certainty
_MAX_PAIRS = 4_000_000  # of texts whose gains are computed at once: 16 MB for each direction
# DEVIATION(shi): a share of the known words has no translation, instead of one word in l + 1:
# otherwise a long text would explain every word.  Words that the lexicon does not know are no
# evidence.
_MIN_NULL = 1e-9  # null share if the empty word is used instead


class NodeTexts(NamedTuple):
    """The texts of a document's nodes."""

    lengths: NDArray[np.float64]
    """length of each text in letters"""
    sizes: NDArray[np.float64]
    """number of words of each text"""


class WordGains(Protocol):
    """The gains of node pairs from their words."""

    @property
    def texts(self) -> tuple[NodeTexts, NodeTexts]:
        """The texts of both documents."""

    def between(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each left node in `rows` with each right node in `columns`."""


def read_words(
    texts: tuple[Sequence[str], Sequence[str]], lexicon: Lexicon, weights: DomTree
) -> WordGains:
    """Read the texts of the nodes of two documents, with the weights of a strategy."""
    some, others = ([node for node, text in enumerate(each) if text] for each in texts)
    if native() is None or len(some) * len(others) > _MAX_PAIRS:
        return read_tables(texts, lexicon, weights)
    if not weights.null or not weights.cognates:
        return read_tables(texts, lexicon, weights)
    return _read_matrix(texts, (some, others), lexicon, weights)


class WordMatrix(NamedTuple):
    """The gains of all pairs of texts, computed at once."""

    gains: NDArray[np.float32]
    rows: tuple[NDArray[np.int32], NDArray[np.int32]]
    """for each node of both documents, its row or column in `gains`, or -1 if it has no text"""
    texts: tuple[NodeTexts, NodeTexts]

    def between(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each left node in `rows` with each right node in `columns`."""
        return self.gains[self.rows[0][rows]][:, self.rows[1][columns]]


class _SideTexts(NamedTuple):
    """The texts of a document as bags of words; nodes without text are left out."""

    bags: TextBags
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    """for each node, the index of its text, or -1"""
    texts: NodeTexts


def _read_matrix(
    texts: tuple[Sequence[str], Sequence[str]],
    nodes: tuple[list[int], list[int]],
    lexicon: Lexicon,
    weights: DomTree,
) -> WordMatrix:
    """Compute the gains of all pairs of texts with the compiled kernel."""
    settings = EvidenceSettings(RARE, BASE, MIN_LIFT, NAME, NUMBER, FREQUENT, weights.null)
    with borrowed_stems() as stems:
        left = _side_texts(texts[0], nodes[0], stems, lexicon.left_lang)
        right = _side_texts(texts[1], nodes[1], stems, lexicon.right_lang)
        ours, theirs = (
            SideArrays(side.bags, side.offsets, np.zeros(len(side.bags.vocabulary)), *known)
            for side, known in zip((left, right), known_stems(stems, lexicon), strict=True)
        )
        gains = find_text_gains(ours, theirs, stems.arrays(), LOOKS, settings, weights.backward)
    return WordMatrix(gains, (left.rows, right.rows), (left.texts, right.texts))


def _side_texts(texts: Sequence[str], nodes: list[int], stems: Stems, lang: str) -> _SideTexts:
    read = stems.read([texts[node][:_MAX_CHARACTERS] for node in nodes], lang)
    lengths, sizes = np.zeros((2, len(texts)))
    lengths[nodes] = read.lengths
    sizes[nodes] = np.diff(read.offsets)
    rows = np.full(len(texts), -1, np.int32)
    rows[nodes] = np.arange(len(nodes))
    rows[lengths == 0] = -1
    bags = find_bags(read.ids, read.offsets, len(stems))
    return _SideTexts(bags, read.offsets, rows, NodeTexts(lengths, sizes))


class WordTables(NamedTuple):
    """The words of two documents, from which the gains of any nodes are computed when needed.

    This is the reference implementation; it is also used for very large documents.
    """

    left: _NodeWords
    right: _NodeWords
    links: tuple[Table, Table]
    weights: DomTree

    @property
    def texts(self) -> tuple[NodeTexts, NodeTexts]:
        """The texts of both documents."""
        left, right = self.left.text, self.right.text
        return NodeTexts(left.lengths, left.sizes), NodeTexts(right.lengths, right.sizes)

    def between(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """The gain of each pair of nodes, averaged over both translation directions."""
        weights = self.weights
        found = _gains(self.left, self.right, self.links[0], rows, columns, weights.null)
        if not weights.backward:
            return found
        turned = _gains(self.right, self.left, self.links[1], columns, rows, weights.null)
        return (1 - weights.backward) * found + weights.backward * turned.T


def read_tables(
    texts: tuple[Sequence[str], Sequence[str]], lexicon: Lexicon, weights: DomTree
) -> WordTables:
    """Read the words of two documents, given the texts of their nodes."""
    left, right = (
        read_text([text[:_MAX_CHARACTERS] for text in each], lang)
        for each, lang in zip(texts, (lexicon.left_lang, lexicon.right_lang), strict=True)
    )
    find = vocabulary_links if weights.cognates else lexicon_links
    links = find(left.words, right.words, lexicon)
    if weights.null:
        trusts = trust((left.words, left.bags), (right.words, right.bags), lexicon)
        known = _NodeWords.of(left, trusts[0]), _NodeWords.of(right, trusts[1])
    else:
        known = _NodeWords.of_paper(left), _NodeWords.of_paper(right)
    return WordTables(*known, lifts(links, left.bags, right.bags), weights)


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
