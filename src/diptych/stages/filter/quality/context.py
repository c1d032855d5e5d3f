"""Measures of segments in their context, for the second model of the filter `quality`.

The second model corrects the first: it also sees the first model's scores of the neighbouring
segments and of the whole page, and it was trained on judged segments of real sites.  Swapping the
two sides does not change any measure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.learn.lexicon.bags import words_of
from diptych.stages.filter.quality.measures import NAMES
from diptych.stages.filter.shared.segments import Segments
from diptych.types import SegmentPair

Floats = NDArray[np.float64]

CONTEXT_NAMES = (
    *NAMES, "first", "first_around", "first_worst_around", "first_mean", "first_median",
    "first_good", "short_language_less", "short_language_more", "short_foreign_less",
    "short_foreign_more", "unaligned_before", "unaligned_after", "unaligned_share",
    "repeated_apart", "cut_either", "cut_both", "first_number_apart", "last_number_apart",
    "same_path", "same_tags", "role_less", "role_more",
)  # fmt: skip
"""names of the measures of the second model, in column order"""

_MAX_GAP = 5  # unaligned sentences that count
_PHRASE = 3  # words; a translation rarely repeats a phrase of this length
_CUT = re.compile(r"(?:…|\.\.\.)\W*\Z")
_FIRST_NUMBER = re.compile(r"\W*(?:\d+|[^\W\d_])[.)]\s|\W*\d+ ?[^\W\d_]")
_LAST_NUMBER = re.compile(r"\s\d+[.)]?\W*\Z")
_INDEX = re.compile(r"\[\d+\]")
_ROLES = {
    name: number
    for number, names in enumerate((
        "title", "h1 h2 h3 h4 h5 h6", "a button label option nav input", "li dt dd", "td th",
        "img area", "meta", "p blockquote",
    ), 1)
    for name in names.split()
}  # fmt: skip


def context_measures(
    segments: Segments, rows: NDArray[np.float32], first: Floats, unaligned: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Compute the measures of the second model, one row per segment.

    `rows` are the measures of the first model, and `first` are its log odds.  For each segment,
    `unaligned` has the numbers of unaligned sentences just before and after it.
    """
    odds = segments.short_odds
    columns = [
        *_first_model(first),
        np.minimum(odds[0], odds[1]), np.maximum(odds[0], odds[1]),
        np.minimum(odds[2], odds[3]), np.maximum(odds[2], odds[3]),
        *np.minimum(unaligned, _MAX_GAP).T, np.full(len(first), _unaligned_share(unaligned)),
    ]  # fmt: skip
    others = np.array([*map(_of_texts, segments.segs)], np.float64).reshape(len(first), -1)
    return np.concatenate([rows, np.stack(columns, axis=1), others], axis=1, dtype=np.float32)


def unaligned_around(segs: Sequence[SegmentPair]) -> NDArray[np.int64]:
    """For each aligned segment, count the unaligned sentences just before and just after it."""
    places = np.flatnonzero(np.fromiter((bool(s.left and s.right) for s in segs), bool, len(segs)))
    ends = np.concatenate(([-1], places, [len(segs)]))
    gaps = np.diff(ends) - 1
    return np.stack([gaps[:-1], gaps[1:]], axis=1)


def _unaligned_share(unaligned: NDArray[np.int64]) -> float:
    """The share of unaligned sentences among all segments of two pages."""
    if not len(unaligned):
        return 0.0
    count = int(unaligned[:, 0].sum() + unaligned[-1, 1])
    return count / (count + len(unaligned))


def _first_model(odds: Floats) -> list[Floats]:
    """The first model's log odds of each segment, of its neighbours, and of the pages."""
    if not len(odds):
        return [odds] * 6
    padded = np.concatenate(([0.0], odds, [0.0]))
    before, after = padded[:-2], padded[2:]
    whole = (odds.mean(), np.median(odds), (odds > 0).mean())
    return [
        odds, (before + after) / 2, np.minimum(before, after),
        *(np.full(len(odds), each) for each in whole),
    ]  # fmt: skip


def _of_texts(seg: SegmentPair) -> tuple[float, ...]:
    """The measures from `repeated_apart` on."""
    texts = seg.left, seg.right
    cut = [_CUT.search(text) is not None for text in texts]
    numbered = [_FIRST_NUMBER.match(text) is not None for text in texts]
    ends = [_LAST_NUMBER.search(text) is not None for text in texts]
    left, right = seg.left_path.partition(" ")[0], seg.right_path.partition(" ")[0]
    tags = _tags(left), _tags(right)
    roles = sorted(_role(each) for each in tags)
    return (
        abs(_repeated(seg.left, seg.left_lang) - _repeated(seg.right, seg.right_lang)),
        any(cut), all(cut), numbered[0] != numbered[1], ends[0] != ends[1],
        left == right, _common(*tags), *roles,
    )  # fmt: skip


def _repeated(text: str, lang: str) -> int:
    """The number of repeated phrases in a text.

    >>> _repeated("to put tools into the hands of users into the hands of users", "en")
    3
    """
    words = words_of(text, lang)[0]
    if len(words) < 2 * _PHRASE:
        return 0
    phrases = [*zip(*(words[start:] for start in range(_PHRASE)), strict=False)]
    return len(phrases) - len(set(phrases))


@lru_cache(maxsize=1 << 14)
def _tags(path: str) -> tuple[str, ...]:
    return tuple(_INDEX.sub("", path).strip("/").split("/"))


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """The share of tags that two paths have in common, from the root or towards it."""
    longest = max(len(left), len(right))
    return max(_prefix(left, right), _prefix(left[::-1], right[::-1])) / longest


def _prefix(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _role(tags: tuple[str, ...]) -> int:
    """The number of the innermost element that has a role; 0 if none has."""
    return next((_ROLES[tag] for tag in reversed(tags) if tag in _ROLES), 0)
