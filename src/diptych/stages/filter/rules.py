"""Hard rules that every segment pair must pass; each rule has its own reason for rejection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        rules = self._rules(segments)
        first = np.full(len(segments.segs), len(rules))
        for place, (_, is_broken) in reversed([*enumerate(rules)]):
            first[is_broken] = place  # in reverse order, so that the first rule wins
        names = [*(str(name) for name, _ in rules), ""]
        return [names[place] for place in first.tolist()]

    def _rules(self, segments: Segments) -> list[tuple[str, NDArray[np.bool_]]]:
        """Each rule with a mask of the segments that break it, in the order of checking."""
        chars = segments.chars
        visible = [side.visible for side in chars]
        return [
            (Reason.EMPTY, _either(count == 0 for count in visible)),
            (Reason.TOO_LONG, _either(side.lengths > self.max_length for side in chars)),
            (Reason.NO_LETTERS, _either(side.letters == 0 for side in chars)),
            (Reason.MOJIBAKE, _either(count > self.max_damage for count in segments.damaged)),
            (Reason.MOSTLY_DIGITS, _is_mostly(Kind.DIGIT, self.max_digits, chars, visible)),
            (Reason.MOSTLY_MARKUP, _is_mostly(Kind.CODE, self.max_code, chars, visible)),
            (Reason.IDENTICAL, segments.identical),
            (Reason.LANGUAGE_NAMES, segments.language_names),
            (Reason.LENGTH_RATIO, self._lopsided(chars)),
            (Reason.COPIED, self._copied(segments.copies)),
            (Reason.WRONG_LANGUAGE, _either(self._is_foreign(segments, side) for side in (0, 1))),
        ]

    def _lopsided(self, chars: tuple[CharacterCounts, CharacterCounts]) -> NDArray[np.bool_]:
        ours, theirs = (side.lengths + self.slack for side in chars)
        lopsided: NDArray[np.bool_] = np.maximum(ours, theirs) > self.max_ratio * np.minimum(
            ours, theirs
        )
        return lopsided

    def _copied(self, copies: NDArray[np.float64]) -> NDArray[np.bool_]:
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


def _either(sides: Iterable[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """A mask that is True where the mask of the left or of the right side is."""
    left, right = sides
    return left | right


def _is_mostly(
    kind: Kind, most: float, chars: Iterable[CharacterCounts], visible: Iterable[NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """A mask of the segments with a side whose share of visible characters of a kind is too high.

    `visible` are the numbers of visible characters on each side.
    """
    return _either(
        side.kinds[:, kind] / np.maximum(total, 1) > most
        for side, total in zip(chars, visible, strict=True)
    )


def _odds(share: float) -> float:
    """The log-odds of a probability."""
    import math

    return math.log(share / (1 - share)) if share < 1 else math.inf
