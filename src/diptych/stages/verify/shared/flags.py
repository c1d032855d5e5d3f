"""Flags of a page pair: facts that may be of interest even if the pair is rejected."""

from __future__ import annotations

from diptych.text.caches import TextCache
from diptych.types import Candidate

MACHINE = "machine_translated"
UNTRANSLATED = "untranslated_parts"
_MIN_SENTENCE = 30  # minimum characters of a sentence
_MIN_PROSE = 0.92  # minimum share of letters and spaces; with less it is code, a path or a formula


def pair_flags(candidate: Candidate, *, untranslated: float) -> tuple[str, ...]:
    """The flags of a page pair: machine translation of either page, and untranslated parts.

    Untranslated parts are flagged if their share exceeds `untranslated`.
    """
    found = []
    page_flags = (*candidate.left.record.flags, *candidate.right.record.flags)
    if any(flag.startswith("machine:") for flag in page_flags):
        found.append(MACHINE)
    if untranslated_share(candidate) > untranslated:
        found.append(UNTRANSLATED)
    return tuple(found)


def untranslated_share(candidate: Candidate) -> float:
    """The share of aligned running text that is identical on both pages."""
    same = total = 0
    for segment in candidate.segments:
        if segment.left and segment.right and len(segment.left) >= _MIN_SENTENCE:
            total += len(segment.left)
            if segment.left == segment.right and _is_prose[segment.left]:
                same += len(segment.left)
    return same / total if total else 0.0


def _has_mostly_letters(text: str) -> bool:
    prose = sum(char.isalpha() or char.isspace() for char in text)
    return prose >= _MIN_PROSE * len(text)


_is_prose = TextCache(_has_mostly_letters, 1_000_000)
