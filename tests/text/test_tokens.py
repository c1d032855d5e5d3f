"""Tokens for lexicons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text import tokens as module
from diptych.text.tokens import MAX_TOKEN, placed_tokens, tokens


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("L’école n'a pas", "fr", "l école n a pas"),
        ("dell'arte d'ʼx", "it", "dell arte d x"),
        ("Don't stop", "en", "don t stop"),
        ("STRASSE Straße", "de", "strasse strasse"),
        ("ﬁn Ｆｕｌｌ ①", "en", "fin full 1"),
        ("e\u0301cole École", "fr", "école école"),
        ("co\u00adoperate", "en", "cooperate"),
        ("我们喜欢苹果。", "zh", "我们 喜欢 苹果"),
        ("日本語の文章", "ja", "日本語 の 文章"),
        ("ฉันรักประเทศไทย", "th", "ฉัน รัก ประเทศไทย"),
        ("3,5 3.5", "fr", "3.5 3.5"),
        ("3'500 3’500 3,500 3.500 3500", "de", "3500 3500 3500 3500 3500"),
        ("3\u00a0500 12\u202f345\u202f678 3 500,5", "fr", "3500 12345678 3500.5"),
        ("1,234.56 1.234,56", "en", "1234.56 1234.56"),
        ("24.12.2001", "de", "24.12.2001"),
        ("in 2010 500 men", "en", "in 2010 500 men"),
        ("3.5 123", "en", "3.5 123"),
        ("٣٫٥ ١٢٣ ٣٬٥٠٠", "ar", "3.5 123 3500"),
        ("'' — … !", "en", ""),
        ("", "en", ""),
    ],
)
def test_words_are_folded(text: str, lang: str, expected: str) -> None:
    assert tokens(text, lang) == expected.split()


def test_long_words_are_cut() -> None:
    assert tokens("a" * 1000 + " b", "en") == ["a" * 60, "b"]
    assert tokens("a1" * 1000 + " жж" * 2, "en") == ["a1" * 30, "жж", "жж"]
    assert tokens("ж1" * 1000, "ru") == ["ж1" * 30]
    assert tokens("A" * 1000, "en") == ["a" * 60]


@given(st.text(max_size=80), st.sampled_from(["en", "zh", "th", "ar", "xx", ""]))
def test_any_text_gives_words(text: str, lang: str) -> None:
    for token in tokens(text, lang):
        assert 0 < len(token) <= MAX_TOKEN
        assert any(map(str.isalnum, token))
        assert not any(map(str.isspace, token))


@given(st.text(st.characters(max_codepoint=0x58F, categories=["L"]), min_size=1, max_size=20))
def test_shortcut_for_letters_gives_the_same_tokens(text: str) -> None:
    short = tokens(text, "en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ONE_WORD", "")
        assert tokens(text, "en") == short


@given(st.text(st.sampled_from("aZéßø’'·.:,_ -12«»\xa0\xadжx中"), max_size=14))
def test_shortcuts_give_the_same_tokens(text: str) -> None:
    # A word of another script leads all others the long way, and is left out again.
    apart = " жж "
    assert tokens(text, "en") == tokens(text + apart, "en")[:-1]


@given(st.text(max_size=80), st.sampled_from(["en", "zh", "th", "ar", "xx", ""]))
def test_placed_tokens_are_the_tokens_of_their_places(text: str, lang: str) -> None:
    place = 0
    for token, start, end in placed_tokens(text, lang):
        assert place <= start < end <= len(text)
        assert tokens(text[start:end], lang) == [token]
        place = end


@pytest.mark.parametrize(
    "text", ["L’École n'a que trois élèves, dit-on.", "Привет, мир", "東京の海"]
)
def test_placed_tokens_are_all_tokens(text: str) -> None:
    assert [token for token, _, _ in placed_tokens(text, "ja")] == tokens(text, "ja")
