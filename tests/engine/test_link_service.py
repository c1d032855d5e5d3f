"""Back links from an HTTP service, and all its possible failures."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.serving import Fault, Reply, Request, reserved, serve, url_of

from diptych.engine import link_service as link_api
from diptych.engine.link_service import LinkService, read_description
from diptych.errors import SourceError
from diptych.types import Failure, Link, Url

PAGE = Url("http://aim.com/a?b=ü&c".replace("ü", "%C3%BC"))
ITEMS = [
    {"page": {"url": "http://a.org/x"}, "anchor": "A", "snippet": "see A"},
    {"page": {"url": "http://b.org/"}},
]


def answer(items: object, **more: object) -> Reply:
    return Reply(json.dumps({"data": {"items": items}}), type="application/json", **more)


class Clock:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def api(
    address: str, folder: Path, more: str = "", query: str = "?t={url}&n={limit}"
) -> LinkService:
    path = folder / "api.toml"
    path.write_text(
        f'url = "{address}links{query}"\nlinks = "data.items"\nsource = "page.url"\n'
        f'anchor = "anchor"\ntext = "snippet"\n{more}'
    )
    clock = Clock()
    return LinkService(read_description(path, {"KEY": "s3cret"}), clock.sleep, clock)


def asked(site, folder: Path, more: str = "", query: str = "?t={url}&n={limit}", limit: int = 10):
    with serve(site) as server:
        source = api(server.url, folder, more, query)
        return source.back_links(PAGE, limit), server, source


def test_links_are_read_where_the_description_says(tmp_path: Path) -> None:
    found, server, source = asked(lambda request: answer(ITEMS), tmp_path)
    assert found == [
        Link(Url("http://a.org/x"), "back", anchor="A", around="see A"),
        Link(Url("http://b.org/"), "back"),
    ]
    (request,) = server.log
    assert parse_qs(urlsplit(request.path).query) == {"t": [PAGE], "n": ["10"]}
    assert source.out_links(PAGE, 10) is None


def test_headers_come_from_the_environment(tmp_path: Path) -> None:
    more = 'headers = { Authorization = "Bearer $KEY" }\n'
    _, server, _ = asked(lambda request: answer(ITEMS), tmp_path, more)
    assert server.log[0].headers["authorization"] == "Bearer s3cret"
    (tmp_path / "api.toml").write_text(
        'url = "http://a.b/{url}"\nlinks = ""\nsource = "u"\nheaders = { X = "$NONE" }\n'
    )
    with pytest.raises(SourceError, match="environment variable NONE"):
        read_description(tmp_path / "api.toml", {})


def test_items_that_cannot_be_used_are_skipped(tmp_path: Path) -> None:
    items = [None, 5, [], {}, {"page": None}, {"page": {"url": 7}}, {"page": {"url": "ftp://x/"}},
             {"page": {"url": "http://sub.aim.com/"}}, *ITEMS, ITEMS[0],
             {"page": {"url": "http://c.org/"}, "anchor": 9, "snippet": []}]  # fmt: skip
    found, _, _ = asked(lambda request: answer(items), tmp_path)
    assert [link.url for link in found] == ["http://a.org/x", "http://b.org/", "http://c.org/"]
    assert found[2] == Link(Url("http://c.org/"), "back")


def test_answers_in_pages_are_read_until_there_are_enough(tmp_path: Path) -> None:
    def site(request: Request) -> Reply:
        start = int(parse_qs(urlsplit(request.path).query)["o"][0])
        numbers = range(start, min(start + 4, 10))
        return answer([{"page": {"url": f"http://s{number}.org/"}} for number in numbers])

    query = "?t={host}&o={offset}"
    found, server, _ = asked(site, tmp_path, query=query, limit=6)
    assert [link.url for link in found] == [f"http://s{number}.org/" for number in range(6)]
    assert len(server.log) == 2
    found, server, _ = asked(site, tmp_path, query=query, limit=99)
    assert len(found) == 10
    assert len(server.log) == 4


def test_a_service_that_repeats_itself_is_given_up(tmp_path: Path) -> None:
    site = lambda request: answer(ITEMS)  # noqa: E731
    found, server, _ = asked(site, tmp_path, query="?t={host}&o={offset}", limit=99)
    assert len(found) == 2
    assert len(server.log) == 2


def test_results_before_a_failure_are_kept(tmp_path: Path) -> None:
    site = lambda request: answer(ITEMS) if request.path.endswith("=0") else Reply("", 404)  # noqa: E731
    found, _, _ = asked(site, tmp_path, query="?t={host}&o={offset}", limit=99)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("reply", "reason", "detail"),
    [
        (Reply("<html>Service unavailable</html>"), "not_json", "<html>Service"),
        (Reply(b"\xff\xfe\x00"), "not_json", "not JSON"),
        (Reply(""), "not_json", "not JSON"),
        (Reply("[]"), "wrong_shape", "no list at 'data.items'"),
        (Reply('{"data": {"items": {"a": 1}}}'), "wrong_shape", "no list"),
        (Reply("[" * 100_000), "not_json", "not JSON"),
        (Reply("no", 404), "http_404", "returned 404 Not Found"),
        (Reply("no", 401), "http_401", "is the key in 'headers' correct?"),
        (Reply("", 302, (("Location", "file:///etc/passwd"),)), "http_302", "not allowed"),
        (Reply("", 302, (("Location", "ftp://127.0.0.1/"),)), "no_connection", "which is not HTTP"),
        (Reply("", 302, (("Location", "/links"),)), "http_302", "infinite loop"),
        (Fault(b"nonsense\r\n\r\n"), "no_connection", "127.0.0.1"),
        (Fault(b"", "reset"), "no_connection", "127.0.0.1"),
        (
            Fault(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[", "close"),
            "cut_off",
            "incomplete",
        ),
    ],
)
def test_nonsense_is_a_failure_a_person_understands(tmp_path, reply, reason, detail) -> None:
    found, _, _ = asked(lambda request: reply, tmp_path, "retries = 0\n")
    assert isinstance(found, Failure)
    assert found.reason == reason
    assert detail in found.detail
    assert "\n" not in found.detail


def test_no_service_is_a_failure(tmp_path: Path) -> None:
    with reserved() as place:
        source = api(url_of(place), tmp_path)
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert found.reason == "no_connection"
    assert "refused" in found.detail
    assert source.sleep.__self__.slept == [1.0, 2.0]  # two more attempts


def test_an_endless_response_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_api, "MAX_BODY", 300_000)
    flood = Fault(b"HTTP/1.1 200 OK\r\n\r\n[", "flood")
    found, _, _ = asked(lambda request: flood, tmp_path)
    assert isinstance(found, Failure)
    assert found.reason == "too_large"


@pytest.mark.parametrize("then", ["stall", "drip"])
@pytest.mark.parametrize(
    "sent",
    [
        b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n[",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
        b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n",
    ],
)  # fmt: skip
def test_a_slow_response_is_given_up(tmp_path: Path, then: str, sent: bytes) -> None:
    fault = Fault(sent, then)
    with serve(lambda request: fault) as server:
        source = api(server.url, tmp_path, "timeout = 0.5\nretries = 0\n")
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert found.reason == "timeout"
    assert found.detail == "no complete response within 0.5 s"


def test_an_endless_redirect_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_api, "MAX_BODY", 300_000)
    flood = Fault(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "flood")
    found, server, _ = asked(lambda request: flood, tmp_path, "retries = 0\n")
    assert isinstance(found, Failure)
    assert found.reason == "no_connection"
    assert "the response is longer than 300,000 bytes" in found.detail
    assert len(server.log) == 1


def test_details_have_no_terminal_control_characters(tmp_path: Path) -> None:
    for sent in (
        b"HTTP/1.1 404 \x1b[2J\xc2\x9b\x07gone\r\n\r\n",
        b"HTTP/1.1 \x1b[2J\x9b\r\n\r\n",
        b"HTTP/1.1 302 \r\nLocation: ftp://\x1b[2J/\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\x1b[2J\xc2\x9b",
    ):
        found, _, _ = asked(lambda request, sent=sent: Fault(sent), tmp_path, "retries = 0\n")
        assert isinstance(found, Failure)
        assert found.detail
        assert found.detail.isprintable()


def test_a_proxy_is_asked_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    away = Reply("", 302, (("Location", "http://links.example/new"),))
    site = lambda request: answer(ITEMS) if request.path.endswith("/new") else away  # noqa: E731
    with serve(site) as server:
        source = api("http://api.example/", tmp_path)
        source.proxy = server.url.replace("//", "//user:p%40ss@")
        assert len(source.back_links(PAGE, 5)) == 2
    assert [urlsplit(path).netloc for path in server.paths] == ["api.example", "links.example"]
    for request, host in zip(server.log, ("api.example", "links.example"), strict=True):
        assert request.headers["host"] == host
        assert request.headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"


def test_an_encrypted_service_is_reached_through_a_tunnel(tmp_path: Path) -> None:
    with serve(lambda request: Reply("", 403)) as server:
        source = api("https://api.example/", tmp_path, "retries = 0\n")
        source.proxy = server.url
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert "403" in found.detail
    assert [(request.method, request.path) for request in server.log] == [
        ("CONNECT", "api.example:443")
    ]


def test_a_slow_tunnel_is_given_up(tmp_path: Path) -> None:
    with serve(lambda request: Fault(b"HTTP/1.1 200 OK\r\nX: ", "drip")) as server:
        source = api("https://api.example/", tmp_path, "timeout = 0.5\nretries = 0\n")
        source.proxy = server.url
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert found.reason == "timeout"


def test_without_a_given_proxy_the_environment_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serve(lambda request: answer(ITEMS)) as server:
        monkeypatch.setenv("http_proxy", server.url)
        assert len(api("http://api.example/", tmp_path).back_links(PAGE, 5)) == 2
    assert server.paths[0].startswith("http://api.example/links?")


def test_it_waits_as_long_as_requested(tmp_path: Path) -> None:
    wait = Reply("", 429, (("Retry-After", "7"),))
    found, server, source = asked(lambda request: answer(ITEMS) if request.nth else wait, tmp_path)
    assert len(found) == 2
    assert len(server.log) == 2
    assert source.sleep.__self__.slept == [7.0]


def test_it_does_not_retry_when_patience_is_over(tmp_path: Path) -> None:
    wait = Reply("", 429, (("Retry-After", "7"),))
    with serve(lambda request: wait) as server:
        source = api(server.url, tmp_path)
        source.patience = 10.0
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert found.detail.endswith("; no retry within 10 s (requested: 7 s)")
    assert source.sleep.__self__.slept == [7.0]  # and not another 7 s
    with serve(lambda request: Reply("", 500)) as server:
        source = api(server.url, tmp_path, "retries = 9\n")
        source.patience = 5.0
        found = source.back_links(PAGE, 5)
    assert isinstance(found, Failure)
    assert found.detail.endswith("500 Internal Server Error; no retry within 5 s")
    assert source.sleep.__self__.slept == [1.0, 2.0]


def test_it_does_not_wait_for_hours(tmp_path: Path) -> None:
    wait = Reply("", 503, (("Retry-After", "9999"),))
    found, server, source = asked(lambda request: wait, tmp_path)
    assert found == Failure(
        PAGE, "http_503", "the service returned 503 Service Unavailable", 9999.0
    )
    assert len(server.log) == 1
    assert source.sleep.__self__.slept == []


def test_requests_keep_the_delay(tmp_path: Path) -> None:
    with serve(lambda request: answer(ITEMS)) as server:
        source = api(server.url, tmp_path, "delay = 3.5\n")
        for _ in range(3):
            source.back_links(PAGE, 5)
    assert source.sleep.__self__.slept == [3.5, 3.5]


def test_a_redirect_takes_no_secret_to_another_host(tmp_path: Path) -> None:
    more = 'headers = { Authorization = "$KEY" }\n'
    with serve(lambda request: answer(ITEMS)) as other:
        away = Reply("", 302, (("Location", f"{other.url}x"),))
        found, _, _ = asked(lambda request: away, tmp_path, more)
        assert len(found) == 2
        assert "authorization" not in other.log[0].headers
    home = Reply("", 302, (("Location", "/new"),))
    found, server, _ = asked(
        lambda request: answer(ITEMS) if request.path == "/new" else home, tmp_path, more
    )
    assert server.log[1].headers["authorization"] == "s3cret"


GOOD = {"url": "'http://a.b/{host}'", "links": "'x'", "source": "'u'"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": None}, "'url' is missing"),
        ({"links": None}, "'links' is missing"),
        ({"source": "''"}, "'source' must be"),
        ({"url": "'http://a.b/'"}, r"'url' must have \{url\} or \{host\}"),
        ({"url": "'http://a.b/{hots}'"}, "'url' must have"),
        ({"url": "'http://a.b/{host!r}'"}, "'url' must have"),
        ({"url": "'http://a.b/{host.x}'"}, "'url' must have"),
        ({"url": "'http://a.b/{host'"}, "'url' is not a valid template"),
        ({"url": "'ftp://a.b/{host}'"}, "must begin with http"),
        ({"url": "'http://{host}/'"}, "must begin with http"),
        ({"url": "5"}, "'url' must be a string, not 5"),
        ({"delay": "-1"}, "'delay' must be a number"),
        ({"retries": "true"}, "'retries' must be a number"),
        ({"timeout": "nan"}, "'timeout' must be a number"),
        ({"headers": "5"}, "'headers' must be a table"),
        ({"headers": "{ A = 5 }"}, "'headers' must be a table"),
        ({"headers": "{ 'A b' = 'x' }"}, "'headers.A b' is not a valid HTTP header"),
        ({"headers": '{ A = "x\\r\\nB: y" }'}, "'headers.A' is not a valid HTTP header"),
        ({"lnks": "'x'"}, "unknown key 'lnks'; known keys: url, links"),
        ({"url": "'"}, "cannot read"),
    ],
)
def test_a_bad_description_says_which_key(tmp_path: Path, change, message) -> None:
    values = {key: value for key, value in (GOOD | change).items() if value is not None}
    path = tmp_path / "api.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in values.items()))
    with pytest.raises(SourceError, match=message):
        LinkService.open(path)


def test_a_missing_or_binary_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    for name in ("none.toml", "b.toml"):
        with pytest.raises(SourceError, match="cannot read"):
            LinkService.open(tmp_path / name)
