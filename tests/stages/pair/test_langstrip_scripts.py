"""Marks of a language that is asked for in two scripts: which of the two they mean."""

from __future__ import annotations

import pytest

from diptych.language.switchers import declared_language
from diptych.stages.crawl.hybrid.language_guess import LanguageGuesser
from diptych.stages.detect.predictor.contexts import Question
from diptych.stages.pair.keys.mark_meaning import mark_reader
from diptych.stages.pair.keys.strategy import pair_urls
from diptych.stages.pair.langstrip import strip_language
from diptych.stages.pair.pplocator import guess_language
from diptych.types import Link, Url

SERBIAN = ("sr-Latn", "sr-Cyrl")
ALL = ("en", *SERBIAN, "zh-Hans", "zh-Hant")


@pytest.mark.parametrize(
    ("mark", "lang"),
    [
        ("sr", "sr-Cyrl"),
        ("lat", "sr-Latn"),
        ("cir", "sr-Cyrl"),
        ("sr-latn", "sr-Latn"),
        ("sr-cyrl", "sr-Cyrl"),
        ("latinica", "sr-Latn"),
    ],
)
def test_marks_in_urls_give_the_script(mark: str, lang: str) -> None:
    assert SERBIAN[mark_reader(SERBIAN).meaning(f"p{mark}").lang] == lang
    url = f"http://x.org/{mark}/page.html"
    assert guess_language(url, *SERBIAN) == lang
    assert strip_language(url, SERBIAN).langs == {lang}


def test_regions_in_urls_give_the_script() -> None:
    reader = mark_reader(ALL)
    meant = [ALL[reader.meaning(f"p{mark}").lang] for mark in ("zh-tw", "zh_HK", "zh-cn", "tc")]
    assert meant == ["zh-Hant", "zh-Hant", "zh-Hans", "zh-Hant"]


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Srpski", "sr-Latn"),
        ("Српски", "sr-Cyrl"),
        ("Latinica", "sr-Latn"),
        ("Ћирилица", "sr-Cyrl"),
        ("SR", "sr-Cyrl"),
        ("sr-Latn", "sr-Latn"),
        ("繁體中文", "zh-Hant"),
        ("简体中文", "zh-Hans"),
        ("zh_TW", "zh-Hant"),
        ("Chinese (Traditional)", "zh-Hant"),
        ("English", "en"),
    ],
)
def test_names_in_switchers_give_the_script(text: str, lang: str) -> None:
    assert declared_language(Link(Url("http://x.org/"), anchor=text), ALL).lang == lang


@pytest.mark.parametrize(
    ("hreflang", "lang"),
    [("sr", "sr-Cyrl"), ("sr-Latn", "sr-Latn"), ("zh-HK", "zh-Hant"), ("zh", "zh-Hans")],
)
def test_declared_translations_give_the_script(hreflang: str, lang: str) -> None:
    link = Link(Url("http://x.org/"), rel="alternate", hreflang=hreflang)
    assert LanguageGuesser(ALL).declared(link) == (lang, "alternate")


def test_keys_pair_two_scripts() -> None:
    pages = [
        (f"http://x.org/{folder}/{page}", lang)
        for folder, lang in (("sr", "sr-Cyrl"), ("lat", "sr-Latn"))
        for page in ("one", "two", "three", "four", "five", "six")
    ]
    found = pair_urls(pages, SERBIAN)
    assert {(pair.left_lang, pair.right_lang) for pair in found} == {SERBIAN}
    assert len(found) == 6


def test_other_script_is_missing_after_the_first_is_found() -> None:
    assert Question.of(SERBIAN, ["sr-Cyrl"]).missing == {"sr"}
    assert Question.of(SERBIAN, SERBIAN).missing == frozenset()
