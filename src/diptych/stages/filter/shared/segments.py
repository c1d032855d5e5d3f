"""Properties of the texts of segments, computed once for all rules and measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.tables import ends_of
from diptych.kernels.text_hints import TextHint, text_hints
from diptych.language.identify import Labelled, whole_model
from diptych.stages.filter.shared.characters import CharacterCounts, Kind, count_characters
from diptych.stages.filter.shared.mojibake import damage
from diptych.stages.filter.shared.row_table import RowTable
from diptych.stages.filter.shared.side_languages import language_odds
from diptych.stages.filter.shared.text_pairs import COLUMNS as PAIR_COLUMNS
from diptych.stages.filter.shared.text_pairs import read_pairs
from diptych.types import SegmentPair

_COLUMNS = len(Kind) + 7  # numbers in the cached row of a text
_MAY_BE_DAMAGED = int(TextHint.UNREAD | TextHint.SUSPECT)
_LANG_PAIRS = 8  # language pairs with a cache
_MAX_BYTES = 16_000_000  # of the texts of a side, and of pairs: some 25,000


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
    copies: NDArray[np.float64]
    """numbers of copied, translated and plain words (`CopyCounts`), one row per segment"""
    language_names: NDArray[np.bool_]
    """True where the sides name two different languages, as language menus do"""
    identical: NDArray[np.bool_]
    """True where both sides are equal, ignoring case and all characters other than letters"""
    addresses_lost: NDArray[np.float64]
    """number of URLs and e-mail addresses on only one side"""
    excerpts: NDArray[np.float64]
    """1 where both sides end with an ellipsis"""


def read_segments(segs: Sequence[SegmentPair], sizes: Sequence[int] | None = None) -> Segments:
    """Compute the properties that filters use, for segments that all have one language pair.

    `sizes` are the sizes of groups; by default, all segments are one.  A site repeats most of its
    texts on many pages, so the properties of texts are cached.
    """
    lefts, rights = [seg.left for seg in segs], [seg.right for seg in segs]
    langs = (segs[0].left_lang, segs[0].right_lang) if segs else ("", "")
    with _borrowed(_free(whole_model(), langs), langs) as cache:
        left, right, pairs = cache.read(lefts, rights)
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
        pairs[:, 5].copy(),
        pairs[:, 6].copy(),
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


def _read_anew(texts: Sequence[str], own: str, other: str) -> _Side:
    chars = count_characters(texts)
    odds = language_odds(texts, chars.weight, own, other)
    damaged = np.zeros(len(texts))
    for place in np.flatnonzero(text_hints(texts) & _MAY_BE_DAMAGED).tolist():
        damaged[place] = damage(texts[place])
    return _Side(chars, *odds, damaged)


class _Cached:
    """A cache of the rows of texts and of text pairs in two languages; not for several threads."""

    def __init__(self, langs: tuple[str, str]) -> None:
        self._langs = langs
        self._sides = RowTable[str](_COLUMNS, _MAX_BYTES), RowTable[str](_COLUMNS, _MAX_BYTES)
        self._pairs = RowTable[int](PAIR_COLUMNS, _MAX_BYTES)

    def read(
        self, lefts: Sequence[str], rights: Sequence[str]
    ) -> tuple[_Side, _Side, NDArray[np.float64]]:
        """Read the texts on both sides of segments; only texts that are not cached are read."""
        if any(table.is_full for table in (*self._sides, self._pairs)):
            for table in (*self._sides, self._pairs):
                table.clear()
        ours = self._sides[0].places(lefts, self._left)
        theirs = self._sides[1].places(rights, self._right)
        keys = [one << 32 | other for one, other in zip(ours, theirs, strict=True)]

        def read_new(new: list[int]) -> NDArray[np.float64]:
            at = dict(zip(keys, range(len(keys)), strict=True))
            places = [at[key] for key in new]
            ours, theirs = [lefts[place] for place in places], [rights[place] for place in places]
            return read_pairs(ours, theirs, self._langs)

        pairs = self._pairs.places(keys, read_new)
        return (
            _Side.of_rows(self._sides[0].chosen(ours)),
            _Side.of_rows(self._sides[1].chosen(theirs)),
            self._pairs.chosen(pairs),
        )

    def _left(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return _read_anew(texts, *self._langs).to_rows()

    def _right(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return _read_anew(texts, *self._langs[::-1]).to_rows()


@lru_cache(maxsize=_LANG_PAIRS)
def _free(model: Labelled, langs: tuple[str, str]) -> list[_Cached]:
    """The cache for a language model and two languages, unless a thread has borrowed it."""
    return []


@contextmanager
def _borrowed(free: list[_Cached], langs: tuple[str, str]) -> Iterator[_Cached]:
    """Lend a free cache, or a new one."""
    try:
        cache = free.pop()
    except IndexError:
        cache = _Cached(langs)
    yield cache
    if not free:
        free.append(cache)
