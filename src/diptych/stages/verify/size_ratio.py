"""Pages verified by the lengths of their texts: a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass

from diptych.language.codes import primary
from diptych.stages.verify.shared.features import letters, ratio
from diptych.stages.verify.shared.flags import pair_flags
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.types import Candidate, Decision, LangPair, Reason

__all__ = ["SizeRatio"]

_DENSE_LANGUAGES = frozenset({"zh", "yue", "wuu", "ja", "ko"})


@dataclass(frozen=True, slots=True)
class SizeRatio:
    """Two pages in two languages whose texts are about as long.

    The score is that of a normal deviate of the logarithm of the ratio: 1 for equal lengths, 0.61
    at one tolerance, 0.14 at two.  True pairs of real manuals deviate by 0.05 to 0.2; the tolerance
    is larger since pages of other sites are translated less completely.
    """

    threshold: float = 0.14
    """least score of a pair that is accepted"""
    tolerance: float = 0.3
    """standard deviation of the logarithm of the ratio"""
    dense_tolerance: float = 0.4
    """with ideographs or syllables on one side, where a character stands for several letters"""
    min_letters: float = 100.0
    """letters of a page's own text; templates and menus are not worth a pair"""
    max_copied: float = 0.8
    """share of the shorter text that is the same, letter by letter, in both pages"""
    untranslated: float = 0.15
    """share of the sentences of running text that are the same in both pages, which is marked"""

    def verify(self, candidate: Candidate) -> Decision:
        """The length score, or 0 with the reason why the pages cannot be translations."""
        flags = pair_flags(candidate, untranslated=self.untranslated)
        if reason := obstacle(candidate, min_letters=self.min_letters, max_copied=self.max_copied):
            return Decision(False, 0.0, reason, flags)
        score = self.score(
            ratio(letters(candidate.left), letters(candidate.right)),
            LangPair(candidate.pair.left_lang, candidate.pair.right_lang),
        )
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else Reason.LENGTH_RATIO, flags)

    def score(self, share: float, langs: LangPair) -> float:
        """The score of a ratio of lengths, in two languages."""
        is_dense = not {*map(primary, langs)}.isdisjoint(_DENSE_LANGUAGES)
        tolerance = self.dense_tolerance if is_dense else self.tolerance
        return math.exp(-((math.log(share) / tolerance) ** 2) / 2) if share > 0 else 0.0
