"""Sentence alignment by lengths only (Gale & Church 1993)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from diptych.kernels.length_costs import length_cost
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.lengths import cheapest_path, text_length
from diptych.types import Bead

# Gale & Church 1993, table 5: share of beads by the number of sentences on both sides.
# DEVIATION(gale-church): the paper's share of "1-0 or 0-1" and of "2-1 or 1-2" is halved between
# the two, so that all six add up to one; the authors' program gives each of them the whole.
PRIORS = {
    (1, 1): 0.89,
    (1, 0): 0.0099 / 2,
    (0, 1): 0.0099 / 2,
    (2, 1): 0.089 / 2,
    (1, 2): 0.089 / 2,
    (2, 2): 0.011,
}
_PENALTIES = {move: -math.log(prior / PRIORS[1, 1]) for move, prior in PRIORS.items()}
_MAX_CELLS = 400_000  # 630 sentences on each side in full, some 2 s; more in a band


@dataclass(frozen=True, slots=True)
class GaleChurch:
    """Aligns sentences by dynamic programming over six kinds of beads.

    A bead is scored by the prior probability of its kind and by the lengths of its sentences.  An
    ideograph counts as several letters (`text.lengths`).
    """

    uses_lexicon: ClassVar[bool] = False
    c: float = 1.0
    """number of characters on the right per character on the left"""
    s2: float = 6.8
    """variance of `c` per character"""

    def align(
        self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon | None = None
    ) -> list[Bead]:
        """Find the lowest-cost sequence of beads; the score of a bead is exp(-cost).

        A 1-1 bead has the score 1 if the lengths of its sentences match exactly.  The lexicon is
        not used.

        >>> beads = GaleChurch().align(["A cat sat.", "It slept."], ["Un chat assis dormait."])
        >>> [(bead.left, bead.right) for bead in beads]
        [((0, 1), (0,))]
        """
        left_sums = [0.0, *accumulate(map(text_length, left))]
        right_sums = [0.0, *accumulate(map(text_length, right))]

        def cost(start: int, other: int, left_count: int, right_count: int) -> float:
            return _PENALTIES[left_count, right_count] + length_cost(
                left_sums[start + left_count] - left_sums[start],
                right_sums[other + right_count] - right_sums[other],
                self.c,
                self.s2,
            )

        steps = cheapest_path(len(left), len(right), list(_PENALTIES), cost, max_cells=_MAX_CELLS)
        return [
            Bead(
                tuple(range(step.left, step.left + step.left_count)),
                tuple(range(step.right, step.right + step.right_count)),
                math.exp(-cost(*step)),
            )
            for step in steps
        ]

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon | None = None
    ) -> list[list[Bead]]:
        """Align each piece, given as (left sentences, right sentences), separately."""
        return [self.align(left, right, lexicon) for left, right in pieces]
