"""Pages verified by all features, in any languages: the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from diptych.stages.verify.shared.features import NAMES, Features, features
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.model import Model, load
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision, Reason

__all__ = ["Classify"]


@dataclass(frozen=True, slots=True)
class Classify:
    """All features of content, structure and alignment, in a small model of many languages.

    The score is the probability that both pages say the same.  Where one says only a part of what
    the other does they are not parallel, and the reason is `partial`.
    """

    threshold: float = 0.6
    """least score of a pair that is accepted; above a half, as a wrong pair costs more than a lost
    one"""
    model: str = ""
    """folder of a model of one's own (`diptych train verify`); the one that comes with the package
    if empty"""
    partial_less: float = 0.6
    """share of a page's letters with a counterpart below which the other says only a part of it"""
    partial_more: float = 0.8
    """share of the other page's letters with a counterpart, from which it is a part and not merely
    another page"""
    partial_places: float = 0.3
    """and of the words and numbers on both pages, the share at corresponding places"""
    min_letters: float = 100.0
    """letters of a page's own text; templates and menus are not worth a pair"""
    max_copied: float = 0.8
    """share of the shorter text that is the same, letter by letter, in both pages"""
    one_sided: float = 0.8
    """share of a page's letters with a counterpart below which an accepted pair is marked"""
    untranslated: float = 0.15
    """share of the sentences of running text that are the same in both pages, which is marked"""

    def verify(self, candidate: Candidate) -> Decision:
        """The probability, or 0 with the reason why the pages cannot be translations."""
        flags = pair_flags(candidate, untranslated=self.untranslated)
        reason = obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied)
        if reason:
            return Decision(False, 0.0, reason, flags)
        row = features(candidate)
        decision = self.judge(row)
        if decision.accept and row.covered_less < self.one_sided:
            flags = (*flags, "one_sided_parts")
        return Decision(decision.accept, decision.score, decision.reason, flags)

    def judge(self, row: Features) -> Decision:
        """The decision by the features of two pages."""
        score = _loaded(self.model).probability(row)
        if self._is_part(row):
            return Decision(False, score, Reason.PARTIAL)
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else Reason.NOT_PARALLEL)

    def _is_part(self, row: Features) -> bool:
        """True if one page says all that the other does, and clearly more."""
        return (
            row.covered_less < self.partial_less
            and row.covered_more >= self.partial_more
            and row.same_places >= self.partial_places
        )


@lru_cache(maxsize=4)
def _loaded(folder: str) -> Model:
    """A model, read once for all pairs."""
    return load(folder, "classify", NAMES)
