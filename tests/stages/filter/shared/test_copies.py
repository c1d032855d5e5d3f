"""Counts of copied and translated words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.stages.filter.shared.copies import copy_counts


@pytest.mark.parametrize(
    ("left", "right", "counts"),
    [
        ("Room: Naturalis 02", "Saal: Naturalis 02", (2, 1, 0)),
        ("Photo by Anna Berg", "Foto: Anna Berg", (2, 2, 0)),
        ("Web page: https://a.org/en/", "Spletna stran: https://a.si", (4, 2, 0)),
        ("Mail: info@a.org", "E-mail: post@a.org", (4, 1, 0)),
        ("Chapter 12", "Chapitre 12", (0, 1, 0)),  # numbers alone are no names
        ("the red house", "la maison rouge", (0, 0, 0)),  # nothing is shared
        ("the red house", "la red maison", (0, 2, 1)),
        ("La carta de Marc", "La carta de Marc i Anna", (2, 2, 2)),
        ("iPhone and NASA", "iPhone et NASA", (2, 1, 0)),
        ("東京 Tower", "Tower 東京タワー", (1, 1, 0)),
        ("Anna.", "Anna", (0, 0, 0)),
        ("Google حساب جديد", "Google حساب جدید", (1, 1, 1)),  # no case: as in lower case
        ("", "", (0, 0, 0)),
    ],
)
def test_words_are_counted(left: str, right: str, counts: tuple[int, int, int]) -> None:
    assert copy_counts(left, right) == counts


@given(st.text(max_size=40), st.text(max_size=40))
def test_swapped_sides_have_as_many_translated_words(left: str, right: str) -> None:
    assert copy_counts(left, right).translated == copy_counts(right, left).translated


@given(st.text(max_size=40))
def test_nothing_is_translated_in_equal_texts(text: str) -> None:
    assert copy_counts(text, text).translated == 0


def test_addresses_are_found_in_linear_time() -> None:
    with processor_seconds():
        assert copy_counts("a" * 60_000 + " a@b.org", "b" * 60_000 + " @").translated == 1
