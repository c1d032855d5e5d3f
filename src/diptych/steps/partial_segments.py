"""Mend partial segments, in which one side says more than the other.

A sentence without a counterpart at either end of a segment is split off, and a neighbouring
sentence of the same block that has no counterpart yet is added, if the filter then finds the
segment clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from diptych.learn.logistic import log_odds

if TYPE_CHECKING:
    from diptych.steps.align_pages import AlignedSentences, Sentence

_MAX_CUT = 2  # sentences split off; segments that lack more are wrong rather than partial
_MAX_SENTENCES = 8  # on both sides of a segment that is mended
_MAX_VARIANTS = 10_000  # of two pages; larger pages are not mended, because it would take too long
_AT_ONCE = 500  # forms scored at a time, to bound the memory
# On judged segments of real sites with several sentences, these bounds mended 63 of 117 partial
# ones, and changed 12 of 76 good ones, three of which were above the threshold.
_MIN_GAIN = 1.0  # minimum increase of the log odds
_MIN_SCORE = 0.4  # minimum score of a mended segment; below it, nothing has been mended

Asked = tuple[int, Sequence["AlignedSentences"]]
"""The index of two pages, and some segments of theirs."""
Scorer = Callable[[Sequence[Asked]], Sequence[Sequence[float]]]
"""Returns the filter's scores of aligned segments; each list of segments is judged by itself."""


class _Variant(NamedTuple):
    """Another form of the segment at index `at`."""

    at: int
    mended: AlignedSentences
    before: tuple[AlignedSentences, ...] = ()
    """sentences split off from its beginning"""
    after: tuple[AlignedSentences, ...] = ()
    used: int = -1
    """index of the sentence without a counterpart that was added; -1 if none was"""


def mend_partial(
    pages: Sequence[Sequence[AlignedSentences]], score: Scorer
) -> list[list[AlignedSentences]]:
    """Mend the partial segments of several page pairs; return all segments in their order.

    Each page pair is mended by itself, but the forms of all are scored in one call.
    """
    mendings = [_Mending.of(found) for found in pages]
    asked = [(page, part) for page, each in enumerate(mendings) for part in each.asked]
    reached = iter(score(asked) if asked else ())
    return [each.mended([next(reached) for _ in each.asked]) for each in mendings]


