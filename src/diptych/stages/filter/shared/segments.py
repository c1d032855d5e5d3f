"""Properties of the texts of segments, computed once for all rules and measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.tables import ends_of
from diptych.language.identify import Labelled, whole_model
from diptych.language.switchers import name_different_languages
from diptych.stages.filter.shared.characters import CharacterCounts, Kind, count_characters
from diptych.stages.filter.shared.copies import copy_counts
from diptych.stages.filter.shared.mojibake import damage
from diptych.stages.filter.shared.side_languages import language_odds
from diptych.text.caches import TextMap
from diptych.types import SegmentPair

_COLUMNS = len(Kind) + 7  # numbers in the cached row of a text
_LANG_PAIRS = 8  # language pairs with a cache
_MAX_BYTES = 16_000_000  # of a cache: some 25,000 texts
_ARRAY, _TUPLE = 110, 150  # bytes of a small array without its numbers, and of a tuple


class Segments(NamedTuple):
    """Segments, with properties of their left and right sides."""

    segs: Sequence[SegmentPair]
    groups: NDArray[np.int64]
    """index of the first segment of each group, such as two pages, and the number of segments"""
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


def read_segments(
    segs: Sequence[SegmentPair], sizes: Sequence[int] | None = None
) -> Segments:
    """Compute the properties that filters use, for segments that all have one language pair.

    `sizes` are the sizes of groups; by default, all segments are one.  A site repeats most of its
    texts on many pages, so the properties of texts are cached.
    """
    lefts, rights = [seg.left for seg in segs], [seg.right for seg in segs]
    langs = (segs[0].left_lang, segs[0].right_lang) if segs else ("", "")
    left, right = _read_side(lefts, *langs), _read_side(rights, *langs[::-1])
    pairs = np.array(
        [_read_pair(*texts, langs) for texts in zip(lefts, rights, strict=True)], np.int64
    ).reshape(-1, 5)
    return Segments(
        segs,
        ends_of(np.array([len(segs)] if sizes is None else sizes, np.int64)),
        (left.chars, right.chars),
        (left.own_odds, right.own_odds),
        (left.third_odds, right.third_odds),
        (left.damaged, right.damaged),
        pairs[:, :3],
        pairs[:, 3].astype(bool),
        pairs[:, 4].astype(bool),
    )


class _Side(NamedTuple):
    """Properties of texts, one row per text."""

    chars: CharacterCounts
    own_odds: NDArray[np.float64]
    third_odds: NDArray[np.float64]
    damaged: NDArray[np.float64]

    def to_rows(self) -> NDArray[np.float64]:
        chars = self.chars
        others = (chars.first, chars.last, chars.breaks, chars.lengths, *self[1:])
        return np.column_stack([chars.kinds, *others]).astype(np.float64)

    @classmethod
    def of_rows(cls, rows: NDArray[np.float64]) -> _Side:
        kinds, (first, last, breaks, lengths, *odds) = rows[:, : len(Kind)], rows[:, len(Kind) :].T
        chars = CharacterCounts(
            kinds.astype(np.int64), first.astype(np.uint8), last.astype(np.uint8),
            breaks.astype(np.int64), lengths,
        )  # fmt: skip
        return cls(chars, *odds)


def _read_side(texts: Sequence[str], own: str, other: str) -> _Side:
    """Read the texts of one side; only texts that are not cached are read."""
    cache = _cached_sides(whole_model(), own, other)
    found = {text: cache.get(text) for text in texts}
    if new := [text for text, row in found.items() if row is None]:
        for text, row in zip(new, _read_anew(new, own, other).to_rows(), strict=True):
            found[text] = cache.keep(text, row)
    rows = np.array([found[text] for text in texts], np.float64)
    return _Side.of_rows(rows.reshape(len(texts), _COLUMNS))


def _read_anew(texts: Sequence[str], own: str, other: str) -> _Side:
    chars = count_characters(texts)
    odds = language_odds(texts, chars.weight, own, other)
    return _Side(chars, *odds, np.fromiter(map(damage, texts), np.float64, len(texts)))


@lru_cache(maxsize=_LANG_PAIRS)
def _cached_sides(model: Labelled, own: str, other: str) -> TextMap[NDArray[np.float64]]:
    """A cache of the rows of texts, for a language model and two languages."""
    return TextMap(_MAX_BYTES, per_entry=8 * _COLUMNS + _ARRAY, per_character=2)


def _read_pair(left: str, right: str, langs: tuple[str, str]) -> tuple[int, ...]:
    """The copied, translated and plain words of two texts, and whether they name languages.

    The last number is 1 if the texts are identical.
    """
    cache, texts = _cached_pairs(*langs), f"{left}\0{right}"
    found = cache.get(texts)
    if found is None:
        is_named = name_different_languages(left, right, langs)
        found = (*copy_counts(left, right), is_named, _are_identical(left, right))
        cache.keep(texts, found)
    return found


@lru_cache(maxsize=_LANG_PAIRS)
def _cached_pairs(left: str, right: str) -> TextMap[tuple[int, ...]]:
    """A cache of the properties of text pairs in two languages."""
    return TextMap(_MAX_BYTES, per_entry=_TUPLE, per_character=2)


def _are_identical(left: str, right: str) -> bool:
    if left == right:
        return True
    if left[:1].isalpha() and right[:1].isalpha() and left[:1].lower() != right[:1].lower():
        return False  # fast path for most segments
    return _letters(left) == _letters(right) != ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))
