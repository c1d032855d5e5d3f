from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from diptych.export.tsv import Tsv, one_line
from diptych.types import SegmentPair, Url

SEGMENT = SegmentPair(
    "A cat",
    "Un chat",
    "en",
    "fr",
    Url("http://a.org/en"),
    Url("http://a.org/fr"),
    "/html/body/p[1]",
    "/html/body/p[2]",
    0.5,
)


def rows(*segs: SegmentPair) -> list[list[str]]:
    out = io.BytesIO()
    Tsv().write(segs, out)
    text = out.getvalue().decode()
    assert text.endswith("\n")
    return [line.split("\t") for line in text[:-1].split("\n")]


def test_columns_are_those_that_scripts_depend_on() -> None:
    (header,) = rows()
    assert header[:5] == ["left", "right", "score", "left_url", "right_url"]
    assert header[5:] == ["left_lang", "right_lang", "left_path", "right_path"]


def test_fields_are_under_their_columns() -> None:
    header, row = rows(SEGMENT)
    found = dict(zip(header, row, strict=True))
    assert found.pop("score") == "0.5000"
    assert all(found[name] == getattr(SEGMENT, name) for name in found)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_any_text_is_one_line_of_nine_fields(texts: list[tuple[str, str]]) -> None:
    out = io.BytesIO()
    segs = [replace(SEGMENT, left=left, right=right, left_path=left) for left, right in texts]
    Tsv().write(segs, out)
    lines = out.getvalue().decode().splitlines()
    assert len(lines) == len(texts) + 1
    assert {line.count("\t") for line in lines} == {8}


def test_control_characters_are_spaces_and_the_rest_is_kept() -> None:
    assert one_line("a\x00b\x1bc\u2028d\x85e") == "a b c d e"
    assert one_line('"quoted" \\ עברית 日本 \u200d🙂') == '"quoted" \\ עברית 日本 \u200d🙂'


def test_half_a_character_does_not_stop_the_export() -> None:
    assert rows(replace(SEGMENT, left="a\ud800b"))[1][0] == "a\ufffdb"
