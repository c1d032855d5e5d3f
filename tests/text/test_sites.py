"""Sites as people name them, and what was meant by those that are none."""

from __future__ import annotations

import pytest

from diptych.errors import ConfigError
from diptych.text.sites import parse_site


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "https://example.org/"),
        (" www.example.org ", "https://www.example.org/"),
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.org/a b", "https://example.org/a%20b"),
        ("//example.org/fr", "https://example.org/fr"),
        ("localhost:8080", "https://localhost:8080/"),
        ("[::1]:8080", "https://[::1]:8080/"),
        ("httpbin.org/x", "https://httpbin.org/x"),
        ("http.net", "https://http.net/"),
        ("https://example.org/page.html", "https://example.org/page.html"),
        ("https://a.org/?u=http://b.org/", "https://a.org/?u=http://b.org/"),
        ("https://a.org/http://b.org/", "https://a.org/http://b.org/"),
    ],
)
def test_a_site_needs_no_scheme(text: str, url: str) -> None:
    assert parse_site(text) == url


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("http:/example.org", "http://example.org/"),
        ("https//example.org/fr", "https://example.org/fr"),
        ("http//example.org", "http://example.org/"),
        ("htp://example.org", "http://example.org/"),
        ("htps://example.org", "https://example.org/"),
        ("hhtp://example.org", "http://example.org/"),
        ("ttps://example.org", "https://example.org/"),
        ("https:example.org", "https://example.org/"),
        ("https;//example.org", "https://example.org/"),
        ("http:\\\\example.org", "http://example.org/"),
        ("https:///example.org", "https://example.org/"),
        ("http://https://example.org", "https://example.org/"),
        ("http: //example.org", "http://example.org/"),
        ("www.example .org", "https://www.example.org/"),
        ("http://example .org/a", "http://example.org/a"),
    ],
)
def test_a_mistyped_url_is_answered_with_the_right_one(text: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_site(text)
    assert str(caught.value) == f"'{text}' is not a URL; did you mean {meant}?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("anna@example.org", "is an e-mail address; did you mean https://example.org/?"),
        ("mailto:anna@example.org", "is an e-mail address; did you mean https://example.org/?"),
        ("a.org b.org", "names several sites; pass each as a separate argument: a.org b.org"),
        ("a.org,b.org", "names several sites; pass each as a separate argument: a.org b.org"),
        (
            "/home/anna/page.html",
            "there is no file '/home/anna/page.html'; specify a site, such as",
        ),
        ("./sites", "there is no file './sites'"),
        ("~/sites", "there is no file '~/sites'"),
        (r"C:\sites", r"there is no file 'C:\sites'"),
        ("sites.txt", "there is no file 'sites.txt'"),
        (
            "http://anna:secret@example.org/@x",
            "a user name or password are not accepted; use http://example.org/@x",
        ),
        ("https://anna:secret@example.org/", "use https://example.org/"),
        ("ftp://anna:secret@example.org/", "use https://example.org/"),
        (
            "ftp://example.org/",
            "is not an http or https URL; specify one, such as https://example.org",
        ),
        ("http//", "is not an http or https URL; specify one, such as https://example.org"),
        ("http://https/", "is not an http or https URL"),
        ("http:8080", "is not an http or https URL"),
        ("https", "is not an http or https URL"),
        ("ho st", "is not an http or https URL"),
    ],
)
def test_what_is_no_site_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_site(text)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
