"""Hard rules that every segment pair must pass; each rule has its own reason for rejection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.reason import Reason
from diptych.stages.filter.shared.characters import CharacterCounts, Kind
from diptych.stages.filter.shared.segments import Segments, read_segments
from diptych.text.lengths import MAX_SEGMENT
from diptych.types import Decision, SegmentPair
from diptych.units import Repeats


@dataclass(frozen=True, slots=True)
class Rules:
    """Rejects segments whose form rules out a translation; the others keep their score."""

    max_length: int = MAX_SEGMENT
    """maximum length of a side, in letters; an ideograph counts as several letters.  Longer sides
    are texts that were not split"""
    max_ratio: float = 3.0
    """maximum ratio of the lengths of both sides; an ideograph counts as several letters"""
    slack: float = 15.0
    """letters added to both lengths, because the lengths of short texts vary more, as in `OK` and
    `D'accord`"""
    min_letters: int = 40
    """minimum number of letters for checking the language of a side; an ideograph counts as 3"""
    min_confidence: float = 0.9
    """a side is rejected if it is in the language of the other side with this probability"""
    min_foreign: float = 0.99
    """a side is rejected if it is in a third language with this probability"""
    max_digits: float = 0.6
    """maximum share of digits among characters other than spaces"""
    max_code: float = 0.25
    """maximum share of signs that are frequent in programs, paths and markup"""
    max_label: int = 3
    """maximum number of translated words in a segment that counts as copied"""
    min_copied: float = 2.0
    """minimum number of copied names, numbers and addresses per translated word in such a segment;
    chosen on judged segments of real sites"""
    max_damage: int = 1
    """maximum number of characters on a side that were decoded with the wrong character set"""

    @property
    def threshold(self) -> float:
        """Always 0: a segment that breaks no rule is kept regardless of its score."""
        return 0.0

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Reject each segment that breaks a rule; the reason is the first such rule.

        Scores are not changed.
        """
        return [
            Decision(not reason, seg.score, reason)
            for seg, reason in zip(segs, self.rejections(segs), strict=True)
        ]

    def rejections(self, segs: Sequence[SegmentPair]) -> list[str]:
        """For each segment, the first rule that it breaks, or "" if it breaks none."""
        return self.broken_rules(read_segments(segs))

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Return the scores unchanged, because rules do not depend on other pages."""
        return scores

    def broken_rules(self, segments: Segments) -> list[str]:
        """For each segment, the first rule that it breaks, or "" if it breaks none."""
        reasons = np.full(len(segments.segs), "", "U16")
        for name, is_broken in reversed(self._rules(segments)):
            reasons[is_broken] = name  # in reverse order, so that the first rule wins
        return [str(reason) for reason in reasons]

    def _rules(self, segments: Segments) -> list[tuple[str, NDArray[np.bool_]]]:
        """Each rule with a mask of the segments that break it, in the order of checking."""
        either = np.logical_or.reduce
        chars = segments.chars
        visible = [np.maximum(side.visible, 1) for side in chars]
        kinds = [side.kinds / total[:, None] for side, total in zip(chars, visible, strict=True)]
        return [
            (Reason.EMPTY, either([side.visible == 0 for side in chars])),
            (Reason.TOO_LONG, either([side.lengths > self.max_length for side in chars])),
            (Reason.NO_LETTERS, either([side.letters == 0 for side in chars])),
            (Reason.MOJIBAKE, either([count > self.max_damage for count in segments.damaged])),
            (
                Reason.MOSTLY_DIGITS,
                either([side[:, Kind.DIGIT] > self.max_digits for side in kinds]),
            ),
            (Reason.MOSTLY_MARKUP, either([side[:, Kind.CODE] > self.max_code for side in kinds])),
            (Reason.IDENTICAL, segments.identical),
            (Reason.LANGUAGE_NAMES, segments.language_names),
            (Reason.LENGTH_RATIO, self._lopsided(chars)),
            (Reason.COPIED, self._copied(segments.copies)),
            (Reason.WRONG_LANGUAGE, either([self._is_foreign(segments, side) for side in (0, 1)])),
        ]

    def _lopsided(self, chars: tuple[CharacterCounts, CharacterCounts]) -> NDArray[np.bool_]:
        ours, theirs = (side.lengths + self.slack for side in chars)
        lopsided: NDArray[np.bool_] = np.maximum(ours, theirs) > self.max_ratio * np.minimum(
            ours, theirs
        )
        return lopsided

    def _copied(self, copies: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of the segments that are copied except for a label of a few words."""
        copied, translated, plain = copies.T
        mask: NDArray[np.bool_] = (
            (translated <= self.max_label)
            & (copied >= self.min_copied * np.maximum(translated, 1))
            & (plain <= translated + 1)
        )
        return mask

    def _is_foreign(self, segments: Segments, side: int) -> NDArray[np.bool_]:
        """A mask of the texts on one side that are almost certainly not in that side's language."""
        is_other = segments.own_odds[side] <= -_odds(self.min_confidence)
        is_third = segments.third_odds[side] <= -_odds(self.min_foreign)
        foreign: NDArray[np.bool_] = (segments.chars[side].weight >= self.min_letters) & (
            is_other | is_third
        )
        return foreign


def _odds(share: float) -> float:
    """The log-odds of a probability."""
    import math

    return math.log(share / (1 - share)) if share < 1 else math.inf
