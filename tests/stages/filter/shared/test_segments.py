"""Both sides of segments, read once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from diptych.language.identify import whole_model
from diptych.stages.filter.shared import segments as module
from diptych.stages.filter.shared.characters import Kind
from diptych.stages.filter.shared.segments import read_segments
from diptych.types import SegmentPair, Url

URL = Url("http://example.org/")
ENGLISH = "The members of the council met in the old town hall on Tuesday evening."
FRENCH = "Les membres du conseil se sont réunis mardi soir à l'ancien hôtel de ville."


def segment(left: str, right: str) -> SegmentPair:
    return SegmentPair(left, right, "en", "fr", URL, URL, "", "", 0.5)


@pytest.mark.parametrize(
    ("left", "right", "identical"),
    [
        ("Madrid", "Madrid", True),
        ("Madrid", "MADRID", True),
        ("Version 2.0", "Version 3.0", True),
        ("(Madrid)", "Madrid!", True),
        ("1", "1", True),
        ("", "", True),
        ("1", "2", False),
        ("Madrid", "Madride", False),
        ("Madrid", "Paris", False),
        ("straße", "STRASSE", True),
        ("«Madrid", "2 Madrid", True),
        ("El Madrid", "el madrid", True),
    ],
)
def test_sides_are_identical_whatever_their_case_and_numbers(
    left: str, right: str, identical: bool
) -> None:
    assert read_segments([segment(left, right)]).identical.tolist() == [identical]


def test_each_side_is_read_in_its_own_place() -> None:
    found = read_segments(
        [segment(ENGLISH, FRENCH), segment(FRENCH, ENGLISH), segment("a\ufffd", "É 12")]
    )
    left, right = found.own_odds
    assert left[0] > 0 > left[1]
    assert right[0] > 0 > right[1]
    assert (left[2], right[2]) == (0, 0), "too short to be told"
    assert found.third_odds[0][0] > 0
    assert found.third_odds[1][0] > 0
    assert [side.tolist() for side in found.damaged] == [[0, 0, 1], [0, 0, 0]]
    assert [int(side.kinds[2, Kind.DIGIT]) for side in found.chars] == [0, 2]
    assert len(found.segs) == 3


def test_no_segments_are_read_too() -> None:
    found = read_segments([])
    assert [len(part) for part in (*found.own_odds, *found.third_odds, found.identical)] == [0] * 5


def test_groups_of_segments_are_given_by_their_sizes() -> None:
    segs = [segment("a", "b"), segment("c", "d"), segment("e", "f")]
    assert read_segments(segs).groups.tolist() == [0, 3]
    assert read_segments(segs, [2, 0, 1]).groups.tolist() == [0, 2, 2, 3]


def test_texts_that_do_not_fit_into_the_cache_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = [[segment(f"{ENGLISH} {n} {m}", f"{FRENCH} {n}") for m in range(4)] for n in range(9)]
    expected = [read_segments(page) for page in pages]
    monkeypatch.setattr(module, "_MAX_BYTES", 3000)
    module._free.cache_clear()
    for _ in range(2):
        for page, known in zip(pages, expected, strict=True):
            found = read_segments(page)
            for name in ("own_odds", "third_odds", "damaged", "copies", "identical"):
                np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
            [cache] = module._free(whole_model(), ("en", "fr"))
            tables = (*cache._sides, cache._pairs)
            assert all(table.bytes < 3000 + 4000 for table in tables), "and those of one page"
    module._free.cache_clear()


def test_segments_are_read_in_several_threads() -> None:
    pages = [[segment(f"{ENGLISH} {n} {m}", f"{FRENCH} {m}") for m in range(30)] for n in range(8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(read_segments, pages))
    for page, found in zip(pages, together, strict=True):
        alone = read_segments(page)
        np.testing.assert_array_equal(found.own_odds, alone.own_odds)
        np.testing.assert_array_equal(found.copies, alone.copies)
