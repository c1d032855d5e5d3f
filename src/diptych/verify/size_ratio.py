"""Pages verified by the length of their text: the least that a translation must fulfil."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from diptych.text.langs import primary, same_language
from diptych.text.lengths import text_length
from diptych.types import Decision, Page

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
    min_length: float = 100.0
    """letters of text; pages of menus only are not worth a pair"""
    max_copied: float = 0.8
    """share of the shorter text that is the same, letter by letter, in both pages"""

    def verify(self, left: Page, right: Page) -> Decision:
        """The length score, or 0 with the reason why the pages cannot be translations."""
        if reason := self._obstacle(left, right):
            return Decision(False, 0.0, reason)
        deviation = math.log(_length(left) / _length(right))
        dense = {primary(left.lang), primary(right.lang)} & _DENSE_LANGUAGES
        tolerance = self.dense_tolerance if dense else self.tolerance
        score = math.exp(-((deviation / tolerance) ** 2) / 2)
        accept = score >= self.threshold
        return Decision(accept, score, "" if accept else "length_ratio")

    def _obstacle(self, left: Page, right: Page) -> str:
        """Why two pages cannot be translations, whatever their lengths; nothing if they can."""
        if left.record.digest == right.record.digest:
            return "copy"
        if min(_length(left), _length(right)) < max(self.min_length, 1.0):
            return "too_little_text"
        if not left.lang or not right.lang:
            return "unknown_language"
        if same_language(left.lang, right.lang):
            return "same_language"
        return "copy" if _copied(left, right) > self.max_copied else ""


def _length(page: Page) -> float:
    return sum(text_length(block.text) for block in page.blocks)


def _copied(left: Page, right: Page) -> float:
    """The share of the shorter text in blocks that are the same in both pages."""
    ours = Counter(block.text for block in left.blocks)
    theirs = Counter(block.text for block in right.blocks)
    same = sum(len(text) * count for text, count in (ours & theirs).items())
    shorter = min(
        sum(len(text) * count for text, count in texts.items()) for texts in (ours, theirs)
    )
    return same / shorter if shorter else 0.0
