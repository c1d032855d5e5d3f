"""The words of both sides of segments, with counts and places."""

from __future__ import annotations

from itertools import pairwise

import pytest

from diptych.stages.filter.quality.side_words import SideWords, both_sides, side_words
from diptych.types import SegmentPair, Url

URL = Url("http://example.org/")


def places(words: SideWords) -> list[dict[str, tuple[float, float]]]:
    """How often each word is in each segment, and where."""
    offsets = words.bags.offsets.tolist()
    return [
        {
            words.words[words.bags.word[entry]]: (
                float(words.bags.count[entry]),
                pytest.approx(float(words.position[entry])),
            )
            for entry in range(start, end)
        }
        for start, end in pairwise(offsets)
    ]


def test_words_have_counts_and_places_in_their_segments() -> None:
    assert side_words(["1st a1"], "en").is_number.tolist() == [True, False]
    found = side_words(["one two one six", "", "six 12"], "en")
    assert found.words == ("one", "two", "six", "12")
    assert places(found) == [
        {"one": (2, (0.125 + 0.625) / 2), "two": (1, 0.375), "six": (1, 0.875)},
        {},
        {"six": (1, 0.25), "12": (1, 0.75)},
    ]
    assert found.segment.tolist() == [0, 0, 0, 2, 2]
    assert found.tokens.tolist() == [4, 0, 2]
    assert found.lengths.tolist() == [15, 0, 6]
    assert found.is_number.tolist() == [False, False, False, True]


def test_each_side_is_read_in_its_own_language() -> None:
    left, right = both_sides([SegmentPair("L'eau", "L'eau", "en", "fr", URL, URL, "", "", 0.5)])
    assert left.words == right.words
    assert [len(side.lengths) for side in both_sides([])] == [0, 0]
