from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.text.url_fields import query_tokens, significant, split_url, tagged_tokens, tokens


@pytest.mark.parametrize(
    ("url", "fields"),
    [
        ("http://x.org", ("http://", "x.org", "", "", "")),
        ("http://x.org/", ("http://", "x.org", "/", "", "")),
        ("http://x.org/a", ("http://", "x.org", "/", "a", "")),
        ("https://X.org:81/a/b/", ("https://", "x.org:81", "/a/b/", "", "")),
        ("http://x.org/a/b.php?c=/d/e#f?g", ("http://", "x.org", "/a/", "b.php", "c=/d/e")),
        ("http://bücher.example/ä", ("http://", "bücher.example", "/", "ä", "")),
        ("http://x.org/%zz/%", ("http://", "x.org", "/%zz/", "%", "")),
        ("http://x.org/a\0b", ("http://", "x.org", "/", "a\0b", "")),
    ],
)
def test_fields(url: str, fields: tuple[str, ...]) -> None:
    assert split_url(url) == fields


@pytest.mark.parametrize("url", ["", "mailto:a@x.org", "data:text/html,a", "/fr/a", "://x", "a://"])
def test_an_invalid_url_has_no_fields(url: str) -> None:
    assert split_url(url) is None
    assert tagged_tokens(url) is None


def test_insignificant_tokens_are_omitted_in_any_letter_case() -> None:
    assert significant(["a", "HTML", "php", "html5"]) == ["a", "html5"]
    assert tokens("--a__b..c//d::e--") == ["a", "b", "c", "d", "e"]


def test_parameters_are_tokens() -> None:
    assert query_tokens("a=1&&b&c=x/y;d=") == ["a=1", "b", "c=x", "c=y", "d="]
    assert query_tokens("") == []


def test_order_of_parameters_does_not_matter() -> None:
    one, other = tagged_tokens("http://x.org/?b=2&a=1"), tagged_tokens("http://x.org/?a=1&b=2")
    assert one == other == ["hx", "horg", "qa=1", "qb=2"]


def test_protocol_and_index_files_are_omitted_unless_as_in_the_paper() -> None:
    assert tagged_tokens("http://x.org/a/index.html") == tagged_tokens("https://x.org/a/")
    paper = tagged_tokens("http://x.org/a/index.html", paper=True)
    assert paper == ["hx", "horg", "pa", "findex"]


def test_field_is_part_of_a_token() -> None:
    assert tagged_tokens("http://fr.org/fr/fr?fr") == ["hfr", "horg", "pfr", "ffr", "qfr"]


@given(st.text() | st.text().map(lambda text: "http://" + text))
def test_any_text_has_fields_or_none(text: str) -> None:
    fields = split_url(text)
    found = tagged_tokens(text)
    assert (fields is None) == (found is None)
    if fields is not None:
        protocol, host, path, file, query = fields
        assert text.partition("://")[2].lower().startswith(host.lower()) or not host.isascii()
        assert (
            (protocol + host + path + file).lower()
            == (text.partition("#")[0].partition("?")[0].lower())
            or not text.isascii()
            or "://" in text[len(protocol) :]
            or "?" in protocol
        )
        assert query in text


def test_long_url_is_handled_quickly() -> None:
    with processor_seconds(10):
        assert len(tagged_tokens("http://x.org/" + "a-" * 500_000) or ()) == 500_002
        assert len(tagged_tokens("http://x.org/?" + "a&" * 500_000) or ()) == 500_002
