"""Segments measured in every way that needs no language: what `quality` judges them by.

Every measure is the same if the sides are exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.quality.vocabulary import Joined, Words, joined, sides
from diptych.stages.filter.shared.characters import Counted, Kind
from diptych.stages.filter.shared.segments import Segments
from diptych.types import SegmentPair

__all__ = ["NAMES", "measures"]

Floats = NDArray[np.float64]

NAMES = (
    "alignment", "length", "length_ratio", "length_off", "words_off", "word_length_off",
    "gain_less", "gain_more", "margin_less", "margin_more", "known_less", "known_more",
    "told_less", "told_more", "covered_less", "covered_more", "links", "in_order", "displaced",
    "jumps", "numbers", "numbers_lost", "numbers_kept", "names", "names_lost", "names_kept",
    "addresses_lost", "copied",
    "varied_less", "varied_apart", "language_less", "language_more", "foreign_less",
    "foreign_more", "end_differs", "begin_differs", "stops_apart", "commas_apart",
    "questions_apart", "colons_apart", "brackets_apart", "quotes_apart", "codes_apart",
    "breaks_apart", "letters_less", "upper_apart", "damaged", "neighbour_alignment",
    "neighbour_gain",
    "page_gain", "page_length",
)  # fmt: skip
"""what is measured, in this order"""

_SLACK = 15.0  # letters added to lengths: short texts vary more
_WORDS = 3.0  # the same for words
_USUAL = 20.0  # segments at which half of what a page says of its lengths is believed
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_PAIRS = (
    ("stops_apart", Kind.STOP), ("commas_apart", Kind.COMMA), ("colons_apart", Kind.COLON),
    ("brackets_apart", Kind.BRACKET), ("quotes_apart", Kind.QUOTE), ("codes_apart", Kind.CODE),
)  # fmt: skip


def measures(found: Segments, lexicon: Lexicon) -> NDArray[np.float32]:
    """One row per segment, one column per name."""
    ours, theirs = sides(found.segs)
    said = joined(ours, theirs, lexicon)
    columns: dict[str, Floats] = {
        "alignment": np.fromiter((seg.score for seg in found.segs), np.float64, len(found.segs)),
        **_lengths(ours, theirs, found.chars),
        **_words(said, ours, theirs),
        **_characters(found.chars),
        **_languages(found),
        "addresses_lost": _addresses(found.segs),
        "damaged": found.damaged[0] + found.damaged[1],
        "varied_less": np.minimum(*(_variety(side) for side in (ours, theirs))),
        "varied_apart": np.abs(np.subtract(*(_variety(side) for side in (ours, theirs)))),
    }
    columns |= _around(columns)
    return np.stack([columns[name] for name in NAMES], axis=1).astype(np.float32)


def _lengths(ours: Words, theirs: Words, chars: tuple[Counted, Counted]) -> dict[str, Floats]:
    """Lengths beside each other, and beside what is usual on these pages."""
    ratio = np.log((ours.lengths + _SLACK) / (theirs.lengths + _SLACK))
    words = np.log((ours.tokens + _WORDS) / (theirs.tokens + _WORDS))
    long = [
        np.log((chars[side].letters + 5.0) / (words_of.tokens + 1.0))
        for side, words_of in enumerate((ours, theirs))
    ]
    off = [np.abs(each - _usual(each)) for each in long]
    return {
        "length": np.log1p(np.minimum(ours.lengths, theirs.lengths)),
        "length_ratio": np.abs(ratio),
        "length_off": _deviation(ratio - _usual(ratio), ours, theirs),
        "words_off": np.abs(words - _usual(words)),
        "word_length_off": np.maximum(off[0], off[1]),
    }


def _usual(values: Floats) -> Floats | float:
    """The median of a page, drawn to nothing where there are few segments."""
    if not len(values):
        return 0.0
    return float(np.median(values)) * len(values) / (len(values) + _USUAL)


def _deviation(ratio: Floats, ours: Words, theirs: Words) -> Floats:
    """How far off a ratio is for the lengths: it varies less where there is more text."""
    mean = (ours.lengths + theirs.lengths) / 2 + _SLACK
    return np.abs(ratio) * np.sqrt(mean) / 2.6  # Gale & Church 1993: 6.8 is the variance


def _words(said: Joined, ours: Words, theirs: Words) -> dict[str, Floats]:
    """What words say, of the side that says less and of the other."""
    told = tuple(
        known / np.maximum(side.tokens, 1.0)
        for known, side in zip(said.known, (ours, theirs), strict=True)
    )
    found = {
        f"{name}_{which}": pick(*values)
        for name, values in (
            ("gain", said.gains), ("margin", said.margins), ("known", said.known),
            ("covered", said.covered), ("told", told),
        )
        for which, pick in (("less", np.minimum), ("more", np.maximum))
    }  # fmt: skip
    found["known_less"], found["known_more"] = (
        np.log1p(found["known_less"]), np.log1p(found["known_more"]),
    )  # fmt: skip
    return found | {
        "links": np.log1p(said.links),
        "in_order": said.in_order,
        "displaced": said.displaced,
        "jumps": said.jumps,
        **_kept("numbers", said.numbers),
        **_kept("names", said.names),
        "copied": said.copied,
    }


def _kept(name: str, counts: tuple[Floats, Floats, Floats]) -> dict[str, Floats]:
    """What is on both sides and on one only, and as a share, drawn to a half where it is little."""
    both, lost = counts[0], counts[1] + counts[2]
    return {name: both, f"{name}_lost": lost, f"{name}_kept": (both + 1.0) / (both + lost + 2.0)}


def _characters(chars: tuple[Counted, Counted]) -> dict[str, Floats]:
    """Punctuation, brackets, capitals: in what the sides differ."""
    ours, theirs = chars
    apart = np.abs(ours.kinds - theirs.kinds).astype(np.float64)
    share = [side.letters / np.maximum(side.visible, 1) for side in chars]
    upper = [
        (side.kinds[:, Kind.UPPER] + 1.0)
        / (side.kinds[:, Kind.UPPER] + side.kinds[:, Kind.LOWER] + 10.0)
        for side in chars
    ]
    found = {name: apart[:, kind] for name, kind in _PAIRS}
    return found | {
        "questions_apart": apart[:, Kind.QUESTION] + apart[:, Kind.EXCLAMATION],
        "breaks_apart": np.abs(ours.breaks - theirs.breaks).astype(np.float64),
        "end_differs": _differ(ours.last, theirs.last),
        "begin_differs": _cases_differ(ours.first, theirs.first),
        "letters_less": np.minimum(share[0], share[1]),
        "upper_apart": np.where(_has_cases(ours) & _has_cases(theirs),
                                np.abs(upper[0] - upper[1]), 0.0),
    }  # fmt: skip


def _differ(ours: NDArray[np.uint8], theirs: NDArray[np.uint8]) -> Floats:
    """Whether texts end in other ways; all letters and digits are one."""
    ends = [np.where(side < Kind.STOP, 0, side) for side in (ours, theirs)]
    return np.where(ends[0] != ends[1], 1.0, 0.0)


def _cases_differ(ours: NDArray[np.uint8], theirs: NDArray[np.uint8]) -> Floats:
    """Whether one text begins with a capital and the other with a small letter."""
    cases = (Kind.LOWER, Kind.UPPER)
    differ = np.isin(ours, cases) & np.isin(theirs, cases) & (ours != theirs)
    return np.where(differ, 1.0, 0.0)


def _has_cases(side: Counted) -> NDArray[np.bool_]:
    return side.kinds[:, Kind.LOWER] > 0


def _languages(found: Segments) -> dict[str, Floats]:
    return {
        "language_less": np.minimum(*found.tongues),
        "language_more": np.maximum(*found.tongues),
        "foreign_less": np.minimum(*found.thirds),
        "foreign_more": np.maximum(*found.thirds),
    }


def _addresses(segs: Sequence[SegmentPair]) -> Floats:
    """URLs and e-mail addresses that only one side has."""
    lost = np.zeros(len(segs))
    for place, seg in enumerate(segs):
        if "://" in seg.left or "@" in seg.left or "www." in seg.left or (
            "://" in seg.right or "@" in seg.right or "www." in seg.right
        ):  # fmt: skip
            ours, theirs = (
                {address.rstrip(".,;:)") for address in _ADDRESS.findall(text)}
                for text in (seg.left, seg.right)
            )
            lost[place] = len(ours ^ theirs)
    return lost


def _variety(words: Words) -> Floats:
    """Different words for each word, of a text that repeats itself less."""
    types = np.diff(words.bags.offsets)
    return (types + 2.0) / (words.tokens + 2.0)


def _around(columns: dict[str, Floats]) -> dict[str, Floats]:
    """How good the neighbours are, and the pages as a whole."""
    gain = columns["gain_less"]
    page = float(np.median(gain)) if len(gain) else 0.0
    off = columns["length_off"]
    return {
        "neighbour_alignment": _neighbours(columns["alignment"], 0.5),
        "neighbour_gain": _neighbours(gain, page),
        "page_gain": np.full(len(gain), page),
        "page_length": np.full(len(gain), float(np.median(off)) if len(off) else 0.0),
    }


def _neighbours(values: Floats, outside: float) -> Floats:
    """The mean of the values before and after each."""
    padded = np.concatenate(([outside], values, [outside]))
    return (padded[:-2] + padded[2:]) / 2
