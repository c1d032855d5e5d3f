"""Alignment of two pages: first their DOM nodes, then the sentences in each pair of nodes.

A sentence without a counterpart becomes a segment with one empty side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from diptych.protocols import SentenceAligner, TreeAligner
from diptych.steps.long_segments import cut_long_segment
from diptych.text.sentences import split_sentences
from diptych.text.spans import format_at
from diptych.types import Bead, Block, LangPair, Page, PagePair, SegmentPair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon


class Sentence(NamedTuple):
    """A sentence, its block, and its position among the sentences of its page."""

    text: str
    block: Block
    place: int
    start: int
    """start offset in the block's text"""

    @property
    def end(self) -> int:
        """The end offset in the block's text."""
        return self.start + len(self.text)


class AlignedSentences(NamedTuple):
    """Corresponding sentences of two pages, or a sentence of one page without a counterpart."""

    left: tuple[Sentence, ...]
    right: tuple[Sentence, ...]
    score: float


class _Piece(NamedTuple):
    """The sentences of two aligned nodes, and the score of the nodes' alignment."""

    left: list[Sentence]
    right: list[Sentence]
    score: float

    @property
    def is_decided(self) -> bool:
        """True if only one alignment is possible: a side is empty, or both have one sentence."""
        return not self.left or not self.right or len(self.left) == len(self.right) == 1


def align_sentences(
    left: Page,
    right: Page,
    langs: LangPair,
    trees: TreeAligner,
    sentences: SentenceAligner,
    lexicon: Lexicon,
) -> Iterator[AlignedSentences]:
    """Align all sentences of two pages; yield all, aligned or not, in left-page order."""
    ours, theirs = _by_block(left, langs.left), _by_block(right, langs.right)
    pieces = [
        _Piece(
            [sentence for block in nodes.left for sentence in ours[block].pop(0)],
            [sentence for block in nodes.right for sentence in theirs[block].pop(0)],
            nodes.score,
        )
        for nodes in trees.align(left, right, lexicon)
    ]
    for piece, beads in zip(pieces, _beads(pieces, sentences, lexicon), strict=True):
        for bead in beads:
            found = AlignedSentences(
                tuple(piece.left[index] for index in bead.left),
                tuple(piece.right[index] for index in bead.right),
                bead.score * piece.score if bead.left and bead.right else 0.0,
            )
            yield from cut_long_segment(found, sentences, lexicon)


def align_pages(
    pair: PagePair,
    left: Page,
    right: Page,
    trees: TreeAligner,
    sentences: SentenceAligner,
    lexicon: Lexicon,
) -> Iterator[SegmentPair]:
    """Align two pages, and yield segments with their URLs, paths and offsets."""
    for found in align_sentences(left, right, pair.langs, trees, sentences, lexicon):
        ours, theirs = list(_spans(found.left)), list(_spans(found.right))
        yield SegmentPair(
            left=" ".join(map(_text_of, ours)),
            right=" ".join(map(_text_of, theirs)),
            left_lang=pair.left_lang,
            right_lang=pair.right_lang,
            left_url=pair.left,
            right_url=pair.right,
            left_path=" ".join(block.path for block, _, _ in ours),
            right_path=" ".join(block.path for block, _, _ in theirs),
            score=found.score,
            left_at=format_at((start, end) for _, start, end in ours),
            right_at=format_at((start, end) for _, start, end in theirs),
        )


def _spans(sentences: Sequence[Sentence]) -> Iterator[tuple[Block, int, int]]:
    """Yield the spans of sentences in their blocks, merging adjacent sentences of a block."""
    last: tuple[Block, int, int] | None = None
    for sentence in sentences:
        if last and sentence.block == last[0] and sentence.start >= last[2]:
            last = (last[0], last[1], sentence.end)
            continue
        if last:
            yield last
        last = (sentence.block, sentence.start, sentence.end)
    if last:
        yield last


def _text_of(stretch: tuple[Block, int, int]) -> str:
    block, start, end = stretch
    return block.text[start:end]


def _by_block(page: Page, lang: str) -> dict[Block, list[list[Sentence]]]:
    """Map each block to lists of its sentences, with one list per occurrence of the block."""
    found: dict[Block, list[list[Sentence]]] = defaultdict(list)
    place = count()
    for block in page.blocks:
        texts = split_sentences(block.text, lang)
        starts = _starts(block.text, texts)
        found[block].append(
            [
                Sentence(text, block, next(place), start)
                for text, start in zip(texts, starts, strict=True)
            ]
        )
    return found


def _starts(text: str, sentences: Sequence[str]) -> Iterator[int]:
    """Yield the start offset of each sentence in a text.

    >>> list(_starts("No.  No. Yes!", ["No.", "No.", "Yes!"]))
    [0, 5, 9]
    """
    end = 0
    for sentence in sentences:
        # In a sentence, a lone surrogate is replaced by a character of the same length.
        start = max(text.find(sentence, end), end)
        yield start
        end = start + len(sentence)


def _beads(
    pieces: Sequence[_Piece], aligner: SentenceAligner, lexicon: Lexicon
) -> Iterator[list[Bead]]:
    """Yield the beads of each piece; all undecided pieces are passed to the aligner at once."""
    asked = [
        ([sentence.text for sentence in piece.left], [sentence.text for sentence in piece.right])
        for piece in pieces
        if not piece.is_decided
    ]
    answers = iter(aligner.align_pieces(asked, lexicon))
    for piece in pieces:
        yield _decided(piece) if piece.is_decided else next(answers)


def _decided(piece: _Piece) -> list[Bead]:
    if piece.left and piece.right:  # decided by the trees, as for most pieces on the web
        return [Bead((0,), (0,), 1.0)]
    return [
        *(Bead((index,), (), 0.0) for index in range(len(piece.left))),
        *(Bead((), (index,), 0.0) for index in range(len(piece.right))),
    ]
