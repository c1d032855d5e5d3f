from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.answer import ReadAnswer, read_answer
from diptych.types import Kind, Response, Url

URL = Url("http://example.org/a/b.html")
HTML = b"<!doctype html><html lang=en><title>Lamp</title><p>The lamp is lit. <a href=c>more</a></p>"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)


def answer(
    status: int = 200, body: bytes = HTML, *, truncated: str = "", **headers: str
) -> Response:
    fields = {"Content-Type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}
    pairs = tuple((name, value) for name, value in fields.items() if value)
    return Response(URL, status, pairs, body, 123.5, truncated=truncated)


def reason(reading: ReadAnswer) -> str:
    return reading.failure.reason if reading.failure else ""


REDIRECTS = [
    (301, "/c", "http://example.org/c"),
    (302, "c.html", "http://example.org/a/c.html"),
    (303, "https://other.org/#top", "https://other.org/"),
    (307, "//www.example.org/", "http://www.example.org/"),
    (308, "?x=1", "http://example.org/a/b.html?x=1"),
    (301, " http://example.org/d ", "http://example.org/d"),
    (301, "/caf%C3%A9", "http://example.org/caf%C3%A9"),
    # UTF-8 on the wire, which HTTP shows as Latin-1
    (301, "/café".encode().decode("latin-1"), "http://example.org/caf%C3%A9"),
    (301, "/日本".encode().decode("latin-1"), "http://example.org/%E6%97%A5%E6%9C%AC"),
]


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.SITEMAP])
@pytest.mark.parametrize(("status", "location", "target"), REDIRECTS)
def test_redirect_leads_to_its_location(
    kind: Kind, status: int, location: str, target: str
) -> None:
    reading = read_answer(kind, answer(status, b"", Location=location))
    assert reading.redirect == target
    assert (reading.status, reading.failure, reading.page) == (status, None, None)


@pytest.mark.parametrize("location", ["", "mailto:a@b.org", "http://[", "http://u:p@b.org/"])
def test_redirect_that_leads_nowhere_is_a_failure(location: str) -> None:
    reading = read_answer(Kind.PAGE, answer(302, HTML, Location=location))
    assert (reason(reading), reading.redirect, reading.page) == ("bad_redirect", None, None)


def test_body_that_unfolds_beyond_the_limit_is_too_large() -> None:
    bomb = gzip.compress(HTML + bytes(30_000_000))
    assert reason(read_answer(Kind.PAGE, answer(body=bomb, Content_Encoding="gzip"))) == "too_large"


@pytest.mark.parametrize(
    "body",
    [gzip.compress(HTML, mtime=0), b"\x7fELF" + bytes(90), b"wOF2" + bytes(90)],
    ids=["gzip", "ELF", "WOFF2"],
)
def test_file_that_is_served_as_a_page_is_none(body: bytes) -> None:
    assert reason(read_answer(Kind.PAGE, answer(body=body))) == "content_type"


def test_a_password_in_a_redirect_is_not_part_of_the_failure() -> None:
    failure = read_answer(Kind.PAGE, answer(302, Location="http://anna:pass@b.org/c")).failure
    assert failure is not None
    assert failure.detail == "http://***@b.org/c"


REFRESH = "<meta http-equiv=refresh content='{}; url={}'>"


def refreshing(target: str, letters: int = 0, more: str = "") -> Response:
    """A page that refreshes to another, with this much text."""
    body = REFRESH.format(0, target) + f"<p>{'moved ' * (letters // 6)}</p>{more}"
    return answer(body=f"<html><head><title>Moved</title>{body}".encode())


@pytest.mark.parametrize("letters", [0, 60, 390])
@pytest.mark.parametrize("more", ["", "<a href=/c>Click here</a>", "<a href='#top'>top</a>"])
def test_page_that_only_refreshes_to_another_leads_there(letters: int, more: str) -> None:
    reading = read_answer(Kind.PAGE, refreshing("/c", letters, more))
    assert (reading.target, reading.redirect) == ("http://example.org/c", None)
    assert reading.page is not None


