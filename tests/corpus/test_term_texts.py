"""Texts as term extraction reads them."""

from __future__ import annotations

import pytest

from diptych.corpus.term_texts import TermText
from diptych.learn.lexicon.phrases import Span


@pytest.mark.parametrize(
    "text",
    [
        "Contact us",
        "Terms & conditions",
        "Search (optional)",
        "Storms/forecasts",
        "À propos :",
        "法",
    ],
)
def test_labels(text: str) -> None:
    assert TermText(text, "en").is_label()


@pytest.mark.parametrize(
    "text",
    [
        "", "…", "Stop!", "12", "Page 12", "See example.org", "Home > News", "Help | About",
        "one two three four five six seven", "Menu Menu", "DanskDanskReview", "हिन्दीReview",
    ],
)  # fmt: skip
def test_other_texts_are_not_labels(text: str) -> None:
    assert not TermText(text, "en").is_label()


def test_hyphens_tie_words_and_punctuation_parts_them() -> None:
    text = TermText("COVID-19 vaccine, e-mail – “quoted” d’or", "en")
    sentence = text.sentence({"covid": -3.0, "vaccine": -3.0, "e": 3.0, "mail": -3.0})
    assert text.words == ("covid", "19", "vaccine", "e", "mail", "quoted", "d", "or")
    assert list(sentence.is_tied) == [False, True, False, False, True, False, False, False]
    assert list(sentence.is_joined) == [False, True, True, False, True, False, False, True]
    assert list(sentence.is_content)[:5] == [True] * 5


def test_one_content_word_makes_a_hyphenated_word_content() -> None:
    for text in ("e-mail", "mail-e", "O‘zbekiston"):
        odds = {"e": 3.0, "mail": -3.0, "o": 3.0, "zbekiston": -3.0}
        sentence = TermText(text, "en").sentence(odds)
        assert (list(sentence.is_content), list(sentence.is_tied)) == ([True] * 2, [False, True])


def test_parts_of_addresses_are_not_content_words() -> None:
    text = TermText("macOS https://python or info@python", "en")
    sentence = text.sentence(dict.fromkeys(text.words, -3.0))
    assert list(sentence.is_content) == [True, False, False, True, False, False]


def test_words_without_known_odds_are_not_content_words() -> None:
    assert list(TermText("sea", "en").sentence({}).is_content) == [False]


def test_phrases_begin_with_the_given_words_and_end_at_punctuation() -> None:
    text = TermText("the old lamp, the sea", "en")
    assert list(text.phrases({"old"})) == [
        (("old",), Span(1, 2)), (("old", "lamp"), Span(1, 3)),
    ]  # fmt: skip


def test_headings_are_not_running_text() -> None:
    assert TermText("Nobody saw the ship in the fog.", "en").is_running
    assert not TermText("Nobody Saw The Ship In The Fog", "en").is_running
    assert not TermText("in the fog", "en").is_running


def test_a_quotation_mark_before_the_first_word_ties_nothing() -> None:
    sentence = TermText("\u2018the city", "en").sentence({"the": 3.0, "city": -3.0})
    assert list(sentence.is_tied) == [False, False]
    assert list(sentence.is_content) == [False, True]
