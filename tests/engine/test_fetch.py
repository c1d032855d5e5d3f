"""Single requests: headers, body limits, and names of faults."""

from __future__ import annotations

import asyncio
import io
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from support.serving import Fault, Reply, Server, secure_server, serve

from diptych.engine.fetch import Fetcher, FetchSettings, Transfer
from diptych.page.robots import MAX_ROBOTS_BYTES
from diptych.page.sitemaps import MAX_SITEMAP_BYTES
from diptych.types import Failure, Kind, Response, Url

LIMIT = 1000
SETTINGS = FetchSettings("TestBot/1", allow_private=True, page_bytes=LIMIT, timeout=60.0)


def fetched(
    url: str, kind: Kind = Kind.PAGE, settings: FetchSettings = SETTINGS
) -> Response | Failure:
    async def one() -> Response | Failure:
        async with Fetcher(settings) as fetcher:
            return await fetcher.fetch(Url(url), kind)

    return asyncio.run(one())


def response(server: Server, path: str, kind: Kind = Kind.PAGE) -> Response:
    found = fetched(server.url + path, kind)
    assert isinstance(found, Response), found
    return found


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
@pytest.mark.parametrize(
    ("size", "truncated"), [(0, ""), (LIMIT - 1, ""), (LIMIT, ""), (LIMIT + 1, "length")]
)
def test_body_over_its_limit_is_not_read(framing: str, size: int, truncated: str) -> None:
    with serve({"/a": Reply(b"x" * size, framing=framing)}) as server:
        found = response(server, "a")
    assert found.truncated == truncated
    if not truncated:
        assert found.body == b"x" * size
    else:  # of an answer that says its length nothing is read
        assert found.body == (b"" if framing == "length" else b"x" * LIMIT)


@pytest.mark.parametrize(
    ("kind", "limit"),
    [(Kind.PAGE, LIMIT), (Kind.ROBOTS, MAX_ROBOTS_BYTES), (Kind.SITEMAP, MAX_SITEMAP_BYTES)],
)
def test_each_kind_has_a_limit_of_its_own(kind: Kind, limit: int) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    faults = {f"/{more}": Fault(head % (limit + more) + b"x" * 9) for more in (0, 1)}
    with serve(faults) as server:
        whole, over = (fetched(f"{server.url}{more}", kind) for more in (0, 1))
    assert isinstance(whole, Failure), "it was read to where it breaks off"
    assert whole.reason == "disconnected"
    if kind is Kind.ROBOTS:  # of which the beginning counts (RFC 9309, 2.5)
        assert isinstance(over, Failure)
    else:
        assert isinstance(over, Response)
        assert (over.truncated, over.body) == ("length", b"")


def test_robots_over_their_limit_are_read_to_it() -> None:
    body = b"x" * (MAX_ROBOTS_BYTES + 5)
    with serve({"/robots.txt": Reply(body, type="text/plain")}) as server:
        found = response(server, "robots.txt", Kind.ROBOTS)
    assert (found.truncated, len(found.body)) == ("length", MAX_ROBOTS_BYTES)


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("text/html", True), ("TEXT/HTML ; charset=utf-8", True), ("application/xhtml+xml", True),
        ("application/xml", True), ("text/xml", True), ("", True), ("text/plain", True),
        ("application/octet-stream", True), ("unknown/unknown", True), ("image/png", False),
        ("application/pdf", False), ("text/css", False),
    ],
)  # fmt: skip
def test_body_of_a_page_is_read_only_if_it_may_be_html(declared: str, read: bool) -> None:
    with serve({"/a": Reply("<p>lamp</p>", type=declared)}) as server:
        found = response(server, "a")
        other = response(server, "a", Kind.SITEMAP)
    assert (found.truncated, found.body) == (
        ("", b"<p>lamp</p>") if read else ("content_type", b"")
    )
    assert other.body == b"<p>lamp</p>", "a sitemap may be of any type"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_may_have_any_content_type(status: int) -> None:
    answer = Reply("", status, (("Location", "/b"),), type="image/png")
    with serve({"/a": answer, "/b": Reply("never asked for")}) as server:
        found = response(server, "a")
        assert server.paths == ["/a"]
    assert (found.status, found.header("location"), found.truncated) == (status, "/b", "")


