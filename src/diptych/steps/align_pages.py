"""Alignment of two pages: first their DOM nodes, then the sentences in each pair of nodes.

A sentence without a counterpart becomes a segment with one empty side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from diptych.page.blocks import TITLE_PATH
from diptych.protocols import SentenceAligner, TreeAligner
from diptych.steps.long_segments import cut_long_segment, may_be_long
from diptych.text.caches import TextCache
from diptych.text.sentences import split_sentences
from diptych.text.spans import format_at
from diptych.text.titles import Cut
from diptych.types import Bead, Block, LangPair, Page, PagePair, SegmentPair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

_LANGS = 8  # languages with a cache of sentences
_MAX_BYTES = 8_000_000  # of such a cache
_LIST = 350  # bytes of a list with one or two sentences and offsets, without characters


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


class TitleCuts(NamedTuple):
    """The places where the titles of two pages are cut, if they contain the site's name."""

    left: Cut | None = None
    right: Cut | None = None


UNCUT = TitleCuts()


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
    *,
    cuts: TitleCuts = UNCUT,
) -> Iterator[AlignedSentences]:
    """Align all sentences of two pages; yield all, aligned or not, in left-page order."""
    ours = _by_block(left, langs.left, cuts.left)
    theirs = _by_block(right, langs.right, cuts.right)
    pieces = [
        piece
        for nodes in trees.align(left, right, lexicon)
        for piece in _title_parts(
            _Piece(
                [sentence for block in nodes.left for sentence in ours[block].pop(0)],
                [sentence for block in nodes.right for sentence in theirs[block].pop(0)],
                nodes.score,
            ),
            cuts,
        )
    ]
    for found in _aligned_pieces(pieces, sentences, lexicon):
        if may_be_long(found):
            yield from cut_long_segment(found, sentences, lexicon)
        else:
            yield found


def align_pages(
    pair: PagePair,
    left: Page,
    right: Page,
    trees: TreeAligner,
    sentences: SentenceAligner,
    lexicon: Lexicon,
    *,
    cuts: TitleCuts = UNCUT,
) -> Iterator[SegmentPair]:
    """Align two pages, and yield segments with their URLs, paths and offsets.

    Titles are cut into the page's own title and the name of the site.
    """
    for found in align_sentences(left, right, pair.langs, trees, sentences, lexicon, cuts=cuts):
        yield segment_of(pair, found)


def segment_of(pair: PagePair, found: AlignedSentences) -> SegmentPair:
    """Make a segment of aligned sentences, with their URLs, paths and offsets."""
    left, left_path, left_at = _joined(found.left)
    right, right_path, right_at = _joined(found.right)
    return SegmentPair(
        left, right, pair.left_lang, pair.right_lang, pair.left, pair.right, left_path, right_path,
        found.score, left_at, right_at,
    )  # fmt: skip


def _joined(sentences: Sequence[Sentence]) -> tuple[str, str, str]:
    """The text of sentences, the paths of their blocks, and their ranges in the blocks."""
    if len(sentences) == 1:  # the case of most segments
        [(text, block, _, start)] = sentences
        return text, block.path, f"{start}-{start + len(text)}"
    spans = list(_spans(sentences))
    return (
        " ".join(map(_text_of, spans)),
        " ".join(block.path for block, _, _ in spans),
        format_at((start, end) for _, start, end in spans),
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


def _by_block(page: Page, lang: str, cut: Cut | None) -> dict[Block, list[list[Sentence]]]:
    """Map each block to lists of its sentences, with one list per occurrence of the block."""
    found: dict[Block, list[list[Sentence]]] = defaultdict(list)
    place, sentences = count(), _sentences(lang)
    for block in page.blocks:
        if cut and block.path == TITLE_PATH and block.text == page.record.title:
            spans = [(block.text[: cut.end], 0), (block.text[cut.start :], cut.start)]
            found[block].append(
                [Sentence(text, block, next(place), start) for text, start in spans if text]
            )
            continue
        found[block].append(
            [Sentence(text, block, next(place), start) for text, start in sentences[block.text]]
        )
    return found


@lru_cache(maxsize=_LANGS)
def _sentences(lang: str) -> TextCache[list[tuple[str, int]]]:
    """A cache of the sentences of texts in a language, with their start offsets.

    A site repeats most texts on many pages.
    """
    return TextCache(
        lambda text: _placed(text, split_sentences(text, lang)),
        _MAX_BYTES, per_entry=_LIST, per_character=4,
    )  # fmt: skip


def _title_parts(piece: _Piece, cuts: TitleCuts) -> Iterator[_Piece]:
    """Align the own parts of two cut titles with each other, and the names of the site likewise."""
    sides = (piece.left, piece.right)
    if not (cuts.left and cuts.right) or not all(map(_is_cut_title, sides)):
        yield piece
        return
    (first, second), (other_first, other_second) = piece.left, piece.right
    if cuts.left.is_name_first != cuts.right.is_name_first:
        other_first, other_second = other_second, other_first
    yield _Piece([first], [other_first], piece.score)
    yield _Piece([second], [other_second], piece.score)


def _is_cut_title(sentences: Sequence[Sentence]) -> bool:
    """True if these are the two parts of a title."""
    return len(sentences) == 2 and all(each.block.path == TITLE_PATH for each in sentences)


def _placed(text: str, sentences: Sequence[str]) -> list[tuple[str, int]]:
    """The sentences of a text with the start offset of each.

    >>> _placed("No.  No. Yes!", ["No.", "No.", "Yes!"])
    [('No.', 0), ('No.', 5), ('Yes!', 9)]
    """
    found, end = [], 0
    for sentence in sentences:
        # In a sentence, a lone surrogate is replaced by a character of the same length.
        start = max(text.find(sentence, end), end)
        end = start + len(sentence)
        found.append((sentence, start))
    return found


def _aligned_pieces(
    pieces: Sequence[_Piece], aligner: SentenceAligner, lexicon: Lexicon
) -> Iterator[AlignedSentences]:
    """Align the sentences of each piece; all undecided pieces are passed to the aligner at once."""
    asked = [
        ([sentence.text for sentence in piece.left], [sentence.text for sentence in piece.right])
        for piece in pieces
        if not piece.is_decided
    ]
    answers = iter(aligner.align_pieces(asked, lexicon))
    for piece in pieces:
        if not piece.is_decided:
            yield from _by_beads(piece, next(answers))
        elif piece.left and piece.right:  # decided by the trees, as for most pieces on the web
            yield AlignedSentences((piece.left[0],), (piece.right[0],), piece.score)
        else:
            yield from (AlignedSentences((sentence,), (), 0.0) for sentence in piece.left)
            yield from (AlignedSentences((), (sentence,), 0.0) for sentence in piece.right)


def _by_beads(piece: _Piece, beads: Sequence[Bead]) -> Iterator[AlignedSentences]:
    for bead in beads:
        yield AlignedSentences(
            tuple([piece.left[index] for index in bead.left]),
            tuple([piece.right[index] for index in bead.right]),
            bead.score * piece.score if bead.left and bead.right else 0.0,
        )
