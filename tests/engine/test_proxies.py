"""The URL of a proxy, whose password is kept apart."""

from __future__ import annotations

import asyncio
from base64 import b64encode

import pytest
from support.serving import Reply, serve

from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.engine.proxies import Proxies, Proxy, read_proxy
from diptych.types import Failure, Kind, Response, Url


def basic(user: str, password: str) -> dict[str, str]:
    secret = b64encode(f"{user}:{password}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {secret}"}


@pytest.mark.parametrize(
    ("text", "user", "password"),
    [
        ("http://me:pass@proxy.example:8080", "me", "pass"),
        ("http://me:a%2Fb%40c%3Ad@proxy.example:8080/", "me", "a/b@c:d"),
        ("http://me:a:b@c@proxy.example:8080", "me", "a:b@c"),
        ("http://me:s\u00fc\u00df \u4e2d@proxy.example:8080?token=t", "me", "s\u00fc\u00df \u4e2d"),
        ("http://me:@proxy.example:8080#x", "me", ""),
        ("http://:pass@proxy.example:8080", "", "pass"),
    ],
)
def test_user_and_password_are_kept_apart(text: str, user: str, password: str) -> None:
    assert read_proxy(text) == Proxy("http://proxy.example:8080", basic(user, password))


def test_a_proxy_without_a_user_has_no_password() -> None:
    assert read_proxy("https://[::1]:8080/a@b") == Proxy("https://[::1]:8080", {})


@pytest.mark.parametrize(
    "text",
    ["", "proxy", "http://", "http://me:se/cret@proxy.example", "htp://me:secret@proxy.example",
     "http://me:secret@proxy.example:99999", "http://me:secret@", "http://me:sec?ret@proxy.example",
     "http://me:secret@pro xy:y"],
)  # fmt: skip
def test_an_invalid_url_is_not_part_of_the_message(text: str) -> None:
    with pytest.raises(ValueError, match="the URL of the proxy is not valid") as caught:
        read_proxy(text)
    assert "cret" not in str(caught.value)


def test_the_password_is_sent_to_the_proxy_and_shown_to_nobody() -> None:
    async def fetch(proxy: str, url: str) -> Response | Failure:
        async with Fetcher(FetchSettings("Test/1", proxy=proxy, allow_private=True)) as fetcher:
            return await fetcher.fetch(Url(url), Kind.PAGE)

    with serve(lambda request: Reply("no", 407)) as server:
        place = server.url.rstrip("/").removeprefix("http://")
        for proxy in (f"http://me:s3/cr@{place}", f"http://me:s3cr@{place}/?token=t0k"):
            for url in ("https://public.example/", "http://public.example/"):
                found = asyncio.run(fetch(proxy, url))
                assert "s3" not in str(found)
                assert "t0k" not in str(found)
    sent = {request.headers.get("proxy-authorization") for request in server.log}
    assert sent == {basic("me", "s3cr")["Proxy-Authorization"]}
    assert len(server.log) == 2


@pytest.mark.parametrize("value", ["proxy.example:8080", "http://proxy.example:8080/"])
def test_proxies_of_the_environment_need_no_scheme(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", value)
    found = Proxies(None).proxy_for(Url("http://public.example/"))
    assert found == Proxy("http://proxy.example:8080", {})
    monkeypatch.setenv("NO_PROXY", "public.example")
    assert Proxies(None).proxy_for(Url("http://public.example/")) is None