class _Mending(NamedTuple):
    """The segments of two pages, and other forms of some of them."""

    found: Sequence[AlignedSentences]
    variants: Sequence[_Variant]
    wholes: Sequence[int]
    """indices of the segments that have variants"""
    size: int
    """number of segments in which a form is scored: itself and its neighbours"""
    asked: Sequence[Sequence[AlignedSentences]]
    """all wholes, then all variants, with their neighbours, in parts"""

    @classmethod
    def of(cls, found: Sequence[AlignedSentences]) -> _Mending:
        aligned = [at for at, each in enumerate(found) if each.left and each.right]
        variants = [
            variant
            for at in aligned
            if len(found[at].left) + len(found[at].right) <= _MAX_SENTENCES
            for variant in (*_extended(at, found), *_cut(at, found[at]))
        ]
        if not variants or len(variants) > _MAX_VARIANTS:
            return cls(found, (), (), 1, ())
        around = _neighbours(aligned)
        wholes = list(dict.fromkeys(each.at for each in variants))
        forms = [
            *((at, found[at]) for at in wholes),
            *((each.at, each.mended) for each in variants),
        ]
        stretches = [
            [*(found[other] for other in around[at][:1]), form,
             *(found[other] for other in around[at][1:])]
            for at, form in forms
        ]  # fmt: skip
        step = _AT_ONCE if len(aligned) > 1 else 1
        asked = [
            [each for stretch in stretches[start : start + step] for each in stretch]
            for start in range(0, len(stretches), step)
        ]
        return cls(found, variants, wholes, len(stretches[0]), asked)

    def mended(self, scores: Sequence[Sequence[float]]) -> list[AlignedSentences]:
        """Choose the best variants, given the scores of `asked`; return all segments."""
        chosen: dict[int, _Variant] = {}
        used: set[int] = set()
        reached = [own for part in scores for own in part[self.size // 2 :: self.size]]
        for variant in self._better(reached):
            if variant.at not in chosen and variant.used not in used:
                chosen[variant.at] = variant
                used |= {variant.used} - {-1}
        if not chosen:
            return list(self.found)
        return [
            part
            for at, each in enumerate(self.found)
            if at not in used
            for part in (_parts(chosen[at]) if at in chosen else (each,))
        ]

    def _better(self, reached: Sequence[float]) -> Iterator[_Variant]:
        """Yield the variants that are clearly better than their segments, the best gain first.

        `reached` contains the scores of all wholes, then of all variants.
        """
        before = dict(zip(self.wholes, reached, strict=False))
        gains = [
            (log_odds(after) - log_odds(before[variant.at]), variant)
            for after, variant in zip(reached[len(self.wholes) :], self.variants, strict=True)
            if after >= _MIN_SCORE
        ]
        for gain, variant in sorted(gains, key=lambda each: -each[0]):
            if gain >= _MIN_GAIN:
                yield variant


def _parts(variant: _Variant) -> tuple[AlignedSentences, ...]:
    return (*variant.before, variant.mended, *variant.after)


def _neighbours(aligned: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The segments before and after each segment; the first and last one have one neighbour twice.

    So a form always stands between segments, and never beside another form of the same segment.
    A single segment has no neighbours.

    >>> _neighbours([2, 5, 7]), _neighbours([4])
    ({2: (5, 5), 5: (2, 7), 7: (5, 5)}, {4: ()})
    """
    if len(aligned) < 2:
        return dict.fromkeys(aligned, ())
    padded = [aligned[1], *aligned, aligned[-2]]
    return dict(zip(aligned, zip(padded[:-2], padded[2:], strict=True), strict=True))


def _cut(at: int, whole: AlignedSentences) -> Iterator[_Variant]:
    """Yield the segment without some of the first or last sentences of one side."""
    for side, sentences in enumerate((whole.left, whole.right)):
        for count in range(1, min(_MAX_CUT, len(sentences) - 1) + 1):
            for kept, cut, is_first in (
                (sentences[count:], sentences[:count], True),
                (sentences[:-count], sentences[-count:], False),
            ):
                alone = tuple(_one_sided(sentence, side, whole) for sentence in cut)
                mended = _with_side(whole, side, kept)
                yield _Variant(at, mended, *((alone, ()) if is_first else ((), alone)))


def _extended(at: int, found: Sequence[AlignedSentences]) -> Iterator[_Variant]:
    """Yield the segment with the sentence before or after it, if that has no counterpart."""
    whole = found[at]
    for other in (at - 1, at + 1):
        if not 0 <= other < len(found) or (found[other].left and found[other].right):
            continue
        side = 0 if found[other].left else 1
        own, added = ((each.left, each.right)[side] for each in (whole, found[other]))
        first, second = (added, own) if other < at else (own, added)
        if _follows(first[-1], second[0]):
            yield _Variant(at, _with_side(whole, side, (*first, *second)), used=other)


def _follows(first: Sentence, second: Sentence) -> bool:
    """True if the second sentence comes right after the first in the same block."""
    return (
        first.block == second.block and first.place + 1 == second.place
        and first.end <= second.start
    )  # fmt: skip


def _with_side(
    whole: AlignedSentences, side: int, sentences: tuple[Sentence, ...]
) -> AlignedSentences:
    return whole._replace(right=sentences) if side else whole._replace(left=sentences)


def _one_sided(sentence: Sentence, side: int, whole: AlignedSentences) -> AlignedSentences:
    sides = ((), (sentence,)) if side else ((sentence,), ())
    return whole._replace(left=sides[0], right=sides[1], score=0.0)
