"""Decisions on aligned page pairs and on their segments; those of many pairs are judged at once.

A filter takes nearly as long for the segments of one pair as for those of ten.  Each pair is still
judged by itself, so results do not depend on which pairs are judged together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from diptych.corpus.personal_data import personal_data, personal_data_of_texts
from diptych.protocols import Filter, Verifier
from diptych.reason import Reason
from diptych.steps.align_pages import AlignedSentences, segment_of
from diptych.steps.partial_segments import mend_partial
from diptych.text.caches import TextCache
from diptych.types import Candidate, Decision, Page, PagePair, SegmentPair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

ScoredSegment = tuple[SegmentPair, Decision]
_MAX_SEGMENTS = 3000  # judged in one call, to bound the memory
_UNALIGNED = Decision(False, 0.0, Reason.UNALIGNED)
_personal_data = TextCache(
    personal_data, 4_000_000, per_character=2, together=personal_data_of_texts
)


@runtime_checkable
class GroupFilter(Protocol):
    """A filter that judges the segments of many page pairs in one call, which saves time."""

    def judge_groups(
        self, groups: Sequence[Sequence[SegmentPair]], lexicon: Lexicon
    ) -> list[list[Decision]]:
        """Judge each group as `judge` does; all segments are in the same two languages."""
        ...


class AlignResult(NamedTuple):
    """The decision on a pair, and its segments."""

    decision: Decision
    segments: list[ScoredSegment]


class VerifiedPair(NamedTuple):
    """A pair, the decision on it, and how its sentences are aligned."""

    pair: PagePair
    decision: Decision
    found: Sequence[AlignedSentences] = ()
    segments: Sequence[SegmentPair] = ()
    """the segments of `found`"""


def verify_pair(
    pair: PagePair,
    pages: tuple[Page, Page],
    found: Sequence[AlignedSentences],
    verifier: Verifier,
    lexicon: Lexicon,
) -> VerifiedPair:
    """Decide whether two aligned pages are translations of each other."""
    segments = [segment_of(pair, each) for each in found]
    decision = verifier.verify(Candidate(pair, *pages, segments, lexicon))
    return VerifiedPair(pair, decision, found, segments)


def judge_pairs(
    verified: Sequence[VerifiedPair], judge: Filter, lexicon: Lexicon, *, mended: bool = True
) -> list[AlignResult]:
    """Judge the segments of all accepted pairs, which are in the same two languages.

    They are mended first, except during a crawl, at whose end all pairs are aligned again.
    """
    accepted = [each for each in verified if each.decision.accept]
    pages = [list(each.segments) for each in accepted]
    if mended:
        pages = _mended(accepted, judge, lexicon)
    whole = [[each for each in segments if each.left and each.right] for segments in pages]
    _personal_data.read(text for some in whole for each in some for text in (each.left, each.right))
    decided = zip(pages, judge_groups(whole, judge, lexicon), strict=True)
    scored = (_scored(segments, iter(decisions)) for segments, decisions in decided)
    return [
        AlignResult(each.decision, next(scored) if each.decision.accept else [])
        for each in verified
    ]


def _mended(
    pairs: Sequence[VerifiedPair], judge: Filter, lexicon: Lexicon
) -> list[list[SegmentPair]]:
    """The segments of pairs after those that are partial have been mended."""
    made = {
        id(each): segment
        for pair in pairs
        for each, segment in zip(pair.found, pair.segments, strict=True)
    }

    def segments_of(page: int, found: Sequence[AlignedSentences]) -> list[SegmentPair]:
        pair = pairs[page].pair
        return [made.get(id(each)) or segment_of(pair, each) for each in found]

    def scores(asked: Sequence[tuple[int, Sequence[AlignedSentences]]]) -> list[list[float]]:
        groups = [segments_of(*each) for each in asked]
        judged = judge_groups(groups, judge, lexicon)
        return [[decision.score for decision in decisions] for decisions in judged]

    mended = mend_partial([pair.found for pair in pairs], scores)
    return [segments_of(page, found) for page, found in enumerate(mended)]


def judge_groups(
    groups: Sequence[Sequence[SegmentPair]], judge: Filter, lexicon: Lexicon
) -> list[list[Decision]]:
    """Judge each group of segments by itself; a filter that can do so gets many groups at once."""
    if not isinstance(judge, GroupFilter):
        return [judge.judge(group, lexicon) for group in groups]
    return [decisions for some in _parts(groups) for decisions in judge.judge_groups(some, lexicon)]


def _parts(
    groups: Sequence[Sequence[SegmentPair]],
) -> Iterator[list[Sequence[SegmentPair]]]:
    """Yield the groups in lists that have few enough segments, or a single group."""
    part: list[Sequence[SegmentPair]] = []
    size = 0
    for group in groups:
        if part and size + len(group) > _MAX_SEGMENTS:
            yield part
            part, size = [], 0
        part.append(group)
        size += len(group)
    if part:
        yield part


def _scored(segments: Sequence[SegmentPair], decisions: Iterator[Decision]) -> list[ScoredSegment]:
    """Add the decisions on segments with two sides to all segments."""
    return [
        (segment, _marked(segment, next(decisions)))
        if segment.left and segment.right
        else (segment, _UNALIGNED)
        for segment in segments
    ]


def _marked(segment: SegmentPair, decision: Decision) -> Decision:
    """Return the decision on a segment, with the kinds of personal data in it as marks."""
    ours, theirs = _personal_data[segment.left], _personal_data[segment.right]
    if not ours and not theirs:
        return decision
    return decision._replace(marks=(*decision.marks, *dict.fromkeys((*ours, *theirs))))
