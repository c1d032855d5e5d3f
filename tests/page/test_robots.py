from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.frontier.politeness import Politeness
from diptych.page.robots import MAX_ROBOTS_BYTES, Robots, retry_after
from diptych.types import Response, Url

TOKEN = Politeness(agent="DiptychBot/0.1 (+https://example.org/bot)").token
HOME = "http://example.org"


def answer(status: int = 200, body: bytes = b"", *headers: tuple[str, str]) -> Response:
    return Response(Url(f"{HOME}/robots.txt"), status, headers, body, 1_000_000.0)


def allows(robots: Robots, path: str) -> bool:
    return bool(robots.rules().can_fetch(HOME + path, TOKEN))


@pytest.mark.parametrize(
    ("response", "status", "allowed"),
    [
        (answer(200, b"User-agent: *\nDisallow: /"), "read", False),
        (answer(200, b""), "read", True),
        (answer(204, b""), "read", True),
        (answer(301), "missing", True),
        (answer(400), "missing", True),
        (answer(401), "missing", True),
        (answer(403), "missing", True),
        (answer(404, b"User-agent: *\nDisallow: /"), "missing", True),
        (answer(410), "missing", True),
        (answer(429), "missing", True),
        (answer(500), "unreachable", False),
        (answer(502, b"User-agent: *\nAllow: /"), "unreachable", False),
        (answer(503), "unreachable", False),
        (answer(599), "unreachable", False),
        (None, "unreachable", False),
    ],
)
def test_rules_by_status_of_the_response(
    response: Response | None, status: str, allowed: bool
) -> None:
    robots = Robots.of(response)
    assert robots.status == status
    assert allows(robots, "/a.html") is allowed


EXAMPLE = b"""User-agent: *
Disallow: /

User-Agent: diptychbot
Disallow: /private/
Allow: /private/open.html
Disallow: /*.pdf$
Disallow: /search?
Crawl-delay: 2.5

Sitemap: http://example.org/map.xml
sitemap: http://example.org/other.xml
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private", True),
        ("/private/", False),
        ("/private/a", False),
        ("/PRIVATE/a", True),  # paths are case-sensitive, names of agents are not
        ("/private/open.html", True),  # the longest match wins
        ("/a.pdf", False),
        ("/x/y.pdf", False),
        ("/a.pdf?download", True),
        ("/a.PDF", True),
        ("/search", True),
        ("/search?q=lamp", False),
    ],
)
def test_own_group_is_obeyed_and_no_other(path: str, allowed: bool) -> None:
    assert allows(Robots.of(answer(body=EXAMPLE)), path) is allowed


def test_crawl_delay_and_sitemaps_are_read() -> None:
    rules = Robots.of(answer(body=EXAMPLE)).rules()
    assert rules.crawl_delay(TOKEN) == 2.5
    assert list(rules.sitemaps) == [f"{HOME}/map.xml", f"{HOME}/other.xml"]


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /", False),
        ("\ufeffUser-agent: *\nDisallow: /".encode(), False),
        (b"user-AGENT:*\r\nDISALLOW:/\r\n", False),
        (b"User-agent: *\rDisallow: /\r", False),
        (b"# comment\nUser-agent: * # all\nDisallow: / # everything\n", False),
        (b"User-agent: *\nDisallow:\n", True),
        (b"User-agent: *\nDisallow: /\nAllow: /\n", True),  # as specific: the least restrictive
        (b"User-agent: OtherBot\nDisallow: /\n", True),
        (b"User-agent: OtherBot\nUser-agent: DiptychBot\nDisallow: /\n", False),
        (b"Disallow: /\n", True),  # no group
        (b"<html><body>Not found</body></html>", True),
        (b"\xff\xfe\x00\x80" * 100, True),
        (b"User-agent: *\nDisallow: /%61.html\n", False),
        (b"User-agent: *\nDisallow: /caf\xc3\xa9\n", True),
    ],
)
def test_unusual_spellings_are_accepted(body: bytes, allowed: bool) -> None:
    assert allows(Robots.of(answer(body=body)), "/a.html") is allowed


def test_non_ascii_rules_match_their_escaped_urls() -> None:
    robots = Robots.of(answer(body="User-agent: *\nDisallow: /café\n".encode()))
    assert not allows(robots, "/caf%C3%A9/menu")


def test_rules_beyond_half_a_megabyte_are_not_read() -> None:
    padding = b"# " + b"x" * MAX_ROBOTS_BYTES + b"\n"
    assert allows(Robots.of(answer(body=padding + b"User-agent: *\nDisallow: /")), "/")
    near = b"# " + b"x" * 499_000 + b"\n"
    assert not allows(Robots.of(answer(body=near + b"User-agent: *\nDisallow: /")), "/")


@given(
    st.one_of(
        st.binary(max_size=300), st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))
    )
)
def test_any_bytes_are_read_without_raising(body: bytes) -> None:
    rules = Robots.of(answer(body=body)).rules()
    assert rules.can_fetch(f"{HOME}/a?b", TOKEN) in (True, False)
    rules.crawl_delay(TOKEN)
    assert all(isinstance(sitemap, str) for sitemap in rules.sitemaps)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", None),
        ("0", 0.0),
        ("3", 3.0),
        (" 120 ", 120.0),
        ("Mon, 12 Jan 1970 13:47:40 GMT", 60.0),  # fetched_at is a million seconds after 1970
        ("Mon, 12 Jan 1970 13:46:40 GMT", 0.0),
        ("Mon, 12 Jan 1970 00:00:00 GMT", 0.0),
        ("Monday, 12-Jan-70 13:47:40 GMT", 60.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Mon, 99 Jan 1970 99:99:99 GMT", None),
        ("Mon, 12 Jan 99999 00:00:00 GMT", None),
    ],
)
def test_wait_requested_by_a_server(value: str, seconds: float | None) -> None:
    headers = [("retry-AFTER", value)] if value else []
    assert retry_after(answer(429, b"", *headers)) == seconds


def test_first_of_several_waits_counts() -> None:
    assert retry_after(answer(429, b"", ("Retry-After", "7"), ("Retry-After", "9"))) == 7.0


@given(
    st.one_of(
        st.text(max_size=40),
        st.lists(
            st.sampled_from(
                [
                    "Mon,",
                    "12",
                    "Jan",
                    "1970",
                    "0000",
                    "00:00:00",
                    "25:61",
                    "GMT",
                    "+9999",
                    "-",
                    "9" * 400,
                ]
            ),
            max_size=7,
        ).map(" ".join),
    )
)
def test_any_wait_is_accepted_and_never_negative(value: str) -> None:
    seconds = retry_after(answer(503, b"", ("Retry-After", value)))
    assert seconds is None or seconds >= 0.0


@pytest.mark.parametrize(
    ("date", "fetched_at", "wait"),
    [
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0.0, 37.0),  # our clock is years behind
        ("Sun, 06 Nov 1994 08:49:00 GMT", 4e9, 37.0),  # or years ahead
        ("", 784_111_770.0, 7.0),
        ("yesterday", 784_111_770.0, 7.0),
        ("Sun, 06 Nov 1994 09:00:00 GMT", 0.0, 0.0),
    ],
)
def test_date_to_wait_for_is_read_by_the_clock_of_the_server(
    date: str, fetched_at: float, wait: float
) -> None:
    headers = (("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", date))
    assert retry_after(Response(Url("http://a.b/"), 429, headers, b"", fetched_at)) == wait
