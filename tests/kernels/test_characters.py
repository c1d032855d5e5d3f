"""Characters counted in C, compared with their reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native
from diptych.kernels.characters import KindSets, KindTable, count_kinds
from diptych.stages.filter.shared.characters import _counted, count_characters

POOL = "aB.c d? e! x中のЖ é٣\U0002a6d6\U00050000\ud800\n\t \u0e44(1)،\ufffd\U0001f600"
texts = st.text(st.sampled_from(POOL) | st.characters(codec=None), max_size=30)
SETS = KindSets(2, 0, 1, 0, 2, 2, 1, 0)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


@given(st.lists(texts, max_size=5))
def test_counts_equal_the_reference(some: list[str]) -> None:
    for found, expected in zip(count_characters(some), _counted(some), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "text", ["a. b", "a.b", "a. B", "a.  b", ". b", "? b", " b", "中\U0002a6d6", "\U00050000a"]
)
def test_breaks_ends_and_characters_beyond_the_table(text: str) -> None:
    some = [text, "", "b. ", text]  # no break across texts
    for found, expected in zip(count_characters(some), _counted(some), strict=True):
        np.testing.assert_array_equal(found, expected)


def table(kinds: list[int], weights: list[float]) -> KindTable:
    return KindTable(np.array(kinds, np.uint8), SETS, np.array(weights))


def count(offsets: list[int], kinds: KindTable) -> list[list[float]]:
    points = np.array([0, 1, 9, 1 << 31], np.uint32)
    return [part.tolist() for part in count_kinds(points, np.array(offsets, np.int64), kinds)]


def test_code_points_beyond_the_table_are_ideographs_or_others() -> None:
    found = count([0, 4], table([0, 1], [1.0, 1.0, 3.5]))
    assert found == [[[2, 2]], [1], [1], [0], [6.5]]


@pytest.mark.parametrize("offsets", [[0, 3], [1, 4], [0, 5], [0, 3, 2, 4]])
def test_offsets_out_of_range_are_refused(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        count(offsets, table([0, 1], [1.0, 1.0, 3.5]))


@pytest.mark.parametrize(("kinds", "weights"), [([0, 2], [1.0] * 3), ([0, 1], [1.0] * 2)])
def test_kinds_out_of_range_and_missing_weights_are_refused(
    kinds: list[int], weights: list[float]
) -> None:
    with pytest.raises(ValueError, match="each code point"):
        count([0, 4], table(kinds, weights))
