"""Blocks that recur on the pages of a site, such as menus and notices: aligned and judged once.

Some pairs of a site are aligned in full.  Two texts that correspond on several of them, and
always to each other, are a recurring pair of blocks.  On the other pairs of the site, such blocks
are paired without asking the tree aligner, which sees only the rest of the pages, and segments
that recurred keep their decision.  Verification still sees whole pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from diptych.page.blocks import TITLE_PATH
from diptych.page.content import Outline
from diptych.protocols import TreeAligner
from diptych.types import Block, Decision, NodePair, Page, PagePair, SegmentPair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

SAMPLE = 16
"""pairs of a site that are aligned in full; 32 would recognise only 3% more blocks"""
_MIN_PAIRS = 3 * SAMPLE  # with fewer pairs, the sample is most of the work
_MIN_TIMES = 3  # pairs of pages on which two texts correspond
_MIN_SHARE = 0.9  # of the pairs of pages that have both texts
_MIN_OWN = 0.8  # share of a text's counterparts that are the same
_MAX_TEXT = 1000  # characters of a text; longer ones seldom recur
_MAX_TEXTS = 2000  # blocks and segments of two pages that are recorded


class Seen(NamedTuple):
    """What two pages aligned in full show of recurring blocks and segments."""

    blocks: tuple[tuple[str, str, float], ...]
    """the texts and the score of each pair of blocks; a text is empty if there is no counterpart"""
    segments: tuple[tuple[str, str, Decision], ...]


class Recurring(NamedTuple):
    """The recurring blocks and segments of a site in two languages."""

    partners: Mapping[str, tuple[str, float]]
    """the right text of each left text, and the score of the two blocks"""
    decisions: Mapping[tuple[str, str], Decision]
    """the decision on each segment, by its texts"""


NOTHING = Recurring({}, {})


def sampled(pairs: Sequence[tuple[int, PagePair]]) -> list[tuple[int, PagePair]]:
    """The pairs of a site to align in full, for each pair of languages with many page pairs.

    They are spread evenly over the pairs, so that they come from all parts of the site.
    """
    groups: dict[tuple[str, str], list[tuple[int, PagePair]]] = defaultdict(list)
    for each in pairs:
        groups[each[1].langs].append(each)
    return [
        group[number * len(group) // SAMPLE]
        for group in groups.values()
        if len(group) >= _MIN_PAIRS
        for number in range(SAMPLE)
    ]


def recurring(seen: Iterable[Seen]) -> Recurring:
    """Find the blocks and segments that recur on pairs of pages, and always in the same way."""
    times: Counter[tuple[str, str]] = Counter()
    scores: dict[tuple[str, str], float] = defaultdict(float)
    pages: list[tuple[set[str], set[str]]] = []
    decisions: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for blocks, segments in seen:
        found = {(left, right): score for left, right, score in blocks}
        times.update(found.keys())
        for texts, score in found.items():
            scores[texts] += score
        pages.append(({left for left, _ in found}, {right for _, right in found}))
        for key, decision in {(left, right): each for left, right, each in segments}.items():
            decisions[key].append(decision)
    both = _both(times, pages)
    ours, theirs = _by_side(times)
    return Recurring(
        {
            left: (right, scores[left, right] / count)
            for (left, right), count in times.items()
            if (left, right) in both
            and count >= _MIN_SHARE * both[left, right]
            and count >= _MIN_OWN * ours[left]
            and count >= _MIN_OWN * theirs[right]
        },
        {key: _middle(each) for key, each in decisions.items() if len(each) >= _MIN_TIMES},
    )


def _both(
    times: Mapping[tuple[str, str], int], pages: Sequence[tuple[set[str], set[str]]]
) -> dict[tuple[str, str], int]:
    """For each pair of texts that is frequent enough, the number of page pairs with both texts."""
    return {
        (left, right): sum(left in ours and right in theirs for ours, theirs in pages)
        for (left, right), count in times.items()
        if left and right and count >= _MIN_TIMES
    }


def _by_side(times: Mapping[tuple[str, str], int]) -> tuple[Counter[str], Counter[str]]:
    """How often each left and each right text has a counterpart."""
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for (left, right), count in times.items():
        if left and right:
            ours[left] += count
            theirs[right] += count
    return ours, theirs


def _middle(decisions: Sequence[Decision]) -> Decision:
    """The decision with the median score."""
    return sorted(decisions, key=lambda each: (each.score, each.reason))[len(decisions) // 2]


@dataclass(slots=True)
class BlockRecorder:
    """Wraps a tree aligner, and records the texts of the blocks that it pairs."""

    trees: TreeAligner
    blocks: list[tuple[str, str, float]] = field(default_factory=list)
    uses_lexicon: ClassVar[bool] = True

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        """Align two pages."""
        found = self.trees.align(left, right, lexicon)
        for ours, theirs, score in found:
            if len(ours) <= 1 and len(theirs) <= 1:
                texts = [side[0].text if side else "" for side in (ours, theirs)]
                if max(map(len, texts)) <= _MAX_TEXT and len(self.blocks) < _MAX_TEXTS:
                    self.blocks.append((texts[0], texts[1], score))
        return found

    def seen(self, segments: Iterable[tuple[SegmentPair, Decision]]) -> Seen:
        """What was recorded, with the decisions on the segments of an accepted pair."""
        decided = [
            (segment.left, segment.right, decision)
            for segment, decision in segments
            if segment.left and segment.right
            and max(len(segment.left), len(segment.right)) <= _MAX_TEXT
        ]  # fmt: skip
        return Seen(tuple(self.blocks), tuple(decided[:_MAX_TEXTS]))


@dataclass(frozen=True, slots=True)
class RestAligner:
    """Pairs the recurring blocks of two pages, and aligns the rest with a tree aligner."""

    trees: TreeAligner
    known: Recurring
    uses_lexicon: ClassVar[bool] = True

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        """Align all blocks of two pages, and return the pairs in the order of the left page."""
        anchors = anchored(left.blocks, right.blocks, self.known.partners)
        if not anchors:
            return self.trees.align(left, right, lexicon)
        paired = {*anchors.values()}
        rest = _without(left, anchors.keys()), _without(right, paired)
        found = self.trees.align(*rest, lexicon)
        partners = self.known.partners
        found += [
            NodePair(
                (left.blocks[one],), (right.blocks[other],), partners[left.blocks[one].text][1]
            )
            for one, other in anchors.items()
        ]
        return list(_in_order(found, left.blocks, right.blocks))


def anchored(
    left: Sequence[Block], right: Sequence[Block], partners: Mapping[str, tuple[str, float]]
) -> dict[int, int]:
    """The numbers of blocks that are paired because their texts recur: left to right.

    A text that occurs several times must occur as often on the other page, and is paired in order.
    Titles are left to the aligner.
    """
    ours, theirs = _places(left), _places(right)
    found: dict[int, int] = {}
    for text, places in ours.items():
        other = partners.get(text)
        if other is not None:
            there = theirs.get(other[0], ())
            if len(there) == len(places):
                found.update(zip(places, there, strict=True))
    return found


def _places(blocks: Sequence[Block]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for number, block in enumerate(blocks):
        if block.path != TITLE_PATH:
            places[block.text].append(number)
    return places


def _without(page: Page, left_out: Iterable[int]) -> Page:
    """The page without some of its blocks."""
    numbers = {*left_out}
    kept = [number for number in range(len(page.blocks)) if number not in numbers]
    tree = page.tree
    if isinstance(tree, Outline):
        places, runs = ([column[number] for number in kept] for column in (tree.places, tree.runs))
        tree = tree._replace(places=places, runs=runs)
    return replace(page, blocks=tuple([page.blocks[number] for number in kept]), tree=tree)


def _in_order(
    pairs: Sequence[NodePair], left: Sequence[Block], right: Sequence[Block]
) -> Iterator[NodePair]:
    """Yield pairs in the order of the left page.

    A right block without counterpart comes before the first pair with a later right block.
    """
    ours, theirs = ({id(block): at for at, block in enumerate(side)} for side in (left, right))
    alone = sorted((theirs[id(pair.right[0])], pair) for pair in pairs if not pair.left)[::-1]
    for _, pair in sorted((ours[id(pair.left[0])], pair) for pair in pairs if pair.left):
        while alone and pair.right and alone[-1][0] < theirs[id(pair.right[0])]:
            yield alone.pop()[1]
        yield pair
    yield from (pair for _, pair in reversed(alone))
