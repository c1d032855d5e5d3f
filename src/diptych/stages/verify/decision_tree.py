"""Pages verified by a decision tree over four features (Vieira & Moreira 2012, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from diptych.stages.verify.shared.features import PPLOCATOR, Features, features
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.model import Model, load
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision, Reason

__all__ = ["DecisionTree"]


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """The decision tree of PPLocator: words, bytes, HTML tags and words in common.

    The score is the share of right pairs among those of the training that ended in the same leaf.
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
        """The share of the leaf, or 0 with the reason why the pages cannot be translations."""
        flags = pair_flags(candidate, untranslated=self.untranslated)
        # DEVIATION(pplocator): pages in one language, copies and empty pages are told apart first;
        # the paper names them as the cause of most of its wrong pairs.
        if reason := obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied):
            return Decision(False, 0.0, reason, flags)
        score = self.score(features(candidate))
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else Reason.NOT_PARALLEL, flags)

    def score(self, row: Features) -> float:
        """The score by the four features of two pages."""
        return _loaded(self.model).probability([getattr(row, name) for name in PPLOCATOR])


@lru_cache(maxsize=4)
def _loaded(folder: str) -> Model:
    """A model, read once for all pairs."""
    return load(folder, "decision_tree", PPLOCATOR)
