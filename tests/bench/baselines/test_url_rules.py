"""The rules the paper compares its model with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.baselines.url_rules import components, predict, rule_language


@pytest.mark.parametrize(
    ("url", "lang"),
    [
        ("http://example.com/page", "und"),
        ("http://example.com/?lang=fra", "fr"),
        ("http://example.com/?l=ger&x=fr", "de"),
        ("http://example.com/EN/page", "en"),
        ("http://example.com/en", "und"),  # a file, not a directory
        ("http://example.com/en-us/", "und"),  # no code
        ("http://example.com/french/", "und"),  # a name, not a code
        ("http://fr.example.com/", "fr"),
        ("http://a.b.de.example.com/", "de"),
        ("http://example.de/", "de"),
        ("http://example.co.uk/", "uk"),  # the rule takes the suffix for Ukrainian
        ("http://example.com.tr/", "tr"),
        ("http://example.org/cmn/", "und"),  # 639-3 only
        ("http://example.org/ceb/", "ceb"),
        ("http://example.org/%66%72/", "fr"),
        ("ftp://fr.example.de/", "und"),
        ("", "und"),
        ("http://[x/", "und"),
    ],
)
def test_codes_are_found_where_the_paper_looks(url: str, lang: str) -> None:
    assert rule_language(url) == lang


def test_a_rule_is_certain() -> None:
    assert predict(["http://fr.example.com/", "x"]) == [("fr", 1.0), ("und", 1.0)]


@given(st.text())
def test_any_text_has_an_answer(url: str) -> None:
    assert rule_language(url)
    assert list(components(f"http://{url}")) is not None
