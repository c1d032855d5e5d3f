"""The language that a link declares for its target."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.switchers import declared_language, names_other_language
from diptych.types import Link

LANGS = ("en", "fr")


@pytest.mark.parametrize(
    "text",
    [
        "Deutsch", "deutsch", "German", "DE", "[de]", "Ελληνικά", "日本語", "Español",
        "Русский", " Italiano ", "» Polski",
    ],
)  # fmt: skip
def test_names_and_codes_of_other_languages_are_recognised(text: str) -> None:
    assert names_other_language(text, LANGS)
    assert declared_language(Link("http://x.org/", anchor=text), LANGS).lang == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["English", "Français", "fr", "EN", "French", "fr-CA", "", "Home", "News", "More", "12"]
)
def test_requested_languages_and_other_words_are_not_other_languages(text: str) -> None:
    assert not names_other_language(text, LANGS)


def test_the_result_depends_on_the_requested_languages() -> None:
    assert not names_other_language("Deutsch", ("en", "de"))
    assert names_other_language("Français", ("en", "de"))


def test_sentence_about_a_language_is_not_its_name() -> None:
    assert not names_other_language(
        "German history in a thousand pictures and as many words", LANGS
    )
    assert not names_other_language("German history", LANGS)


@given(st.text(max_size=60))
def test_any_text_is_handled(text: str) -> None:
    link = Link("http://x.org/", anchor=text)  # type: ignore[arg-type]
    if names_other_language(text, LANGS):
        assert declared_language(link, LANGS).lang == ""
