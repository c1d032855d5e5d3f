from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
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
        ("_one two_ _ __", "en", ["_one", "two_"]),
        ("Kista:s", "sv", ["Kista:s"]),
        ("Hello world", "xx", ["Hello", "world"]),
        ("Hello world", "", ["Hello", "world"]),
    ],
)
def test_words_have_letters_or_digits(text: str, lang: str, expected: list[str]) -> None:
    assert words(text, lang) == expected


def test_without_icu_words_are_split_at_punctuation(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_lone_surrogates_do_no_harm() -> None:
    assert words("one \ud800 two", "en") == ["one", "two"]


# Letters, digits, all that may stand inside of a word, and what is left to ICU.
PLAIN = st.text(
    st.sampled_from("aZéßø1234_.,;:'’‘·-–« »\"()/\xa0\n…€×²\xadжx中ЯЇѣѝ→⇒Άώςϕ\u0301\u0483"),
    max_size=12,
)


@example("Kista:s 1:2 a: b", "sv")
@example("a.b 1,2 l'été x_y ___ a·b 3'500 1;2 .5 5. a,b", "en")
@given(PLAIN, st.sampled_from(["en", "fr", "sv", "fi", "de", "ru", "el"]))
def test_plain_words_match_icu(text: str, lang: str) -> None:
    segmenter = words_module._segmenter()
    assert segmenter is not None
    pieces = list(segmenter(text, lang))
    assert words(text, lang) == [piece for piece in pieces if words_module._has_word(piece)]


@given(st.text(st.characters(max_codepoint=0x2200), max_size=8))
def test_any_text_is_split_like_icu(text: str) -> None:
    segmenter = words_module._segmenter()
    assert segmenter is not None
    whole = words_module._whole(text)
    pieces = [piece for piece in segmenter(whole, "en") if words_module._has_word(piece)]
    assert words(text, "en") == pieces


@pytest.mark.parametrize("around", ["{0}", "a{0}b", "1{0}2", "ж{0}1", "{0}.{0}", "{0}'{0}", "_{0}"])
def test_each_plain_character_is_like_in_icu(around: str) -> None:
    segmenter = words_module._segmenter()
    assert segmenter is not None
    texts = [around.format(chr(point)) for point in range(0x2200)]
    for text in filter(words_module.is_plain, texts):
        pieces = [piece for piece in segmenter(text, "ru") if words_module._has_word(piece)]
        assert words(text, "ru") == pieces
