"""Segments that are too long for the corpus are cut at clauses that are aligned with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from diptych.protocols import SentenceAligner
from diptych.text.clauses import CLAUSE_LEVELS, clause_spans
from diptych.text.lengths import MAX_SEGMENT, MAX_WEIGHT, text_length

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.steps.align_pages import AlignedSentences, Sentence

# More clauses on a side are a list of words, whose parts say too little to be aligned; and the time
# of an alignment grows with the square of their number.
_MAX_CLAUSES = 60


def cut_long_segment(
    found: AlignedSentences, aligner: SentenceAligner, lexicon: Lexicon, level: int = 0
) -> Iterator[AlignedSentences]:
    """Cut aligned sentences of which a side is too long, and align their clauses.

    Clauses are cut at semicolons, colons and full stops first, and only what is still too long at
    commas and dashes.  What cannot be cut stays as it is.
    """
    if level == CLAUSE_LEVELS or not (is_long(found.left) or is_long(found.right)):
        yield found
        return
    left, right = (list(_clauses(side, level)) for side in (found.left, found.right))
    if min(len(left), len(right)) < 2 or max(len(left), len(right)) > _MAX_CLAUSES:
        yield from cut_long_segment(found, aligner, lexicon, level + 1)
        return
    texts = ([clause.text for clause in left], [clause.text for clause in right])
    for bead in aligner.align_pieces([texts], lexicon)[0]:
        part = found._replace(
            left=tuple(left[index] for index in bead.left),
            right=tuple(right[index] for index in bead.right),
            score=found.score * bead.score if bead.left and bead.right else 0.0,
        )
        yield from cut_long_segment(part, aligner, lexicon, level + 1)


def is_long(side: Sequence[Sentence]) -> bool:
    """True if the sentences together have more letters than a segment may have."""
    letters = len(side[0].text) if len(side) == 1 else sum([len(each.text) for each in side])
    if letters * MAX_WEIGHT <= MAX_SEGMENT:
        return False
    return text_length(" ".join(sentence.text for sentence in side)) > MAX_SEGMENT


def _clauses(side: Sequence[Sentence], level: int) -> Iterator[Sentence]:
    for sentence in side:
        for start, end in clause_spans(sentence.text, level):
            yield sentence._replace(text=sentence.text[start:end], start=sentence.start + start)