@pytest.mark.parametrize(
    "response",
    [
        refreshing("/c", 600), refreshing(URL), refreshing("mailto:a@b.org"),
        refreshing("/c", more="<a href=/d>Français</a>"), answer(body=b"<a href=/c>only link</a>"),
    ],
)  # fmt: skip
def test_page_that_has_more_than_a_refresh_to_another_leads_nowhere(response: Response) -> None:
    assert read_answer(Kind.PAGE, response).target is None


def test_redirect_leads_to_its_target() -> None:
    reading = read_answer(Kind.PAGE, answer(301, b"", Location="/c"))
    assert reading.target == reading.redirect == "http://example.org/c"
    assert read_answer(Kind.PAGE, answer(404)).target is None


FAILURES = [
    (answer(404), "http_404"),
    (answer(410, b""), "http_410"),
    (answer(403), "http_403"),
    (answer(500), "http_500"),
    (answer(204, b""), "http_204"),
    (answer(206), "http_206"),
    (answer(300), "http_300"),
    (answer(304, b""), "http_304"),
    (answer(999), "http_999"),
    (answer(body=b""), "empty"),
    (answer(body=PNG), "content_type"),
    (answer(body=PNG, Content_Type="image/png"), "content_type"),
    (answer(body=b"%PDF-1.4", Content_Type="application/pdf"), "content_type"),
    (answer(body=b"<rss></rss>", Content_Type="application/rss+xml"), "content_type"),
    (answer(body=b"plain words", Content_Type="text/plain"), "content_type"),
    (answer(body=b"", truncated="content_type", Content_Type="video/mp4"), "content_type"),
    (answer(truncated="content_type"), "content_type"),
    (answer(body=b"", truncated="length"), "too_large"),
    (answer(truncated="length"), "too_large"),
    (answer(truncated="time"), "cut_off"),
    (answer(truncated="disconnect"), "cut_off"),
    (answer(truncated="unspecified"), "cut_off"),
]


@pytest.mark.parametrize(("response", "expected"), FAILURES)
def test_responses_that_are_not_pages(response: Response, expected: str) -> None:
    reading = read_answer(Kind.PAGE, response)
    assert reason(reading) == expected
    assert (reading.page, reading.sitemap, reading.robots, reading.redirect) == (None,) * 4
    assert reading.size == len(response.body)
    assert reading.failure is not None
    assert reading.failure.url == URL


@pytest.mark.parametrize(
    "response",
    [
        answer(),
        answer(Content_Type="text/html; charset=utf-8"),
        answer(Content_Type="application/xhtml+xml"),
        answer(Content_Type=""),
        answer(body=b"\xef\xbb\xbf\n" + HTML, Content_Type="text/plain"),
        answer(body=gzip.compress(HTML), Content_Encoding="gzip"),
    ],
)
def test_html_is_read_as_a_page(response: Response) -> None:
    reading = read_answer(Kind.PAGE, response, depth=3, langs=("en", "fr"))
    assert reading.failure is None
    assert reading.page is not None
    record = reading.page.record
    assert (record.url, record.title, record.depth, record.fetched_at) == (URL, "Lamp", 3, 123.5)
    assert [link.url for link in reading.page.links] == ["http://example.org/a/c"]
    assert reading[:4] == (URL, 200, len(response.body), 123.5)


@pytest.mark.parametrize(
    ("status", "value", "wait"),
    [(429, "7", 7.0), (503, "120", 120.0), (429, "soon", None), (429, "", None), (404, "9", 9.0)],
)
def test_requested_wait_is_in_the_failure(status: int, value: str, wait: float | None) -> None:
    failure = read_answer(Kind.PAGE, answer(status, Retry_After=value)).failure
    assert failure is not None
    assert (failure.reason, failure.retry_after) == (f"http_{status}", wait)


