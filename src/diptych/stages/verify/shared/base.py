"""Base classes for verifiers: preliminary checks, and scoring with a trained model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from diptych.reason import Reason
from diptych.stages.verify.shared.features import Features, features, read_lengths
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.model import Model, load
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision


@dataclass(frozen=True, slots=True)
class CheckedVerifier(ABC):
    """A verifier that first rejects pages that cannot be translations, then calls `decide`."""

    threshold: float = 0.5
    """minimum score of an accepted pair"""
    min_letters: float = 100.0
    """minimum number of letters in those blocks of a page that the other page lacks; pages with
    only templates and menus are useless"""
    max_copied: float = 0.8
    """maximum share of the shorter text that is identical in both pages"""
    untranslated: float = 0.15
    """the pair is flagged if more than this share of its running text is the same in both pages"""

    def verify(self, candidate: Candidate) -> Decision:
        """Return the decision with flags; the score is 0 if the pages cannot be translations."""
        read_lengths(candidate)
        flags = pair_flags(candidate, untranslated=self.untranslated)
        if reason := obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied):
            return Decision(False, 0.0, reason, flags)
        decision = self.decide(candidate)
        return decision._replace(marks=(*flags, *decision.marks))

    @abstractmethod
    def decide(self, candidate: Candidate) -> Decision:
        """Return the decision for a candidate that passed the preliminary checks."""

    def by_score(self, score: float, reason: Reason = Reason.NOT_PARALLEL) -> Decision:
        """Accept a pair if its score reaches the threshold; otherwise reject it with `reason`."""
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else reason)


@dataclass(frozen=True, slots=True)
class TrainedVerifier(CheckedVerifier):
    """A verifier whose score is the probability predicted by a trained model."""

    method: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    model: str = ""
    """folder of a model from `diptych train verify`; if empty, the one shipped with the package"""

    def decide(self, candidate: Candidate) -> Decision:
        """Return the decision based on the model's score for the candidate."""
        return self.by_score(self.score(features(candidate)))

    def score(self, row: Features) -> float:
        """The probability that two pages with these features are translations."""
        model = cached_model(self.model, self.method, self.names)
        return model.probability([getattr(row, name) for name in self.names])


@lru_cache(maxsize=8)
def cached_model(folder: str, method: str, names: tuple[str, ...]) -> Model:
    """Load a model, or return it from the cache if it has been loaded before."""
    return load(folder, method, names)