def test_request_has_user_agent_and_accepted_types() -> None:
    with serve({"/a%2fb?q=%c3%a9": Reply("lamp")}) as server:
        response(server, "a%2fb?q=%c3%a9")
        (request,) = server.log
    assert (request.method, request.path) == ("GET", "/a%2fb?q=%c3%a9")
    assert request.headers["user-agent"] == "TestBot/1"
    assert request.headers["accept-encoding"] == "gzip, br, zstd"
    assert request.headers["accept"].startswith("text/html,")
    assert "cookie" not in request.headers


def test_answer_is_kept_as_it_came() -> None:
    headers = (("Set-Cookie", "a=1"), ("X-Name", "café"), ("Content-Encoding", "gzip"))
    before = time.time()
    with serve({"/a": Reply(b"\x1f\x8bnot unpacked", 404, headers)}) as server:
        found = response(server, "a")
    assert (found.status, found.body, found.ip) == (404, b"\x1f\x8bnot unpacked", "127.0.0.1")
    assert found.header("x-name").encode("latin-1") == "café".encode(), "byte for byte"
    assert {name for name, _ in headers} < {name for name, _ in found.headers}
    assert before <= found.fetched_at <= time.time()


def test_dates_of_all_responses_are_those_of_the_clock() -> None:
    async def all_kinds(url: Url) -> list[Response | Failure]:
        async with Fetcher(replace(SETTINGS, clock=lambda: 5.0)) as fetcher:
            return [
                await fetcher.fetch(url, Kind.PAGE),
                await fetcher.fetch_range(url, 0, 1),
                await fetcher.fetch_file(url, Transfer(io.BytesIO())),
            ]

    with serve({"/a": Reply(b"x")}) as server:
        found = asyncio.run(all_kinds(Url(f"{server.url}a")))
    assert [isinstance(each, Response) and each.fetched_at for each in found] == [5.0] * 3


def test_cookies_are_not_sent_back() -> None:
    site = {"/a": Reply("a", headers=(("Set-Cookie", "a=1"),)), "/b": Reply("b")}

    async def both(server: Server) -> None:
        async with Fetcher(SETTINGS) as fetcher:
            for path in "ab":
                await fetcher.fetch(Url(server.url + path), Kind.PAGE)

    with serve(site) as server:
        asyncio.run(both(server))
        assert "cookie" not in server.log[1].headers


# -- robots.txt --------------------------------------------------------------------------------


def chain(length: int) -> dict[str, Reply]:
    """A robots.txt behind this many redirects."""
    steps = ["/robots.txt", *(f"/{number}" for number in range(length))]
    site = {here: Reply("", 301, (("Location", there),)) for here, there in pairwise(steps)}
    return {**site, steps[-1]: Reply("User-agent: *", type="text/plain")}


@pytest.mark.parametrize(("redirects", "status"), [(0, 200), (1, 200), (5, 200), (6, 301)])
def test_five_redirects_of_robots_txt_are_followed(redirects: int, status: int) -> None:
    with serve(chain(redirects)) as server:
        found = response(server, "robots.txt", Kind.ROBOTS)
        assert len(server.log) == min(redirects, 5) + 1
    assert (found.status, found.url) == (status, f"{server.url}robots.txt")
    assert (found.ip, found.fetched_at > 0) == ("127.0.0.1", True)
    assert found.body == (b"User-agent: *" if status == 200 else b"")


