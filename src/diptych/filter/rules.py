"""Hard rules that any segment pair must pass, each with a reason of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from diptych.text.langid import identify
from diptych.text.langs import same_language
from diptych.text.lengths import text_length
from diptych.types import Decision, LangScore, SegmentPair

__all__ = ["Rules"]

_LETTER, _LETTERS = re.compile(r"[^\W\d_]"), re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Rules:
    """What cannot be a translation, by form alone; what is left keeps the score it came with."""

    max_length: int = 2000
    """characters on one side; longer ones are texts that were not split"""
    max_ratio: float = 3.0
    """of the lengths of both sides, an ideograph counting as several letters"""
    slack: float = 15.0
    """letters added to both sides, since short ones vary more: OK, D'accord"""
    min_letters: int = 40
    """letters a side must have for its language to be doubted"""
    min_confidence: float = 0.9
    """probability that a side is in the other language, of the two"""

    def judge(self, seg: SegmentPair) -> Decision:
        """The segment's own score; a reject names the first rule it broke."""
        reason = self._broken_rule(seg)
        return Decision(not reason, seg.score, reason)

    def _broken_rule(self, seg: SegmentPair) -> str:
        left, right = seg.left.strip(), seg.right.strip()
        if not left or not right:
            return "empty"
        if max(len(left), len(right)) > self.max_length:
            return "too_long"
        if not _LETTER.search(left) or not _LETTER.search(right):
            return "no_letters"
        if left.casefold() == right.casefold():
            return "identical"
        if self._is_lopsided(left, right):
            return "length_ratio"
        langs = (seg.left_lang, seg.right_lang)
        wrong = self._is_in(left, seg.right_lang, langs) or self._is_in(right, seg.left_lang, langs)
        return "wrong_language" if wrong else ""

    def _is_lopsided(self, left: str, right: str) -> bool:
        shorter, longer = sorted((text_length(left), text_length(right)))
        return (longer + self.slack) / (shorter + self.slack) > self.max_ratio

    def _is_in(self, text: str, lang: str, langs: tuple[str, str]) -> bool:
        """Whether a text is surely in one of two languages."""
        is_short = len(text) < self.min_letters or _letters(text) < self.min_letters
        if is_short or same_language(*langs):
            return False
        best = _languages(text, langs)[:1]
        return any(
            same_language(lang, found) and score >= self.min_confidence for found, score in best
        )


def _letters(text: str) -> int:
    return sum(map(len, _LETTERS.findall(text)))


@lru_cache(maxsize=1 << 12)  # menus and notices come again on every page
def _languages(text: str, langs: tuple[str, str]) -> tuple[LangScore, ...]:
    return identify(text, langs)
