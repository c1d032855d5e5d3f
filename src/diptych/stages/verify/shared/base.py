"""Base classes of verifiers: checks before any score, and a trained model of some features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from diptych.reason import Reason
from diptych.stages.verify.shared.features import Features, features
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.model import Model, load
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision


@dataclass(frozen=True, slots=True)
class CheckedVerifier(ABC):
    """A verifier that first rejects pages that cannot be translations; `decide` does the rest."""

    threshold: float = 0.5
    """least score of a pair that is accepted"""
    min_letters: float = 100.0
    """letters of a page's own text; templates and menus are not worth a pair"""
    max_copied: float = 0.8
    """share of the shorter text that is the same, letter by letter, in both pages"""
    untranslated: float = 0.15
    """share of the sentences of running text that are the same in both pages, which is marked"""

    def verify(self, candidate: Candidate) -> Decision:
        """The decision with its flags; the score is 0 if the pages cannot be translations."""
        flags = pair_flags(candidate, untranslated=self.untranslated)
        if reason := obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied):
            return Decision(False, 0.0, reason, flags)
        decision = self.decide(candidate)
        return replace(decision, marks=(*flags, *decision.marks))

    @abstractmethod
    def decide(self, candidate: Candidate) -> Decision:
        """The decision on pages that may be translations."""

    def by_score(self, score: float, reason: Reason = Reason.NOT_PARALLEL) -> Decision:
        """The decision on a score; a reject has the reason given."""
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else reason)


@dataclass(frozen=True, slots=True)
class TrainedVerifier(CheckedVerifier):
    """A verifier whose score is the probability of a trained model of some features."""

    method: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    model: str = ""
    """folder of a model of one's own (`diptych train verify`); the one that comes with the package
    if empty"""

    def decide(self, candidate: Candidate) -> Decision:
        """The decision by the score of the features."""
        return self.by_score(self.score(features(candidate)))

    def score(self, row: Features) -> float:
        """The probability by the features of two pages."""
        model = cached_model(self.model, self.method, self.names)
        return model.probability([getattr(row, name) for name in self.names])


@lru_cache(maxsize=8)
def cached_model(folder: str, method: str, names: tuple[str, ...]) -> Model:
    """A model, read once for all pairs."""
    return load(folder, method, names)
