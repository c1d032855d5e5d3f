from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import EN, FR, UNIT, dirty_texts

from diptych.stages.export.shared.columns import (
    as_lines,
    is_lang,
    is_plain,
    iso_time,
    one_line,
    unit_id,
    write_rows,
)
from diptych.types import Url


def test_id_is_the_same_in_every_run() -> None:
    assert unit_id(UNIT) == "f00f92ec6abe4d6239b8"
    other = EN._replace(path="/x", at="1-2", fetched_at=0.0, digest="d", warc="w", offset=1)
    moved = UNIT._replace(
        sides=(other, FR), score=1.0, alignment=1.0, verified=1.0, flags=(), copies=9, run="v:2"
    )
    assert unit_id(moved) == unit_id(UNIT)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "A cat."},
        {"lang": "en-GB"},
        {"url": Url("http://a.org/")},
        {"text": "A ca", "url": Url("thttp://a.org/?l=en&p=1")},
        {"lang": "enA", "text": " cat"},
    ],
)
def test_other_texts_and_pages_have_other_ids(change: dict[str, str]) -> None:
    changed = UNIT._replace(sides=(EN._replace(**change), FR))
    assert unit_id(changed) != unit_id(UNIT)
    assert unit_id(UNIT._replace(sides=(FR, EN))) == unit_id(UNIT)
    assert unit_id(UNIT._replace(sides=(EN,))) != unit_id(UNIT)


@given(dirty_texts)
def test_text_without_control_characters_is_plain(text: str) -> None:
    half = any("\ud800" <= letter <= "\udfff" for letter in text)
    if not half:
        assert is_plain(text.encode(), 0) == (one_line(text) == text)


@given(st.lists(st.tuples(dirty_texts, dirty_texts), min_size=1, max_size=5))
def test_control_characters_in_one_line_do_not_change_others(
    rows: list[tuple[str, str]],
) -> None:
    expected = "".join(f"{one_line(left)}\t{one_line(right)}\n" for left, right in rows)
    assert as_lines(rows, "%s\t%s").decode() == expected


@pytest.mark.parametrize(
    "code", [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], ids=lambda code: f"{code:04x}"
)
def test_no_control_character_is_overlooked(code: int) -> None:
    assert as_lines([("a", "b"), (f"c{chr(code)}d", "e")], "%s\t%s") == b"a\tb\nc d\te\n"


def test_control_characters_become_spaces_and_the_rest_is_kept() -> None:
    assert one_line("a\x00b\x1bc\u2028d\x85e\x7f") == "a b c d e "
    assert one_line('"quoted" \\ עברית 日本 \u200d🙂') == '"quoted" \\ עברית 日本 \u200d🙂'
    assert one_line("a\ud800b") == "a\ufffdb"


def test_times_are_whole_seconds_of_universal_time() -> None:
    assert [iso_time(seconds) for seconds in (0.0, 59.999, 1e9)] == [
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:59Z",
        "2001-09-09T01:46:40Z",
    ]


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ("en", True), ("e", False), ("abcdefgh", True), ("abcdefghi", False), ("zh-Hant-TW", True),
        ("a1", False), ("en-", False), ("en-abcdefgh1", False), ("en-1-2-3-4", True),
        ("en-1-2-3-4-5", False), ("en\n", False), ("", False),
    ],
)  # fmt: skip
def test_form_of_a_language_code(code: str, form: bool) -> None:
    assert is_lang(code) is form


def test_blanks_are_plain_and_rows_are_counted() -> None:
    assert is_plain(b"a b c", 0)
    out = io.BytesIO()
    assert write_rows([{"a": 1}, {"b": "c d"}], out) == 2
    assert out.getvalue() == b'{"a":1}\n{"b":"c d"}\n'
