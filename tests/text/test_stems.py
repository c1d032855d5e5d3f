"""Stems of many texts at once are those of each text by itself."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native
from diptych.text import stems
from diptych.text.cognates import stem
from diptych.text.stems import lines_of_stems, stem_counts
from diptych.text.tokens import tokens

PIECES = st.sampled_from(
    ["word", "Mountains", "école", "ÉTÉ", "straße", "a", "I", " ", "  ", "\t", ".", "·", ":", ";",
     ",", "'", "’", "‘", "_", "-", "1", "12", "000", "345", "²", "½", "ª", "µ", "\u00ad", "\u0301",
     "中文", "слово", "\x01", "\n", "\0", "\ud800", "€", "…", "–", "ﬁ", "٣", "x" * 70, "7" * 70,
     "3.5", "1,000", "12’", "→", "Ελλάδα", "ΰ", "п’ять", "3.1. "]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20)


def text_stems(texts: list[str], lang: str) -> list[list[str]]:
    """The stems of each text, from lines."""
    lines = lines_of_stems(texts, lang).decode("utf-8", "surrogatepass").split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(texts)
    return [line.split(" ")[:-1] for line in lines]


def one_by_one(texts: list[str], lang: str) -> list[list[str]]:
    return [[stem(token) for token in tokens(text, lang)] for text in texts]


@given(st.lists(TEXT, max_size=8), st.sampled_from(["en", "fr", "zh", "ru"]))
def test_stems_are_those_of_tokens(texts: list[str], lang: str) -> None:
    assert text_stems(texts, lang) == one_by_one(texts, lang)


@given(st.lists(TEXT, max_size=8), st.sampled_from(["en", "fr", "zh", "ru"]))
def test_counted_stems_are_those_of_tokens(texts: list[str], lang: str) -> None:
    wanted = one_by_one(texts, lang)
    bag, places = stem_counts(texts, lang)
    assert bag == Counter(stem for stems in wanted for stem in stems)
    stems = list(bag)
    assert [[stems[place] for place in each] for each in places] == wanted
    assert stems == list(dict.fromkeys(stem for stems in wanted for stem in stems))


@pytest.mark.parametrize(
    "text",
    ["", "a", "end.", "e.g. this", "a..b", ".b", "a.1", "1.a", "a.b.cdefg", "3.5", "3,5", "1 000",
     "1 23 456", "12 34", "3rd place", "2020rako", "v2.x", "a:b", "a: b", "3:4", "l'été 2", "a_b",
     "1.2.3", "1,234.5", "1.234,5", "3'500", "3’500", "3‘500", "1;2", "3.5km", "a3.5", "3.5a",
     "3.5.", "3.5,a", "3.5 000", "1 000.5", "3 1.5", "a.5.3", "3.5:4", "3.5_1", "1.2" + "3" * 70,
     "9.1" * 40, "1.23²", "3.5\u00ad7", "3.5\n6", "1\n000", "a\n1.5 b", "→ b", "Это слово.",
     "а.б", "а:б", "п’ять 5",
     "abcdefgh", "l·l", "x" * 70, "7" * 70, "1" + "x" * 70],
)  # fmt: skip
def test_single_texts(text: str) -> None:
    assert text_stems([text], "en") == one_by_one([text], "en")
    assert text_stems(["one", f"two {text} three", "four"], "en")[1] == [
        "two", *one_by_one([f" {text} "], "en")[0], "three",
    ]  # fmt: skip


def test_without_icu_words_have_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    from diptych.text import words

    monkeypatch.setattr(words, "_segmenter", lambda: None)
    stems._rules.cache_clear()
    try:
        texts = ["a1.b2", "l'eau 3", "e.g. this", "3.5 a"]
        assert text_stems(texts, "en") == one_by_one(texts, "en")
    finally:
        stems._rules.cache_clear()


def test_plain_texts_need_no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stems, "tokens", lambda _text, _lang: ["other"])
    texts = ["3.1. Ouvrir", "Файл → Открыть", "one\ntwo", "1,234.5 m", "中文"]
    expected = [["3.1", "ouvri"], ["файл", "откры"], ["one", "two"], ["1234.5", "m"], ["other"]]
    if native() is None:
        expected = [["other"]] * 5
    assert text_stems(texts, "en") == expected
