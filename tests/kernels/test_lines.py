"""Texts as lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels.lines import as_lines


@given(st.lists(st.text("a\n\t", max_size=5), min_size=1))
def test_each_text_is_one_line(texts: list[str]) -> None:
    assert as_lines(texts).split("\n") == [text.replace("\n", "\t") for text in texts]
