"""Pages verified by all features, in any languages: the default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from diptych.reason import Reason
from diptych.stages.verify.shared.base import TrainedVerifier
from diptych.stages.verify.shared.features import NAMES, Features, features
from diptych.types import Candidate, Decision


@dataclass(frozen=True, slots=True)
class Classify(TrainedVerifier):
    """All features of content, structure and alignment, in a small model of many languages.

    The score is the probability that both pages say the same.  Where one says only a part of what
    the other does they are not parallel, and the reason is `partial`.
    """

    method: ClassVar[str] = "classify"
    names: ClassVar[tuple[str, ...]] = NAMES
    threshold: float = 0.6
    """least score of a pair that is accepted; above a half, as a wrong pair costs more than a lost
    one"""
    partial_less: float = 0.6
    """share of a page's letters with a counterpart below which the other says only a part of it"""
    partial_more: float = 0.8
    """share of the other page's letters with a counterpart, from which it is a part and not merely
    another page"""
    partial_places: float = 0.3
    """and of the words and numbers on both pages, the share at corresponding places"""
    one_sided: float = 0.8
    """share of a page's letters with a counterpart below which an accepted pair is marked"""

    def decide(self, candidate: Candidate) -> Decision:
        """The decision by all features; an accepted pair may be flagged as one-sided."""
        row = features(candidate)
        decision = self.judge(row)
        is_one_sided = decision.accept and row.covered_less < self.one_sided
        return replace(decision, marks=("one_sided_parts",)) if is_one_sided else decision

    def judge(self, row: Features) -> Decision:
        """The decision by the features of two pages."""
        decision = self.by_score(self.score(row))
        is_part = self._is_part(row)
        return Decision(False, decision.score, Reason.PARTIAL) if is_part else decision

    def _is_part(self, row: Features) -> bool:
        """True if one page says all that the other does, and clearly more."""
        return (
            row.covered_less < self.partial_less
            and row.covered_more >= self.partial_more
            and row.same_places >= self.partial_places
        )