def test_long_details_are_cut() -> None:
    failure = read_answer(Kind.PAGE, answer(body=PNG, Content_Type="x/" + "y" * 5000)).failure
    assert failure is not None
    assert len(failure.detail) == 200


SITEMAP = (
    b'<urlset xmlns:xhtml="x"><url><loc>http://example.org/en</loc>'
    b'<xhtml:link rel="alternate" hreflang="fr" href="http://example.org/fr"/></url></urlset>'
)


@pytest.mark.parametrize(
    "response",
    [
        answer(body=SITEMAP, Content_Type="application/xml"),
        answer(body=SITEMAP, Content_Type="text/plain"),
        answer(body=gzip.compress(SITEMAP), Content_Type="application/gzip"),
        answer(body=gzip.compress(SITEMAP), Content_Encoding="gzip"),
        answer(body=gzip.compress(gzip.compress(SITEMAP)), Content_Encoding="gzip"),
    ],
)
def test_sitemap_is_read_in_all_encodings(response: Response) -> None:
    sitemap = read_answer(Kind.SITEMAP, response).sitemap
    assert sitemap is not None
    (entry,) = sitemap.entries
    assert entry[:2] == ("http://example.org/en", (("fr", "http://example.org/fr"),))


@pytest.mark.parametrize("body", [b"", HTML, PNG, b"\x1f\x8bnot gzip"])
def test_invalid_sitemap_is_an_empty_one(body: bytes) -> None:
    sitemap = read_answer(Kind.SITEMAP, answer(body=body)).sitemap
    assert sitemap is not None
    assert (sitemap.entries, sitemap.sitemaps) == ((), ())


def test_sitemap_that_is_missing_is_a_failure() -> None:
    assert reason(read_answer(Kind.SITEMAP, answer(404))) == "http_404"


@pytest.mark.parametrize(
    ("response", "status", "text"),
    [
        (answer(body=b"User-agent: *"), "read", "User-agent: *"),
        (
            answer(body=gzip.compress(b"User-agent: *"), Content_Encoding="gzip"),
            "read",
            "User-agent: *",
        ),
        (answer(404, b"nothing here"), "missing", ""),
        (answer(301, b"", Location="/elsewhere"), "missing", ""),
    ],
)
def test_robots_are_read_for_any_status(response: Response, status: str, text: str) -> None:
    robots = read_answer(Kind.ROBOTS, response).robots
    assert robots is not None
    assert (robots.status, robots.text) == (status, text)


@pytest.mark.parametrize("status", [429, 500, 503, 599])
def test_robots_that_fail_are_a_failure_to_be_tried_again(status: int) -> None:
    reading = read_answer(Kind.ROBOTS, answer(status, Retry_After="7"))
    assert reading.robots is None
    assert reading.failure is not None
    assert (reading.failure.reason, reading.failure.retry_after) == (f"http_{status}", 7.0)


@given(
    kind=st.sampled_from(Kind),
    status=st.sampled_from([200, 301, 404, 429, 503]),
    body=st.one_of(st.binary(max_size=300), st.just(HTML), st.just(gzip.compress(HTML)[:40])),
    content_type=st.sampled_from(["", "text/html", "text/plain", "image/png", "\x00;;"]),
    encoding=st.sampled_from(["", "gzip", "br", "deflate", "zstd", "x, y, z"]),
    location=st.text(max_size=20),
    truncated=st.sampled_from(["", "length", "time", "content_type"]),
)
def test_every_response_has_exactly_one_result(
    kind: Kind,
    status: int,
    body: bytes,
    content_type: str,
    encoding: str,
    location: str,
    truncated: str,
) -> None:
    response = answer(
        status, body, truncated=truncated, Content_Type=content_type, Content_Encoding=encoding,
        Location=location,
    )  # fmt: skip
    reading = read_answer(kind, response)
    outcomes = (reading.page, reading.sitemap, reading.robots, reading.redirect, reading.failure)
    assert sum(outcome is not None for outcome in outcomes) == 1
