"""The default verifier: a trained model over all features, for any language pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from diptych.reason import Reason
from diptych.stages.verify.shared.base import TrainedVerifier
from diptych.stages.verify.shared.features import NAMES, Features, features
from diptych.types import Candidate, Decision


@dataclass(frozen=True, slots=True)
class Classify(TrainedVerifier):
    """Scores page pairs by content, structure and alignment, with one model for all languages.

    The score is the probability that both pages have the same content.  If one page has only
    part of the other's content, the pair is rejected with the reason `partial`.
    """

    method: ClassVar[str] = "classify"
    names: ClassVar[tuple[str, ...]] = NAMES
    threshold: float = 0.6
    """minimum score of an accepted pair; above 0.5, because a wrong pair costs more than
    a missed one"""
    partial_less: float = 0.6
    """a page has content that the other lacks if less than this share of its letters has a
    counterpart"""
    partial_more: float = 0.8
    """minimum share of the other page's letters that have a counterpart; below it, the other page
    is a different page and not a part of the first"""
    partial_places: float = 0.3
    """minimum share of common words and numbers at corresponding places for `partial` to apply"""
    one_sided: float = 0.8
    """an accepted pair is flagged if less than this share of either page's letters has a
    counterpart"""

    def decide(self, candidate: Candidate) -> Decision:
        """Decide by all features; flag an accepted pair if much of one page has no counterpart."""
        row = features(candidate)
        decision = self.judge(row)
        is_one_sided = decision.accept and row.covered_less < self.one_sided
        return decision._replace(marks=("one_sided_parts",)) if is_one_sided else decision

    def judge(self, row: Features) -> Decision:
        """Return the decision for a page pair with these features, without flags."""
        decision = self.by_score(self.score(row))
        is_part = self._is_part(row)
        return Decision(False, decision.score, Reason.PARTIAL) if is_part else decision

    def _is_part(self, row: Features) -> bool:
        """True if one page has nearly all the content of the other, and clearly more."""
        return (
            row.covered_less < self.partial_less
            and row.covered_more >= self.partial_more
            and row.same_places >= self.partial_places
        )
