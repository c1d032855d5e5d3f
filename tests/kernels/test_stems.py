"""The stems of plain lines in C; `tests/text/test_stems.py` compares them with the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native, stems
from diptych.kernels.stems import count_stems, count_stems_reference, stem_lines
from diptych.text.stems import _rules


def test_the_kernel_is_compiled() -> None:
    assert native() is not None


def test_only_plain_lines_have_stems() -> None:
    text = "two mountains\n\nслово\n中文\nthe 3rd\n1.5\n1;5\nl’été"
    assert stem_lines(text, _rules()).decode().split("\n") == [
        "two mount ", "", "слово ", "\0", "the 3rd ", "1.5 ", "\0", "l été ", "",
    ]  # fmt: skip


def test_without_the_library_no_line_has_stems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stems, "native", lambda: None)
    assert stem_lines("a\nb", _rules()) == b"\0\n\0\n"


@given(st.text(max_size=40))
def test_there_is_a_result_for_each_line(text: str) -> None:
    assert stem_lines(text, _rules()).count(b"\n") == text.count("\n") + 1


@given(st.text("ab \né中", max_size=60).map(lambda text: text.encode() + b"\n"))
def test_stems_are_counted_as_by_the_reference(lines: bytes) -> None:
    assert count_stems(lines) == count_stems_reference(lines)


@given(st.lists(st.lists(st.integers(0, 40).map(str), max_size=30), max_size=30))
def test_many_stems_are_counted_as_by_the_reference(lines: list[list[str]]) -> None:
    data = "".join("".join(f"{stem} " for stem in line) + "\n" for line in lines).encode()
    found = count_stems(data)
    assert found == count_stems_reference(data)
    assert len(found.ends) == len(lines)
    assert [found.stems[number] for number in found.numbers] == [
        stem for line in lines for stem in line
    ]


def test_without_the_library_stems_are_counted_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = count_stems(b"two cats \n\ncats \n")
    monkeypatch.setattr(stems, "native", lambda: None)
    assert count_stems(b"two cats \n\ncats \n") == wanted


def test_a_page_of_blanks_has_no_stems() -> None:
    assert count_stems(b" " * 5_000 + b"\n" * 3).stems == []
