"""Language marks in URLs, and the shipped table of marks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.codes import primary
from diptych.language.marks import (
    HABITS,
    KINDS,
    LANGUAGE_PARAMETERS,
    LANGUAGES,
    Mark,
    derive_marks,
    fold,
    is_language_parameter,
    mark_table,
    marks_of,
    url_marks,
)

TOOL = Path(__file__).parents[2] / "tools" / "marks.py"
ASKED = ("en", "fr", "pt", "zh", "sl")


def langs(word: str, asked: tuple[str, ...] = LANGUAGES) -> list[str]:
    return [mark.lang for mark in mark_table(asked).get(word, ())]


def found(url: str, asked: tuple[str, ...] = ASKED) -> list[tuple[str, str, str]]:
    """The marks of a URL: field, text, most probable language."""
    return [(m.field, m.text, m.marks[0].lang) for m in url_marks(url, mark_table(asked))]


@pytest.mark.parametrize(
    ("lang", "mark", "kind"),
    [
        ("fr", "fr", "code"),
        ("fr", "fra", "code3"),
        ("fr", "fre", "code3"),
        ("de", "deu", "code3"),
        ("de", "ger", "code3"),
        ("eu", "baq", "code3"),
        ("haw", "haw", "code3"),  # of 639-2 and -3 alone
        ("ast", "ast", "code3"),
        ("cy", "welsh", "name"),
        ("cy", "cymraeg", "endonym"),
        ("fr", "francais", "endonym"),
        ("fr", "français", "endonym"),
        ("de", "allemand", "name"),  # in a neighbour's language
        ("en", "anglais", "name"),
        ("ru", "русский", "endonym"),
        ("ru", "русскии", "endonym"),  # as `fold` writes it
        ("zh", "中文", "endonym"),
        ("en", "e", "habit"),
        ("fr", "f", "habit"),
        ("en", "us", "habit"),
        ("zh", "tc", "habit"),
        ("zh", "sc", "habit"),
        ("zh", "gb", "habit"),
        ("zh", "b5", "habit"),
        ("zh", "big5", "habit"),
        ("sl", "si", "habit"),
        ("sv", "se", "habit"),
        ("pt", "ao", "country"),
        ("ja", "jp", "habit"),
    ],
)
def test_marks_and_their_kinds(lang: str, mark: str, kind: str) -> None:
    assert marks_of(lang)[mark] == kind


def test_marks_belong_to_the_primary_language() -> None:
    assert marks_of("fr-CA") == marks_of("fr") == marks_of("fra")
    assert marks_of("zh-Hant") == marks_of("zh")
    assert marks_of("nb") == marks_of("no")


@pytest.mark.parametrize("code", ["", "und", "x-default", "nonsense", "qqq-"])
def test_an_invalid_code_has_no_marks(code: str) -> None:
    assert marks_of(code) == {}


@pytest.mark.parametrize(
    ("lang", "code", "name"),
    [
        ("tet", "tet", "tetum"),
        ("sms", "sms", "skolt"),
        ("gil", "gil", "gilbertese"),  # not in the table: derived when asked for
        ("mh", "mah", "marshallese"),
        ("nah", "nah", "nahuatl"),
    ],
)
def test_small_languages_have_marks_too(lang: str, code: str, name: str) -> None:
    assert marks_of(lang)[code] in ("code", "code3")
    assert name in marks_of(lang)
    assert found(f"http://x.org/{code}/a", (lang, "en")) == [("path", code, lang)]


def test_languages_of_an_ambiguous_mark_are_ordered_by_probability() -> None:
    assert langs("si") == ["si", "sl"]
    assert langs("si", ("en", "sl")) == ["sl"]
    assert langs("sc")[0] == "sc"  # a code says more than a habit
    assert langs("gb") == ["en", "zh"]
    assert langs("fr") == ["fr"]
    for marks in mark_table().values():
        kinds = [KINDS.index(mark.kind) for mark in marks]
        assert kinds == sorted(kinds)


def test_table_of_some_languages_has_no_others() -> None:
    table = mark_table(("fr-CA", "sl"))
    assert {mark.lang for marks in table.values() for mark in marks} == {"fr", "sl"}
    assert mark_table(("fr", "fr", "fra")) == mark_table(("fr",))
    assert mark_table(("", "nonsense")) == {}


@pytest.mark.parametrize(
    ("url", "marks"),
    [
        ("http://x.org/fr-ca/a", [("path", "fr-ca", "fr")]),
        ("http://x.org/pt_BR/a", [("path", "pt_br", "pt")]),
        ("http://x.org/zh-Hant/", [("path", "zh-hant", "zh")]),
        ("http://x.org/en-419", [("file", "en-419", "en")]),
        ("http://x.org/fr-cafe", [("file", "fr", "fr")]),  # no region
        ("http://x.org/english-us", [("file", "english", "en"), ("file", "us", "en")]),
        ("http://x.org/e/a", [("path", "e", "en")]),
        ("http://x.org/index-f.html", [("file", "f", "fr")]),
        ("http://x.org/eng/b5/", [("path", "eng", "en"), ("path", "b5", "zh")]),
        ("http://x.org/fran%C3%A7ais/x", [("path", "français", "fr")]),
        ("http://x.org/FRANÇAIS/x", [("path", "français", "fr")]),
        ("http://x.org/?lang=FR", [("query", "fr", "fr")]),
        ("http://x.org?fr", [("query", "fr", "fr")]),
        ("http://fr.x.org", [("host", "fr", "fr")]),
        ("http://fr.x.org/en", [("host", "fr", "fr"), ("file", "en", "en")]),
        ("http://x.org/fresh/end/engine", []),
        ("http://x.org/a?u=/fr/b", [("query", "fr", "fr")]),
        ("fr.x.org/en/", [("host", "fr", "fr"), ("path", "en", "en")]),
        ("x.org/en/a?u=http://y.org/fr/", [("path", "en", "en"), ("query", "fr", "fr")]),
        ("//x.org/en/a", [("path", "en", "en")]),
        ("", []),
    ],
)
def test_marks_of_urls(url: str, marks: list[tuple[str, str, str]]) -> None:
    assert found(url) == marks


def test_si_is_slovenian_if_slovenian_is_requested() -> None:
    assert found("http://x.org/si/a", ("en", "sl")) == [("path", "si", "sl")]
    assert found("http://x.org/si/a", ("en", "si", "sl")) == [("path", "si", "si")]


PIECES = [
    "fr",
    "en-us",
    "Français",
    "%C3%A9",
    "x",
    "-",
    "_",
    "/",
    "?",
    "&",
    "=",
    ".",
    "://",
    "#",
    "İ",
]


@given(url=st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text())
def test_marks_are_at_their_reported_positions(url: str) -> None:
    order = ["host", "path", "file", "query"]
    end, field = 0, 0
    for mark in url_marks(url, mark_table(ASKED)):
        assert end <= mark.start < mark.end
        assert order.index(mark.field) >= field
        assert len(mark.text) == mark.end - mark.start
        assert mark.marks
        end, field = mark.end, order.index(mark.field)


@pytest.mark.parametrize(
    "name", ["lang", "Lang", "LANGUAGE", "idioma", "hl", "språk", "sprak", "Sprache", "lang_id"]
)
def test_parameters_of_languages(name: str) -> None:
    # What it holds does not matter: `Lang=1` is a language too.
    assert is_language_parameter(name)


@pytest.mark.parametrize("name", ["", "id", "page", "slang", "q", "fr"])
def test_other_parameters(name: str) -> None:
    assert not is_language_parameter(name)


def test_folding() -> None:
    assert fold("Čeština") == "cestina"
    assert fold("Straße") == "strasse"
    assert fold(fold("Русский")) == fold("Русский")
    assert all(name == name.casefold() for name in LANGUAGE_PARAMETERS)


def test_languages_are_codes_each_once() -> None:
    assert len(set(LANGUAGES)) == len(LANGUAGES)
    assert set(HABITS) <= set(LANGUAGES)
    assert [lang for lang in LANGUAGES if primary(lang) != lang] == []
    assert all(lang in marks_of(lang) for lang in LANGUAGES)
    assert langs("montenegrin") == langs("cnr") == ["sr"]
    assert {kind for lang in LANGUAGES for kind in marks_of(lang).values()} == set(KINDS)


SAMPLE = ("en", "fr", "zh", "sl", "se", "no", "ja", "haw", "cy", "sr")


@pytest.mark.parametrize("lang", SAMPLE)
def test_shipped_table_matches_cldr(lang: str) -> None:
    shipped = {mark: kind for mark, kind in marks_of(lang).items() if kind != "country"}
    derived = derive_marks(lang)
    for kinds in (("code", "code3"), ("habit",)):
        assert {m for m, k in shipped.items() if k in kinds} == {
            m for m, k in derived.items() if k in kinds
        }
    # Names change a little with every version of CLDR.
    names = {m for m, k in shipped.items() if k in ("name", "endonym")}
    again = {m for m, k in derived.items() if k in ("name", "endonym")}
    assert len(names & again) >= 0.7 * len(names | again)


def test_countries_match_the_tool() -> None:
    spec = importlib.util.spec_from_file_location("tools_marks", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    countries = set(tool.country_marks())
    assert {("jp", "ja"), ("br", "pt"), ("us", "en"), ("sn", "fr")} <= countries
    assert ("ch", "en") not in countries
    shipped = {
        (mark, lang) for lang in LANGUAGES for mark, k in marks_of(lang).items() if k == "country"
    }
    assert len(shipped - countries) <= 0.1 * len(shipped)


def test_marks_in_other_scripts_survive_percent_encoding() -> None:
    url = "http://x.org/" + quote("русский") + "/" + quote("日本語")
    assert found(url, ("ru", "ja")) == [("path", "русский", "ru"), ("file", "日本語", "ja")]
    assert mark_table(("ja",))["日本語"] == (Mark("ja", "endonym"),)


def test_listed_languages_are_primary_languages() -> None:
    assert [primary(lang) for lang in LANGUAGES] == list(LANGUAGES)
