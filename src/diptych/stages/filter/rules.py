"""Hard rules that any segment pair must pass, each with a reason of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.reason import Reason
from diptych.stages.filter.shared.characters import CharacterCounts, Kind
from diptych.stages.filter.shared.segments import Segments, read_segments
from diptych.types import Decision, SegmentPair
from diptych.units import Repeats


@dataclass(frozen=True, slots=True)
class Rules:
    """Reject segments that cannot be translations by their form; others keep their score."""

    max_length: int = 2000
    """characters on one side; longer ones are texts that were not split"""
    max_ratio: float = 3.0
    """of the lengths of both sides, an ideograph counting as several letters"""
    slack: float = 15.0
    """letters added to both sides, since short ones vary more: OK, D'accord"""
    min_letters: int = 40
    """letters a side must have for its language to be doubted, an ideograph counting as three"""
    min_confidence: float = 0.9
    """probability that a side is in the other language, of the two"""
    min_foreign: float = 0.99
    """probability that it is in a third one, of that and its own"""
    max_digits: float = 0.6
    """share of digits in what is no blank"""
    max_code: float = 0.25
    """the same for signs that programs, paths and markup are full of"""
    max_damage: int = 1
    """characters of a side that may have been read in the wrong encoding"""

    @property
    def threshold(self) -> float:
        """Whatever its score, a segment that breaks no rule is kept."""
        return 0.0

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """The segments' own scores; a reject names the first rule it broke."""
        return [
            Decision(not reason, seg.score, reason)
            for seg, reason in zip(segs, self.broken_rules(read_segments(segs)), strict=True)
        ]

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """The same scores: rules do not depend on other pages."""
        return scores

    def broken_rules(self, segments: Segments) -> list[str]:
        """The first rule each segment breaks, or nothing."""
        reasons = np.full(len(segments.segs), "", "U16")
        for name, is_broken in reversed(self._rules(segments)):
            reasons[is_broken] = name  # of several rules the first stays
        return [str(reason) for reason in reasons]

    def _rules(self, segments: Segments) -> list[tuple[str, NDArray[np.bool_]]]:
        """A mask of the segments that break each rule, in the order of the rules."""
        either = np.logical_or.reduce
        chars = segments.chars
        visible = [np.maximum(side.visible, 1) for side in chars]
        kinds = [side.kinds / total[:, None] for side, total in zip(chars, visible, strict=True)]
        sizes = [side.kinds.sum(axis=1) for side in chars]
        return [
            (Reason.EMPTY, either([side.visible == 0 for side in chars])),
            (Reason.TOO_LONG, either([size > self.max_length for size in sizes])),
            (Reason.NO_LETTERS, either([side.letters == 0 for side in chars])),
            (Reason.MOJIBAKE, either([count > self.max_damage for count in segments.damaged])),
            (
                Reason.MOSTLY_DIGITS,
                either([side[:, Kind.DIGIT] > self.max_digits for side in kinds]),
            ),
            (Reason.MOSTLY_MARKUP, either([side[:, Kind.CODE] > self.max_code for side in kinds])),
            (Reason.IDENTICAL, segments.identical),
            (Reason.LENGTH_RATIO, self._lopsided(chars)),
            (Reason.WRONG_LANGUAGE, either([self._is_foreign(segments, side) for side in (0, 1)])),
        ]

    def _lopsided(self, chars: tuple[CharacterCounts, CharacterCounts]) -> NDArray[np.bool_]:
        ours, theirs = (side.lengths + self.slack for side in chars)
        lopsided: NDArray[np.bool_] = np.maximum(ours, theirs) > self.max_ratio * np.minimum(
            ours, theirs
        )
        return lopsided

    def _is_foreign(self, segments: Segments, side: int) -> NDArray[np.bool_]:
        """A mask of the texts of a side that are surely in the other language, or in a third."""
        is_other = segments.own_odds[side] <= -_odds(self.min_confidence)
        is_third = segments.third_odds[side] <= -_odds(self.min_foreign)
        foreign: NDArray[np.bool_] = (segments.chars[side].weight >= self.min_letters) & (
            is_other | is_third
        )
        return foreign


def _odds(share: float) -> float:
    """A probability as the logarithm of its odds."""
    import math

    return math.log(share / (1 - share)) if share < 1 else math.inf
