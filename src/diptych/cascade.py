"""Two pages down to segments: pieces of their trees, then sentences inside each (Shi et al. 2006).

What has no counterpart is kept in its place, with the other side empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from diptych.protocols import SentenceAligner, TreeAligner
from diptych.text.sentences import split_sentences
from diptych.types import Bead, Block, LangPair, Page, PagePair, SegmentPair

if TYPE_CHECKING:
    from diptych.learn.lexicon import Lexicon

__all__ = ["Aligned", "Sentence", "align_pages", "align_sentences"]


class Sentence(NamedTuple):
    """A sentence, the DOM path of its block, and its place among the sentences of its page."""

    text: str
    path: str
    place: int


class Aligned(NamedTuple):
    """Sentences of two pages that translate each other, or of one that have no counterpart."""

    left: tuple[Sentence, ...]
    right: tuple[Sentence, ...]
    score: float


def align_sentences(
    left: Page,
    right: Page,
    langs: LangPair,
    trees: TreeAligner,
    sentences: SentenceAligner,
    lexicon: Lexicon,
) -> Iterator[Aligned]:
    """All sentences of two pages, aligned or not, in the order of the left page."""
    ours, theirs = _by_block(left, langs.left), _by_block(right, langs.right)
    for nodes in trees.align(left, right, lexicon):
        here = [sentence for block in nodes.left for sentence in ours[block].pop(0)]
        there = [sentence for block in nodes.right for sentence in theirs[block].pop(0)]
        for bead in _beads(here, there, sentences, lexicon):
            score = bead.score * nodes.score if bead.left and bead.right else 0.0
            yield Aligned(
                tuple(here[index] for index in bead.left),
                tuple(there[index] for index in bead.right),
                score,
            )


def align_pages(
    pair: PagePair,
    left: Page,
    right: Page,
    trees: TreeAligner,
    sentences: SentenceAligner,
    lexicon: Lexicon,
) -> Iterator[SegmentPair]:
    """The same as segments that know where they come from."""
    langs = LangPair(pair.left_lang, pair.right_lang)
    for found in align_sentences(left, right, langs, trees, sentences, lexicon):
        yield SegmentPair(
            left=" ".join(sentence.text for sentence in found.left),
            right=" ".join(sentence.text for sentence in found.right),
            left_lang=pair.left_lang,
            right_lang=pair.right_lang,
            left_url=pair.left,
            right_url=pair.right,
            left_path=" ".join(dict.fromkeys(sentence.path for sentence in found.left)),
            right_path=" ".join(dict.fromkeys(sentence.path for sentence in found.right)),
            score=found.score,
        )


def _by_block(page: Page, lang: str) -> dict[Block, list[list[Sentence]]]:
    """The sentences of each block; of blocks that are alike, one list after the other."""
    found: dict[Block, list[list[Sentence]]] = defaultdict(list)
    place = count()
    for block in page.blocks:
        texts = split_sentences(block.text, lang)
        found[block].append([Sentence(text, block.path, next(place)) for text in texts])
    return found


def _beads(
    left: Sequence[Sentence], right: Sequence[Sentence], aligner: SentenceAligner, lexicon: Lexicon
) -> list[Bead]:
    if not left or not right:
        return [
            *(Bead((index,), (), 0.0) for index in range(len(left))),
            *(Bead((), (index,), 0.0) for index in range(len(right))),
        ]
    if len(left) == len(right) == 1:  # the trees have decided: most pieces of the web are short
        return [Bead((0,), (0,), 1.0)]
    return aligner.align([s.text for s in left], [s.text for s in right], lexicon)
