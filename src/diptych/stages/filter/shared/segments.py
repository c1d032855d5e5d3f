"""Properties of the texts of segments, computed once for all rules and measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.language.switchers import name_different_languages
from diptych.stages.filter.shared.characters import CharacterCounts, count_characters
from diptych.stages.filter.shared.copies import copy_counts
from diptych.stages.filter.shared.mojibake import damage
from diptych.stages.filter.shared.side_languages import language_odds
from diptych.types import SegmentPair


class Segments(NamedTuple):
    """Segments, with properties of their left and right sides."""

    segs: Sequence[SegmentPair]
    chars: tuple[CharacterCounts, CharacterCounts]
    own_odds: tuple[NDArray[np.float64], NDArray[np.float64]]
    """for each side, log-odds of its own language against the language of the other side"""
    third_odds: tuple[NDArray[np.float64], NDArray[np.float64]]
    """for each side, log-odds of its own language against any third language"""
    damaged: tuple[NDArray[np.float64], NDArray[np.float64]]
    """for each side, the number of characters that were decoded wrongly"""
    copies: NDArray[np.int64]
    """numbers of copied, translated and plain words (`CopyCounts`), one row per segment"""
    language_names: NDArray[np.bool_]
    """True where the sides name two different languages, as language menus do"""
    identical: NDArray[np.bool_]
    """True where both sides are equal, ignoring case and all characters other than letters"""


def read_segments(segs: Sequence[SegmentPair]) -> Segments:
    """Compute the properties that filters use, for segments that all have one language pair."""
    lefts, rights = [seg.left for seg in segs], [seg.right for seg in segs]
    langs = (segs[0].left_lang, segs[0].right_lang) if segs else ("", "")
    ours, theirs = count_characters(lefts), count_characters(rights)
    left, left_third = language_odds(lefts, ours.weight, langs[0], langs[1])
    right, right_third = language_odds(rights, theirs.weight, langs[1], langs[0])
    damaged = [np.fromiter(map(damage, texts), np.float64, len(texts)) for texts in (lefts, rights)]
    return Segments(
        segs,
        (ours, theirs),
        (left, right),
        (left_third, right_third),
        (damaged[0], damaged[1]),
        np.array([*map(copy_counts, lefts, rights)], np.int64).reshape(-1, 3),
        np.fromiter(
            (name_different_languages(*texts, langs) for texts in zip(lefts, rights, strict=True)),
            bool,
            len(segs),
        ),
        np.fromiter(map(_are_identical, lefts, rights), bool, len(segs)),
    )


def _are_identical(left: str, right: str) -> bool:
    if left == right:
        return True
    if left[:1].isalpha() and right[:1].isalpha() and left[:1].lower() != right[:1].lower():
        return False  # fast path for most segments
    return _letters(left) == _letters(right) != ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))
