"""Verification by text length only: a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diptych.language.codes import primary
from diptych.reason import Reason
from diptych.stages.verify.shared.base import CheckedVerifier
from diptych.stages.verify.shared.features import letters, ratio
from diptych.types import Candidate, Decision, LangPair

_DENSE_LANGUAGES = frozenset({"zh", "yue", "wuu", "ja", "ko"})


@dataclass(frozen=True, slots=True)
class SizeRatio(CheckedVerifier):
    """Accepts two pages in two languages whose texts are about equally long.

    The score is a Gaussian of the log length ratio: 1 for equal lengths, 0.61 if the ratio deviates
    by one tolerance, 0.14 if it deviates by two.  Real translated manuals deviate by 0.05 to 0.2;
    the tolerance is larger because other sites are translated less completely.
    """

    threshold: float = 0.14
    """minimum score of an accepted pair"""
    tolerance: float = 0.3
    """standard deviation of the log length ratio"""
    dense_tolerance: float = 0.4
    """standard deviation if one side is written in ideographs or syllables, where a character
    stands for several letters"""

    def decide(self, candidate: Candidate) -> Decision:
        """Return the decision based on the ratio of the text lengths."""
        share = ratio(letters(candidate.left), letters(candidate.right))
        langs = candidate.pair.langs
        return self.by_score(self.score(share, langs), Reason.LENGTH_RATIO)

    def score(self, share: float, langs: LangPair) -> float:
        """The score for the length ratio `share`, with the tolerance for the two languages."""
        is_dense = not {*map(primary, langs)}.isdisjoint(_DENSE_LANGUAGES)
        tolerance = self.dense_tolerance if is_dense else self.tolerance
        return math.exp(-((math.log(share) / tolerance) ** 2) / 2) if share > 0 else 0.0
