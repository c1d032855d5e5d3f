"""The lexicon of concepts: fingerprints of words, and the letters of slugs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.url.concepts import SENSES, Concepts, fingerprint, slug_letters


def test_rows_without_a_score_are_ignored() -> None:
    key = np.array([fingerprint(b"red")], np.uint32)
    empty = Concepts(key, np.ones((1, SENSES), np.uint16), np.zeros((1, SENSES), np.uint8))
    assert empty.senses(b"red") == {}


@pytest.mark.parametrize(
    ("word", "number"),  # FNV-1a of 64 bits, its test vectors
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_fingerprints(word: bytes, number: int) -> None:
    assert fingerprint(word) == number >> 32 ^ number & 0xFFFFFFFF


@given(text=st.text())
def test_slugs_become_plain_letters_without_new_delimiters(text: str) -> None:
    slug = slug_letters(text)
    assert slug.isascii()
    assert slug == slug.lower()
    for delimiter in "/?&=#.%:":
        assert slug.count(delimiter) == text.count(delimiter)
