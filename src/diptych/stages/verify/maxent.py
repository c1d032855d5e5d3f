"""Pages verified by maximum entropy over three features (Shi et al. 2006, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from diptych.stages.verify.shared.features import MAXENT, Features, features
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.model import Model, load
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision, Reason

__all__ = ["MaxEnt"]


@dataclass(frozen=True, slots=True)
class MaxEnt:
    """Maximum entropy of Shi et al. 2006: file sizes, HTML tags and sentences that align.

    The score is the model's probability.
    """

    threshold: float = 0.5
    """least score of a pair that is accepted"""
    model: str = ""
    """folder of a model of one's own (`diptych train verify`); the one that comes with the package
    if empty"""
    min_letters: float = 100.0
    """letters of a page's own text; templates and menus are not worth a pair"""
    max_copied: float = 0.8
    """share of the shorter text that is the same, letter by letter, in both pages"""
    untranslated: float = 0.15
    """share of the sentences of running text that are the same in both pages, which is marked"""

    def verify(self, candidate: Candidate) -> Decision:
        """The probability, or 0 with the reason why the pages cannot be translations."""
        flags = pair_flags(candidate, untranslated=self.untranslated)
        # DEVIATION(shi): pages in one language, copies and empty pages are told apart first, as the
        # three features cannot.
        if reason := obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied):
            return Decision(False, 0.0, reason, flags)
        score = self.score(features(candidate))
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else Reason.NOT_PARALLEL, flags)

    def score(self, row: Features) -> float:
        """The score by the three features of two pages."""
        return _loaded(self.model).probability([getattr(row, name) for name in MAXENT])


@lru_cache(maxsize=4)
def _loaded(folder: str) -> Model:
    """A model, read once for all pairs."""
    return load(folder, "maxent", MAXENT)
