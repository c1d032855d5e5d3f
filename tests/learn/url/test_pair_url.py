"""The URL parser of the pair model, and its limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.marks import LANGUAGES
from diptych.learn.url.pair_url import (
    EDGE,
    FILE,
    FOLDER,
    HOST,
    INSIDE,
    MAX_CHARACTERS,
    MAX_LABELS,
    MAX_MARKS,
    MAX_PARAMS,
    MAX_SEGMENTS,
    MAX_TOKENS,
    NAMED,
    QUERY,
    WHOLE,
    ParsedUrl,
    mark_words,
    parse_url,
    plain,
)


def read(url: str) -> ParsedUrl:
    return parse_url(plain(url))


def marks(url: str) -> list[tuple[str, int, int]]:
    """Language, strength and field of each mark."""
    return [(LANGUAGES[mark.lang], mark.strength, mark.field) for mark in read(url).marks]


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://X.org/A", b"x.org/a"),
        ("HTTPS://x.org/", b"x.org/"),
        ("//x.org/a", b"x.org/a"),
        ("x.org/a", b"x.org/a"),
        (" http://x.org/a", b"x.org/a"),
        ("x.org/a?to=http://y.org/b", b"x.org/a?to=http://y.org/b"),
        ("http://x.org/%C3%89t%C3%A9", b"x.org/ete"),
        ("http://x.org/Été", b"x.org/ete"),
        ("http://x.org/Łódź/Smørrebrød", b"x.org/lodz/smorrebrod"),
        ("http://x.org/%E9t%E9/%C0", b"x.org/ete/a"),  # in Latin-1
        ("http://x.org/\ufffd/a？b／c", b"x.org/-/a-b-c"),  # no delimiters are made
        ("http://x.org/Новости", b"x.org/novosti"),
        ("http://x.org/a#b?c", b"x.org/a"),
        ("http://x.org/c%23", b"x.org/c#"),  # no fragment
        ("http://x.org/\ud800", b"x.org/-"),
        ("", b""),
        ("http://", b""),
    ],
)
def test_urls_are_brought_to_plain_form(url: str, text: bytes) -> None:
    assert plain(url) == text


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://x.org/a?sid=1f", b"x.org/a"),
        ("http://x.org/a?PHPSESSID=1f&id=2", b"x.org/a?id=2"),
        ("http://x.org/a?id=2&utm_source=m&utm_medium=n", b"x.org/a?id=2"),
        ("http://x.org/a?utm_source=m&fbclid=7&id=2&gclid=3", b"x.org/a?id=2"),
        ("http://x.org/a.do;jsessionid=1F?lang=fr", b"x.org/a.do?lang=fr"),
        ("http://x.org/a?session_id=1&id=2", b"x.org/a?id=2"),
        ("http://x.org/a?inside=1&side=2", b"x.org/a?inside=1&side=2"),
        ("http://x.org/sid=1", b"x.org/sid=1"),
    ],
)
def test_session_and_campaign_parameters_are_removed(url: str, text: bytes) -> None:
    assert plain(url) == text


def test_hosts() -> None:
    assert read("http://www.a.x.org:80/").labels == [b"a", b"x", b"org"]
    assert read("http://www/").labels == [b"www"]
    assert read("http://www.www.org").labels == [b"www", b"org"]
    assert read("").labels == [b""]
    assert marks("http://fr.x.org/") == [("fr", WHOLE, HOST)]
    assert marks("http://x.fr/") == []  # a country is no language
    assert marks("http://fr.org/") == []


def test_segments_and_tokens() -> None:
    url = read("http://x.org/news//2024/red-wine_3.html")
    assert url.segments == [b"news", b"2024", b"red-wine_3"]
    assert url.extension == b"html"
    assert [(token.word, token.field, token.segment) for token in url.tokens] == [
        (b"news", FOLDER, 0),
        (b"2024", FOLDER, 1),
        (b"red", FILE, 2),
        (b"wine", FILE, 2),
        (b"3", FILE, 2),
    ]
    assert [token.is_number for token in url.tokens] == [False, True, False, False, True]
    assert url.path == b"news//2024/red-wine_3"
    assert (url.odd, url.slash, url.end) == (1, False, 1)


@pytest.mark.parametrize(
    "page", ["", "index.html", "default.aspx", "home", "index.html/", "main.php"]
)
def test_index_files_are_not_segments(page: str) -> None:
    assert read(f"http://x.org/a/{page}").segments == [b"a"]


def test_folders_and_numbered_files_named_index_are_segments() -> None:
    assert read("http://x.org/index/a").segments == [b"index", b"a"]  # a folder
    assert read("http://x.org/a/index-1.html").segments == [b"a", b"index-1"]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://x.org/fr/", [("fr", WHOLE, FILE)]),
        ("http://x.org/fr/a", [("fr", WHOLE, FOLDER)]),
        ("http://x.org/fr-ca/a", [("fr", WHOLE, FOLDER)]),
        ("http://x.org/fr_CA/a", [("fr", WHOLE, FOLDER)]),
        ("http://x.org/zh-Hant/a", [("zh", WHOLE, FOLDER)]),
        ("http://x.org/xx-fr/a", [("fr", WHOLE, FOLDER)]),  # the country comes first
        ("http://x.org/francais.htm", [("fr", WHOLE, FILE)]),
        ("http://x.org/Fran%C3%A7ais/", [("fr", WHOLE, FILE)]),
        ("http://x.org/%C5%82otewski/", [("lv", WHOLE, FILE)]),
        ("http://x.org/a_fr.htm", [("fr", EDGE, FILE)]),
        ("http://x.org/fr-a-b.htm", [("fr", EDGE, FILE)]),
        ("http://x.org/a-fr-b", [("fr", INSIDE, FILE)]),
        ("http://x.org/a.fr.html", [("fr", EDGE, FILE)]),
        ("http://x.org/?lang=fr", [("fr", NAMED, QUERY)]),
        ("http://x.org/?lang=fr-CA", [("fr", NAMED, QUERY)]),
        ("http://x.org/?language=french&id=1", [("fr", NAMED, QUERY)]),
        ("http://x.org/?x=fr", [("fr", WHOLE, QUERY)]),
        ("http://x.org/?x=fra", [("fr", WHOLE, QUERY)]),
        ("http://x.org/?x=french", []),
        ("http://x.org/fresh", []),
    ],
)
def test_marks(url: str, found: list[tuple[str, int, int]]) -> None:
    assert marks(url) == found


def test_segments_that_are_marks_leave_no_segment() -> None:
    assert read("http://x.org/fr/a/en-us/").segments == [b"a"]
    assert read("http://x.org/fr-/a").segments == [b"fr-", b"a"]
    assert read("http://x.org/fr--ca/a").segments == [b"fr--ca", b"a"]


def test_values_that_name_no_language_count_as_separate_languages() -> None:
    one, other = (read(f"http://x.org/a?Lang={number}").marks[0] for number in (1, 2))
    assert one.lang != other.lang
    assert one.lang >= 1000 > len(LANGUAGES)
    assert one[1:] == other[1:]
    assert read("http://x.org/b?lang=1").marks[0] == one
    assert read("http://x.org/a?id=1").marks == []


def test_parameters() -> None:
    url = read("http://x.org/a?lang=fr&id=12&q=red+wine&b&=c")
    assert [(param.name, param.value, param.is_language) for param in url.params] == [
        (b"lang", b"fr", True),
        (b"id", b"12", False),
        (b"q", b"red+wine", False),
        (b"b", b"", False),
        (b"", b"c", False),
    ]
    assert [token.word for token in url.tokens] == [b"a", b"12", b"red", b"wine", b"c"]
    assert read("http://x.org?").params[0][:2] == (b"", b"")
    assert read("http://x.org").params == []


def test_ends_of_paths() -> None:
    assert [read(f"http://x.org/{path}").end for path in ("a/", "", "a", "a-", "a?b-")] == [
        0,
        0,
        1,
        2,
        1,
    ]
    assert [read(f"http://x.org/{path}").odd for path in ("a", "a--b", "a-/", "---", "a/?b")] == [
        0,
        1,
        1,
        2,
        1,
    ]


def test_marks_are_words_of_letters() -> None:
    assert {b"fr", b"francais", b"russkiy", b"lotewski"} <= set(mark_words())
    assert not any(any(48 <= byte <= 57 for byte in word) for word in mark_words())
    assert all(0 <= mark.lang < len(LANGUAGES) for mark in mark_words().values())


def check(url: ParsedUrl) -> None:
    assert 1 <= len(url.labels) <= MAX_LABELS
    assert len(url.segments) <= MAX_SEGMENTS
    assert len(url.tokens) <= MAX_TOKENS
    assert len(url.marks) <= MAX_MARKS
    assert len(url.params) <= MAX_PARAMS
    assert all(token.word for token in url.tokens)


@pytest.mark.parametrize(
    "url",
    [
        "http://" + "a." * 50 + "org",
        "http://x.org/" + "a/" * 100,
        "http://x.org/" + "fr/" * 100,
        "http://x.org/" + "a-" * 500,
        "http://x.org/?" + "a=1&" * 500,
        "http://x.org/" + "é" * 100_000,
        "http://x.org/" + "\ufdfa" * 5000,  # eighteen letters each
        "\0",
    ],
)
def test_parts_of_a_url_are_bounded(url: str) -> None:
    check(read(url))
    assert len(plain(url).decode()) <= MAX_CHARACTERS


@given(url=st.text())
def test_any_text_can_be_parsed(url: str) -> None:
    check(read(url))
    check(read(f"http://{url}"))
