from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.text.clauses import clause_spans, cut_long
from diptych.text.lengths import text_length


def clauses(text: str, level: int) -> list[str]:
    return [text[start:end] for start, end in clause_spans(text, level)]


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("a; b, c", ["a;", "b, c"], ["a;", "b,", "c"]),
        ("a: b – c", ["a:", "b – c"], ["a:", "b –", "c"]),
        ("at 10:30, or 1,5 m", ["at 10:30, or 1,5 m"], ["at 10:30,", "or 1,5 m"]),
        ("甲；乙，丙", ["甲；", "乙，丙"], ["甲；", "乙，", "丙"]),
        ("ก ข", ["ก ข"], ["ก", "ข"]),
        ("ខ ៖ គ ង", ["ខ ៖", "គ ង"], ["ខ", "៖", "គ", "ង"]),
        ("က၊ ခ။ ဂ", ["က၊ ခ။", "ဂ"], ["က၊", "ခ။", "ဂ"]),
        ("أ؛ ب، ت", ["أ؛", "ب، ت"], ["أ؛", "ب،", "ت"]),
        ("one two", ["one two"], ["one two"]),
        ("", [], []),
    ],
)
def test_clauses_end_at_signs(text: str, first: list[str], second: list[str]) -> None:
    assert clauses(text, 0) == first
    assert clauses(text, 1) == second


@given(st.text(st.sampled_from("ab ,;:中，ก។ \n"), max_size=60), st.integers(5, 30))
def test_cut_parts_cover_a_text_and_are_short(text: str, limit: int) -> None:
    parts = cut_long(text.strip(), limit)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(text_length(part) <= limit for part in parts)


@given(st.text(max_size=60), st.sampled_from([0, 1]))
def test_clauses_cover_a_text(text: str, level: int) -> None:
    assert "".join("".join(clauses(text, level)).split()) == "".join(text.split())
    assert all(clause == clause.strip() != "" for clause in clauses(text, level))


def test_a_long_row_of_full_stops_is_cut_in_linear_time() -> None:
    with processor_seconds():
        parts = cut_long(f"a{'.' * 600_000}b", 3_000)
    assert len(parts) > 199
