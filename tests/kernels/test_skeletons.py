"""Skeletons of lines in C; `tests/text/test_near_duplicates.py` has the reference beside them."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.kernels import native, skeletons
from diptych.kernels.skeletons import DROPPED, WORD, skeleton_lines


def table() -> np.ndarray:
    made = np.full(256, ord(" "), np.uint32)
    for character in "abcé0123456789":
        made[ord(character)] = ord(character) | WORD
    made[ord("+")], made[0xAD] = ord("+"), DROPPED
    return made


def test_the_kernel_is_compiled() -> None:
    assert native() is not None


def test_numbers_become_one_zero_and_signs_blanks() -> None:
    text = "a 12, 5 b\n12a a12 +12 5+\n 1 2 3 \n\n1\xad2 3a\n中 a\né5 7"
    assert skeleton_lines(text, table()) == [
        "a 0 b", "12a a12 +0+", "0", "", "0 3a", None, "é5 0",
    ]  # fmt: skip


def test_without_the_library_no_line_has_a_skeleton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeletons, "native", lambda: None)
    assert skeleton_lines("a\nb", table()) == [None, None]


def test_a_table_with_too_many_or_wild_characters_is_refused() -> None:
    for wrong in (np.zeros(0x10001, np.uint32), np.full(3, 0x110002, np.uint32)):
        with pytest.raises(ValueError, match="three bytes"):
            skeleton_lines("a", wrong)
