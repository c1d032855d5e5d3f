from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text import cognates as module
from diptych.text.cognates import Cognate, cognates, stem


def found(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    return [(left[pair.left], right[pair.right]) for pair in cognates(left, right)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("expedition", "expédition"),
        ("zürich", "zurich"),
        ("москва", "moskva"),
        ("αθήνα", "athina"),
        ("путин", "putin"),
        ("١٩٥٦", "1956"),
        ("1956", "1956"),
        ("k2", "k2"),
    ],
)
def test_same_word_in_any_script(left: str, right: str) -> None:
    assert list(cognates([left], [right])) == [Cognate(0, 0, 1.0)]
    assert list(cognates([right], [left])) == [Cognate(0, 0, 1.0)]


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        ("himalaya", "himalája", 2 * 6 / 16),
        ("national", "nationale", 2 * 8 / 17),
        ("administration", "administración", 2 * 10 / 28),
        ("министр", "ministro", 2 * 7 / 15),
    ],
)
def test_words_with_a_common_prefix(left: str, right: str, similarity: float) -> None:
    (pair,) = cognates([left], [right])
    assert pair.similarity == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1956", "1957"),  # of numbers all digits count
        ("1956", "19567"),
        ("2000er", "2000erin"),
        ("die", "dit"),  # too short
        ("der", "dere"),
        ("contact", "contingency"),  # too little in common
        ("expedition", "übung"),
        ("山", "川"),
        ("", ""),
        ("", "a"),
        ("\u200b", "\u200c"),  # nothing is left of them
    ],
)
def test_words_that_are_not_similar(left: str, right: str) -> None:
    assert list(cognates([left], [right])) == []
    assert list(cognates([right], [left])) == []


def test_word_has_all_its_cognates_once() -> None:
    left, right = ["station", "1956"], ["stations", "1956", "station", "statione", "stat"]
    assert found(left, right) == [
        ("station", "station"), ("station", "stations"), ("station", "statione"),
        ("station", "stat"), ("1956", "1956"),
    ]  # fmt: skip


def test_comparisons_of_words_with_one_prefix_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 50_000
    compared = 0

    def counted(left: str, right: str) -> float:
        nonlocal compared
        compared += 1
        assert compared <= count * module.MAX_COMPARED
        return 0.0

    monkeypatch.setattr(module, "_similarity", counted)
    left = [f"inter{number:05d}a" for number in range(count)]
    right = [f"inter{number:05d}b" for number in range(count - 1)] + ["inter00007a"]
    same = list(cognates(left, right))
    assert compared >= count
    # However many come before it that begin alike, the same word is found.
    assert same == [Cognate(7, count - 1, 1.0)]


@given(
    st.lists(st.text("abcdé12щ山 ", max_size=8), max_size=12),
    st.lists(st.text("abcdé12щ山 ", max_size=8), max_size=12),
)
def test_pairs_occur_once_and_are_symmetric(left: list[str], right: list[str]) -> None:
    pairs = list(cognates(left, right))
    assert len({(pair.left, pair.right) for pair in pairs}) == len(pairs)
    assert all(0.6 <= pair.similarity <= 1 for pair in pairs)
    turned = {Cognate(pair.right, pair.left, pair.similarity) for pair in cognates(right, left)}
    assert set(pairs) == turned


@pytest.mark.parametrize(
    ("word", "expected"),
    [("bergsteiger", "bergs"), ("berg", "berg"), ("", ""), ("1956789", "1956789"), ("山", "山"),
     ("2000er", "2000er"), ("восхождение", "восхо"), ("٣٤٥٦٧٨", "٣٤٥٦٧٨")],
)  # fmt: skip
def test_stem_is_a_prefix_and_numbers_are_not_cut(word: str, expected: str) -> None:
    assert stem(word) == expected
