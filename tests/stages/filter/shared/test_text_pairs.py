"""Properties of two texts that are the sides of a segment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.switchers import name_different_languages
from diptych.stages.filter.shared.copies import copy_counts
from diptych.stages.filter.shared.text_pairs import (
    COLUMNS,
    addresses_apart,
    are_identical,
    read_pairs,
)


def test_all_properties_are_read() -> None:
    found = read_pairs(["English", "the house"], ["Français", "la maison"], ("en", "fr"))
    assert found.tolist() == [[0, 0, 0, 1, 0, 0, 0], [0] * COLUMNS]
    found = read_pairs(["Room: Naturalis 02, www.a.org…"], ["Saal: Naturalis 02…"], ("en", "de"))
    assert found.tolist() == [[2, 1, 0, 0, 0, 1, 1]]
    found = read_pairs(["MADRID 1", "https://a.org"], ["Madrid 2", "www.b.org"], ("en", "de"))
    assert found.tolist() == [[0, 0, 0, 0, 1, 0, 0], [4, 0, 0, 0, 0, 2, 0]]
    assert read_pairs([], [], ("en", "fr")).shape == (0, COLUMNS)


TEXT = st.lists(
    st.sampled_from(["English", "Deutsch", "Anna", "anna", "1", "a@b.org", "www.a.org", "…"]),
    max_size=4,
).map(" ".join)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_hints_leave_nothing_out(pairs: list[tuple[str, str]]) -> None:
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    cuts = ("…", "...")
    assert read_pairs(lefts, rights, ("en", "de")).tolist() == [
        [
            *copy_counts(left, right),
            name_different_languages(left, right, ("en", "de")),
            are_identical(left, right),
            addresses_apart(left, right),
            left.endswith(cuts) and right.endswith(cuts),
        ]
        for left, right in pairs
    ]


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [
        ("See www.a.org.", "Voir www.a.org", 0),
        ("See https://a.org/x", "Voir https://a.org/y", 2),
        ("Write to a@b.org", "Rien", 1),
        ("No address", "at all", 0),
    ],
)
def test_addresses_of_one_side_are_counted(left: str, right: str, count: int) -> None:
    assert addresses_apart(left, right) == addresses_apart(right, left) == count


def test_identical_texts_may_differ_in_case_and_signs() -> None:
    assert are_identical("(Madrid)", "MADRID!")
    assert not are_identical("1", "2")
