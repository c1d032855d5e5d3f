"""Types of files that are neither HTML nor text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.file_type import unreadable_type


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])))
def test_text_is_text(text: str) -> None:
    data = text.encode()
    assert unreadable_type(data) in ("", "an empty file") or text.startswith(
        ("%PDF-", "WARC/", "{\\rtf")
    )


@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig", "shift_jis", "iso2022_jp", "gb18030"])
def test_texts_of_other_character_sets_are_texts(codec: str) -> None:
    assert unreadable_type("日本語です。\n".encode(codec) * 50) == ""


def test_random_bytes_are_binary() -> None:
    generator = random.Random(7)
    for _ in range(20):
        assert unreadable_type(generator.randbytes(4000)) == "a binary file"
