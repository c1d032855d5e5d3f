"""Flags of a pair of pages: facts that a user may want to know, accepted or not."""

from __future__ import annotations

from diptych.types import Candidate, SegmentPair

MACHINE = "machine_translated"
UNTRANSLATED = "untranslated_parts"
_MIN_SENTENCE = 30  # characters of a sentence
_MIN_PROSE = 0.92  # share of letters and spaces; below it is code, a path or a formula


def pair_flags(candidate: Candidate, *, untranslated: float) -> tuple[str, ...]:
    """The flags of a pair: machine translation of either page, parts left untranslated."""
    found = []
    page_flags = (*candidate.left.record.flags, *candidate.right.record.flags)
    if any(flag.startswith("machine:") for flag in page_flags):
        found.append(MACHINE)
    if untranslated_share(candidate) > untranslated:
        found.append(UNTRANSLATED)
    return tuple(found)


def untranslated_share(candidate: Candidate) -> float:
    """Of the running text that corresponds, the share that is the same on both sides."""
    same = total = 0
    for segment in candidate.segments:
        if segment.left and segment.right and len(segment.left) >= _MIN_SENTENCE:
            total += len(segment.left)
            if _is_untranslated(segment):
                same += len(segment.left)
    return same / total if total else 0.0


def _is_untranslated(segment: SegmentPair) -> bool:
    text = segment.left
    if text != segment.right:
        return False
    prose = sum(char.isalpha() or char.isspace() for char in text)
    return prose >= _MIN_PROSE * len(text)
