"""The stems of plain lines in C; `tests/text/test_stems.py` compares them with the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native, stems
from diptych.kernels.stems import plain_stems
from diptych.text.stems import _rules


def test_the_kernel_is_compiled() -> None:
    assert native() is not None


def test_only_plain_lines_have_stems() -> None:
    text = "two mountains\n\nслово\n中文\nthe 3rd\n1.5\n1;5\nl’été"
    assert plain_stems(text, _rules()) == [
        ["two", "mount"], [], ["слово"], None, ["the", "3rd"], ["1.5"], None, ["l", "été"],
    ]  # fmt: skip


def test_without_the_library_no_line_has_stems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stems, "native", lambda: None)
    assert plain_stems("a\nb", _rules()) == [None, None]


@given(st.text(max_size=40))
def test_there_is_a_result_for_each_line(text: str) -> None:
    assert len(plain_stems(text, _rules())) == text.count("\n") + 1
