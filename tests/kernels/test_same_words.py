"""Words at corresponding places in C, beside the reference in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import same_words
from diptych.kernels.same_words import find_same_words
from diptych.stages.verify.shared.places import count_reference

PIECES = st.sampled_from(
    ["Paris", "paris", "1956", "1", "7", "42", "ab", "abc", "ABC", "été", "ÉTÉ", "straße", "÷", "×",
     "Москва", "МОСКВА", "Οδυσσεύς", "ΟΔΥΣΣΕΥΣ", "ab12cd", "abcПри", "中文", "\n", "\ud800", "İst",
     "\U0001d7d9", "-", " ", " ", "ɏɏɏ", "ɐɐɐ", "ͰͰͰ", "԰԰԰", "x" * 300]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=12)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=12))
def test_words_are_counted_as_by_the_reference(pairs: list[tuple[str, str]]) -> None:
    left, right = [one for one, _ in pairs], [other for _, other in pairs]
    assert find_same_words(left, right) == count_reference(left, right)


def test_many_words_are_counted_as_by_the_reference() -> None:
    left = [f"word{'abcdefghij'[n % 10] * 4} {n} {n * 7}" for n in range(3000)]
    right = left[1:] + left[:1]
    assert find_same_words(left, right) == count_reference(left, right)


def test_sides_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        find_same_words(["a"], [])


def test_the_kernel_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_words, "native", lambda: None)
    with pytest.raises(RuntimeError, match="kernels"):
        find_same_words(["a"], ["a"])