@pytest.mark.parametrize("target", ["", "mailto:a@example.org"])
def test_robots_txt_with_a_broken_redirect_is_the_redirect(target: str) -> None:
    site = {"/robots.txt": Reply("", 302, (("Location", target),) if target else ())}
    with serve(site) as server:
        found = fetched(f"{server.url}robots.txt", Kind.ROBOTS)
    assert isinstance(found, Response)
    assert found.status == 302


def test_fault_behind_a_redirect_of_robots_txt_is_one_of_robots_txt() -> None:
    site = {"/robots.txt": Reply("", 301, (("Location", "/other"),)), "/other": Fault()}
    with serve(site) as server:
        found = fetched(f"{server.url}robots.txt", Kind.ROBOTS)
    assert isinstance(found, Failure)
    assert (found.url, found.reason) == (f"{server.url}robots.txt", "disconnected")


# -- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(), "disconnected"),
        (Fault(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), "disconnected"),
        (Fault(b"SMTP ready\r\n\r\n"), "protocol"),
        (Fault(b"HTTP/1.1 200 OK\r\n" + b"x" * 500 + b"\r\n\r\n"), "protocol"),
    ],
)
def test_fault_of_a_server_is_one_word(fault: Fault, reason: str) -> None:
    with serve({"/a": fault}) as server:
        found = fetched(f"{server.url}a")
    assert isinstance(found, Failure)
    assert (found.url, found.reason) == (f"{server.url}a", reason)
    assert 0 < len(found.detail) <= 200


def test_default_settings() -> None:
    assert FetchSettings("a") == FetchSettings(
        "a", proxy=None, allow_private=False, concurrency=64, timeout=60.0, stall=20.0,
        page_bytes=10_000_000,
    )  # fmt: skip


def test_server_that_is_silent_for_too_long_is_a_timeout() -> None:
    with serve({"/a": Fault(then="stall")}) as server:
        found = fetched(
            f"{server.url}a", settings=FetchSettings("a", allow_private=True, stall=0.2)
        )
    assert isinstance(found, Failure)
    assert found.reason == "timeout"


def test_closed_port_is_a_refused_connection() -> None:
    with serve({}) as server:
        pass
    found = fetched(server.url)
    assert isinstance(found, Failure)
    assert found.reason == "connection_refused"


def test_certificate_that_nobody_vouches_for_is_bad() -> None:
    with secure_server() as url:
        found = fetched(url)
    assert isinstance(found, Failure)
    assert found.reason == "bad_certificate"


def test_private_address_is_refused_and_named_so_unless_allowed() -> None:
    with serve({"/": Reply("secret")}) as server:
        found = fetched(server.url, settings=FetchSettings("a"))
        assert server.log == []
    assert isinstance(found, Failure)
    assert found.reason == "private_address"


@pytest.mark.parametrize(
    ("variables", "used"),
    [
        ({"http_proxy": "{}"}, True),
        ({"http_proxy": "http://{}"}, True),
        ({"all_proxy": "{}"}, True),
        ({"https_proxy": "{}"}, False),
        ({"http_proxy": "{}", "no_proxy": "127.0.0.1"}, False),
        ({}, False),
    ],
)
def test_proxy_of_the_environment_is_used_where_it_is_meant(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], used: bool
) -> None:
    with serve(lambda _: Reply("proxy")) as proxy, serve({"/": Reply("direct")}) as server:
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(f"127.0.0.1:{proxy.port}"))
        assert response(server, "").body == (b"proxy" if used else b"direct")


def test_proxy_that_is_given_is_used_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve(lambda _: Reply("proxy")) as proxy:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "*")
        found = fetched("http://public.example/", settings=FetchSettings("a", proxy=proxy.url))
        private = fetched("http://10.0.0.1/", settings=FetchSettings("a", proxy=proxy.url))
    assert isinstance(found, Response)
    assert found.body == b"proxy"
    assert isinstance(private, Failure)
    assert (private.reason, private.detail) == ("private_address", "10.0.0.1")
