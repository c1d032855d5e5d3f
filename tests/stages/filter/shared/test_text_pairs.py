"""Properties of two texts that are the sides of a segment."""

from __future__ import annotations

import pytest

from diptych.stages.filter.shared.text_pairs import (
    COLUMNS,
    addresses_apart,
    are_excerpts,
    are_identical,
    read_pair,
)


def test_all_properties_are_read() -> None:
    found = read_pair("English", "Français", langs=("en", "fr"))
    assert found == (0, 0, 0, True, False, 0, False)
    assert len(found) == COLUMNS
    found = read_pair("Room: Naturalis 02, www.a.org…", "Saal: Naturalis 02…", langs=("en", "de"))
    assert found == (2, 1, 0, False, False, 1, True)


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


def test_excerpts_end_with_an_ellipsis_on_both_sides() -> None:
    assert are_excerpts("And then […]", 'Et puis..."')
    assert not are_excerpts("And then…", "Et puis")
    assert not are_excerpts("And … then", "Et … puis")


def test_identical_texts_may_differ_in_case_and_signs() -> None:
    assert are_identical("(Madrid)", "MADRID!")
    assert not are_identical("1", "2")
