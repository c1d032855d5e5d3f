from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text import words as words_module
from diptych.text.words import words


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("Hello, world!", "en", ["Hello", "world"]),
        ("It's 3.14 or 1,000 -- e-mail", "en", ["It's", "3.14", "or", "1,000", "e", "mail"]),
        ("l’école d'été", "fr", ["l’école", "d'été"]),
        ("Привет, мир", "ru", ["Привет", "мир"]),
        ("ภาษาไทย", "th", ["ภาษา", "ไทย"]),
        ("中文维基百科", "zh", ["中文", "维基", "百科"]),
        ("... !? — « »", "fr", []),
        ("", "en", []),
        ("Hello world", "xx", ["Hello", "world"]),
        ("Hello world", "", ["Hello", "world"]),
    ],
)
def test_words_have_letters_or_digits(text: str, lang: str, expected: list[str]) -> None:
    assert words(text, lang) == expected


def test_without_icu_words_are_what_is_not_punctuation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    words_module._segmenter.cache_clear()
    try:
        assert words("L'école, n'est-ce pas ?", "fr") == ["L'école", "n'est", "ce", "pas"]
    finally:
        words_module._segmenter.cache_clear()


@given(st.text(max_size=100), st.sampled_from(["en", "th", "zh", "xx", ""]))
def test_words_are_in_the_text_in_order(text: str, lang: str) -> None:
    place = 0
    for word in words(text, lang):
        place = text.index(word, place) + len(word)
        assert any(character.isalnum() for character in word)


def test_halves_of_characters_do_no_harm() -> None:
    assert words("one \ud800 two", "en") == ["one", "two"]
