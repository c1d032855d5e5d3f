"""Hints of texts in C, beside the reference in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import text_hints as module
from diptych.kernels.text_hints import (
    PairHint,
    TextHint,
    pair_hint_reference,
    pair_hints,
    text_hint_reference,
    text_hints,
)

PIECES = st.sampled_from(
    ["a", "B", "word", "Word", "é", "Ã", "Ãc", "\x85", "\xa0", "\u2003", "\u3000", "\x1c",
     " ", " ", "\t", "12345", "6", "@", "(", "( a", "[C", "{ ", "(é", "(d", " AT ", "AT", "\ufffd",
     "٣", "中", "🙂", "\ud800", "://", ":/", "www.", "ww.", "…", "...", "..", "]", ")",
     "»", "”", "\"", "'", "\u0153", "‘", "\u2fff"]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=10)
ONE_LINE = TEXT.map(lambda text: text.replace("\n", " "))


@given(st.lists(TEXT, max_size=6))
def test_hints_of_texts_are_those_of_the_reference(texts: list[str]) -> None:
    assert text_hints(texts).tolist() == [text_hint_reference(text) for text in texts]


@given(st.lists(st.tuples(TEXT, TEXT), max_size=6))
def test_hints_of_pairs_are_those_of_the_reference(pairs: list[tuple[str, str]]) -> None:
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    expected = [pair_hint_reference(*pair) for pair in pairs]
    assert pair_hints(lefts, rights).tolist() == expected


def test_long_texts_after_short_ones_share_words() -> None:
    words = [f"w{n}" for n in range(5000)]
    lefts, rights = ["a b", " ".join(words), "c"], ["b", f"x {words[-1]}", "d"]
    shared = pair_hints(lefts, rights) & int(PairHint.SHARED)
    assert shared.tolist() == [1, 1, 0]


def test_excerpts_end_with_an_ellipsis_on_both_sides() -> None:
    lefts = ["And then […]", "And then…", "And … then", "…"]
    rights = ['Et puis..."', "Et puis", "Et … puis", "... »"]
    assert (pair_hints(lefts, rights) & int(PairHint.EXCERPTS) > 0).tolist() == [
        True, False, False, True,
    ]  # fmt: skip


def test_without_the_library_hints_are_those_of_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "native", lambda: None)
    assert text_hints(["jane@example.org", "plain"]).tolist() == [TextHint.PERSONAL, 0]
    assert pair_hints(["one two"], ["two"]).tolist() == [PairHint.SHARED]


def test_sides_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        pair_hints(["a"], [])
