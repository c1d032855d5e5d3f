"""Alignment of pages as flat sequences of blocks: the baseline of Shi et al. 2006.

Length costs are those of Gale & Church 1993, applied to blocks instead of sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, NamedTuple

from diptych.kernels.length_costs import length_cost
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.lengths import cheapest_path, text_length
from diptych.types import Block, NodePair, Page

_MOVES = ((1, 1), (1, 0), (0, 1), (2, 1), (1, 2))
_MAX_CELLS = 300_000  # 550 blocks on each side in full, some 1.5 s; more in a band
_LAST_TAG = re.compile(r"([A-Za-z][\w:-]*)[^/]*(?:/text\(\)(?:\[\d+\])?)?\Z")
_MAX_RATIO = 1.25  # maximum length ratio of most language pairs; beyond it one page has more text
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Flat:
    """Aligns blocks in document order by dynamic programming, ignoring the tree.

    Aligning blocks has an additional cost if their tags differ or if they contain different
    numbers.  Aligning blocks with the same text, such as a name or an address, costs nothing.
    """

    uses_lexicon: ClassVar[bool] = False
    other_tag: float = 3.0
    """cost, as -log, of aligning two blocks whose elements differ"""
    other_numbers: float = 3.0
    """cost, as -log, of aligning two blocks that contain different numbers"""
    # DEVIATION(gale-church): a block without counterpart costs the same however long it is.  Pages
    # gain and lose blocks where texts do not lose sentences: F1 on 300 real page pairs is .98 with
    # either, but .94 instead of .82 when some 7% of the blocks are removed from both pages.
    alone: float = 3.0
    """cost, as -log, of leaving a block without a counterpart"""
    merged: float = 5.0
    """cost, as -log, of aligning two blocks to one"""

    def align(self, left: Page, right: Page, lexicon: Lexicon | None = None) -> list[NodePair]:
        """Align all blocks in order; the score of a pair is exp(-cost).

        The lexicon is not used.
        """
        ours, theirs = _BlockColumns.of(left.blocks), _BlockColumns.of(right.blocks)
        ours = ours.scaled(theirs.sums[-1])

        def cost(start: int, other: int, left_count: int, right_count: int) -> float:
            return self._cost(ours, theirs, start, other, left_count, right_count)

        steps = cheapest_path(
            len(left.blocks), len(right.blocks), _MOVES, cost, max_cells=_MAX_CELLS
        )
        return [
            NodePair(
                left.blocks[step.left : step.left + step.left_count],
                right.blocks[step.right : step.right + step.right_count],
                math.exp(-cost(*step)) if step.left_count and step.right_count else 0.0,
            )
            for step in steps
        ]

    def _cost(
        self,
        ours: _BlockColumns,
        theirs: _BlockColumns,
        start: int,
        other: int,
        count: int,
        others: int,
    ) -> float:
        if not count or not others:
            return self.alone
        if count == others == 1 and ours.texts[start] == theirs.texts[other]:
            return 0.0
        cost = length_cost(
            ours.sums[start + count] - ours.sums[start],
            theirs.sums[other + others] - theirs.sums[other],
        )
        if count != others:
            cost += self.merged
        if {*ours.tags[start : start + count]} != {*theirs.tags[other : other + others]}:
            cost += self.other_tag
        if _joined_numbers(ours.numbers, start, count) != _joined_numbers(
            theirs.numbers, other, others
        ):
            cost += self.other_numbers
        return cost


class _BlockColumns(NamedTuple):
    """The blocks of a page as columns: texts, tags, numbers in the text and cumulative lengths."""

    texts: list[str]
    tags: list[str]
    numbers: list[frozenset[str]]
    sums: list[float]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _BlockColumns:
        return cls(
            [block.text for block in blocks],
            [last_tag(block.path) for block in blocks],
            [frozenset(_NUMBER.findall(block.text)) for block in blocks],
            [0.0, *accumulate(text_length(block.text) for block in blocks)],
        )

    def scaled(self, total: float) -> _BlockColumns:
        """Return a copy whose lengths are scaled to add up to `total`, the other page's length.

        The scaling factor is limited to a plausible range, so the sum may differ from `total`.
        """
        ratio = length_ratio(self.sums[-1], total)
        return self._replace(sums=[ratio * length for length in self.sums])


def _joined_numbers(numbers: Sequence[frozenset[str]], start: int, count: int) -> frozenset[str]:
    return numbers[start] if count == 1 else numbers[start] | numbers[start + 1]


def length_ratio(left: float, right: float) -> float:
    """The ratio of the length `right` to the length `left`, limited to a plausible range."""
    return min(_MAX_RATIO, max(1 / _MAX_RATIO, right / left)) if left else 1.0


def last_tag(path: str) -> str:
    """The tag of the last element in a DOM path.

    >>> last_tag("/html/body/div[2]/p[1]"), last_tag("/html/body/h2/text()[2]"), last_tag("")
    ('p', 'h2', '')
    """
    found = _LAST_TAG.search(path)
    return found[1] if found else ""
