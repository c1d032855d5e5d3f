"""Language-independent measures of segments for the filter `quality`.

Swapping the two sides does not change any measure.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import borrowed_stems
from diptych.stages.filter.quality.side_words import SideWords, both_sides
from diptych.stages.filter.quality.vocabulary import WordEvidence, word_evidence
from diptych.stages.filter.shared.characters import CharacterCounts, Kind
from diptych.stages.filter.shared.segments import Segments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
"""names of the measures, in column order"""

_SLACK = 15.0  # letters added to lengths, because short texts vary more
_WORD_SLACK = 3.0  # the same for numbers of words
_PRIOR_SEGMENTS = 20.0  # weight, in segments, of a prior median of 0
_COUNTED_KINDS = (
    ("stops_apart", Kind.STOP), ("commas_apart", Kind.COMMA), ("colons_apart", Kind.COLON),
    ("brackets_apart", Kind.BRACKET), ("quotes_apart", Kind.QUOTE), ("codes_apart", Kind.CODE),
)  # fmt: skip


def measures(segments: Segments, lexicon: Lexicon) -> NDArray[np.float32]:
    """Compute all measures: one row per segment, and one column per measure in `NAMES`."""
    return rows_of(measure_columns(segments, lexicon))


def rows_of(columns: Mapping[str, Floats]) -> NDArray[np.float32]:
    """Select the measures in `NAMES`: one row per segment, and one column per measure."""
    return np.stack([columns[name] for name in NAMES], axis=1).astype(np.float32)


def measure_columns(segments: Segments, lexicon: Lexicon) -> dict[str, Floats]:
    """Compute all measures by name, including those of `correction`."""
    groups = segments.groups
    with borrowed_stems() as stems:
        ours, theirs = both_sides(segments.segs, stems, groups)
        evidence = word_evidence(ours, theirs, lexicon)
    varieties = _variety(ours), _variety(theirs)
    columns: dict[str, Floats] = {
        "alignment": np.array([seg.score for seg in segments.segs], np.float64),
        **_lengths(ours, theirs, segments.chars),
        **_words(evidence, ours, theirs),
        **_characters(segments.chars),
        **_languages(segments),
        "addresses_lost": segments.addresses_lost,
        "damaged": segments.damaged[0] + segments.damaged[1],
        "varied_less": np.minimum(*varieties),
        "varied_apart": np.abs(np.subtract(*varieties)),
    }
    forms = {
        "excerpts": segments.excerpts,
        "same_path": np.array([seg.left_path == seg.right_path for seg in segments.segs], float),
    }
    return columns | _around(columns, groups) | _one_sided(evidence) | forms


def _lengths(
    ours: SideWords, theirs: SideWords, chars: tuple[CharacterCounts, CharacterCounts]
) -> dict[str, Floats]:
    """Length measures of each segment, such as the deviation from the median length ratio."""
    ratio = np.log((ours.lengths + _SLACK) / (theirs.lengths + _SLACK))
    words = np.log((ours.tokens + _WORD_SLACK) / (theirs.tokens + _WORD_SLACK))
    long = [
        np.log((chars[side].letters + 5.0) / (words_of.tokens + 1.0))
        for side, words_of in enumerate((ours, theirs))
    ]
    off = [np.abs(each - _shrunk_medians(each, ours.groups)) for each in long]
    return {
        "length": np.log1p(np.minimum(ours.lengths, theirs.lengths)),
        "length_ratio": np.abs(ratio),
        "length_off": _deviation(ratio - _shrunk_medians(ratio, ours.groups), ours, theirs),
        "words_off": np.abs(words - _shrunk_medians(words, ours.groups)),
        "word_length_off": np.maximum(off[0], off[1]),
    }


def _shrunk_medians(values: Floats, groups: Ints) -> Floats:
    """For each value, the median of its group, shrunk towards 0 if there are few segments."""
    sizes = np.diff(groups)
    return np.repeat(_medians(values, groups) * sizes / (sizes + _PRIOR_SEGMENTS), sizes)


def _medians(values: Floats, groups: Ints) -> Floats:
    """The median of each group of values, or 0 if a group has none.

    >>> _medians(np.array([3.0, 9.0, 1.0, 2.0, 8.0]), np.array([0, 3, 3, 5])).tolist()
    [3.0, 0.0, 5.0]
    """
    sizes = np.diff(groups)
    if not len(values):
        return np.zeros(len(sizes))
    is_one = len(sizes) == 1  # as for pages that are verified during the crawl
    owner = None if is_one else np.repeat(np.arange(len(sizes)), sizes)
    ordered = np.sort(values) if owner is None else values[np.lexsort((values, owner))]
    middle = groups[:-1] + sizes // 2
    upper = ordered[np.minimum(middle, len(values) - 1)]
    lower = ordered[np.maximum(middle - (sizes % 2 == 0), 0)]
    return np.where(sizes == 0, 0.0, (lower + upper) / 2)


def _deviation(ratio: Floats, ours: SideWords, theirs: SideWords) -> Floats:
    """The absolute value of each length ratio, scaled up for long texts, which vary less.

    `ratio` contains log ratios relative to their median.
    """
    mean = (ours.lengths + theirs.lengths) / 2 + _SLACK
    return np.abs(ratio) * np.sqrt(mean) / 2.6  # Gale & Church 1993: 6.8 is the variance


def _words(evidence: WordEvidence, ours: SideWords, theirs: SideWords) -> dict[str, Floats]:
    """Measures based on word evidence; most are the lower or the higher value of the two sides."""
    known_shares = tuple(
        known / np.maximum(side.tokens, 1.0)
        for known, side in zip(evidence.known, (ours, theirs), strict=True)
    )
    found = {
        f"{name}_{which}": pick(*values)
        for name, values in (
            ("gain", evidence.gains), ("margin", evidence.margins), ("known", evidence.known),
            ("covered", evidence.covered), ("told", known_shares),
        )
        for which, pick in (("less", np.minimum), ("more", np.maximum))
    }  # fmt: skip
    for name in ("known_less", "known_more"):
        found[name] = np.log1p(found[name])
    return found | {
        "links": np.log1p(evidence.links),
        "in_order": evidence.in_order,
        "displaced": evidence.displaced,
        "jumps": evidence.jumps,
        **_kept("numbers", evidence.numbers),
        **_kept("names", evidence.names),
        "copied": evidence.copied,
    }


def _kept(name: str, counts: tuple[Floats, Floats, Floats]) -> dict[str, Floats]:
    """The number of items on both sides, the number on only one side, and a smoothed share.

    It is the share of the items that are on both sides.  `name` is the first part of the names of
    these measures, and `counts` are the numbers of items on both sides, left only and right only.
    """
    both, lost = counts[0], counts[1] + counts[2]
    return {name: both, f"{name}_lost": lost, f"{name}_kept": (both + 1.0) / (both + lost + 2.0)}


def _characters(chars: tuple[CharacterCounts, CharacterCounts]) -> dict[str, Floats]:
    """Differences between the sides in punctuation, brackets and capitals."""
    ours, theirs = chars
    apart = np.abs(ours.kinds - theirs.kinds).astype(np.float64)
    share = [side.letters / np.maximum(side.visible, 1) for side in chars]
    upper = [
        (side.kinds[:, Kind.UPPER] + 1.0)
        / (side.kinds[:, Kind.UPPER] + side.kinds[:, Kind.LOWER] + 10.0)
        for side in chars
    ]
    found = {name: apart[:, kind] for name, kind in _COUNTED_KINDS}
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
    """1 where the last characters differ in kind; letters and digits count as one kind."""
    ends = [np.where(side < Kind.STOP, 0, side) for side in (ours, theirs)]
    return np.asarray(ends[0] != ends[1], np.float64)


def _cases_differ(ours: NDArray[np.uint8], theirs: NDArray[np.uint8]) -> Floats:
    """1 where one text begins with an upper-case letter and the other with a lower-case letter."""
    lower, upper = Kind.LOWER, Kind.UPPER
    differ = ((ours == lower) & (theirs == upper)) | ((ours == upper) & (theirs == lower))
    return np.asarray(differ, np.float64)


def _has_cases(side: CharacterCounts) -> NDArray[np.bool_]:
    return side.kinds[:, Kind.LOWER] > 0


def _languages(segments: Segments) -> dict[str, Floats]:
    return {
        "language_less": np.minimum(*segments.own_odds),
        "language_more": np.maximum(*segments.own_odds),
        "foreign_less": np.minimum(*segments.third_odds),
        "foreign_more": np.maximum(*segments.third_odds),
    }


def _variety(words: SideWords) -> Floats:
    """For each segment, the smoothed ratio of distinct words to all words."""
    return (words.types + 2.0) / (words.tokens + 2.0)


def _one_sided(evidence: WordEvidence) -> dict[str, Floats]:
    """Measures of what only one side says: numbers, and words without a counterpart."""
    ours, theirs = (side._asdict() for side in evidence.unlinked)
    found = {
        f"unlinked_{name}_apart": np.log1p(np.abs(ours[name] - theirs[name]))
        for name in ("total", "known", "longest", "first", "last")
    }
    return found | {
        "number_conflicts": np.log1p(np.minimum(*evidence.numbers[1:])),
        "number_surplus": np.log1p(np.abs(np.subtract(*evidence.numbers[1:]))),
        "unlinked_share": np.maximum(ours["share"], theirs["share"]),
        "unlinked_known_share": np.maximum(ours["known_share"], theirs["known_share"]),
        "unlinked_longest_known": np.log1p(
            np.maximum(ours["longest_known"], theirs["longest_known"])
        ),
    }


def _around(columns: dict[str, Floats], groups: Ints) -> dict[str, Floats]:
    """Means of some measures over the neighbouring segments, and medians over a group."""
    gain, sizes = columns["gain_less"], np.diff(groups)
    page = np.repeat(_medians(gain, groups), sizes)
    return {
        "neighbour_alignment": _neighbours(columns["alignment"], np.full(len(gain), 0.5), groups),
        "neighbour_gain": _neighbours(gain, page, groups),
        "page_gain": page,
        "page_length": np.repeat(_medians(columns["length_off"], groups), sizes),
    }


def _neighbours(values: Floats, outside: Floats, groups: Ints) -> Floats:
    """For each value, the mean of its two neighbours; `outside` replaces a missing neighbour."""
    before, after = np.empty_like(values), np.empty_like(values)
    before[1:], after[:-1] = values[:-1], values[1:]
    some = groups[:-1] < groups[1:]
    first, last = groups[:-1][some], groups[1:][some] - 1
    before[first], after[last] = outside[first], outside[last]
    return (before + after) / 2
