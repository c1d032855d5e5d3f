"""Proxies, and private addresses that must not be reached without leave."""

from __future__ import annotations

import socket

import pytest
from support import zoo
from support.names import Names
from support.serving import MISSING, Fault, Reply, reserved, serve, url_of

from diptych.frontier.politeness import Limits
from diptych.frontier.queue import State

PUBLIC = "http://public.example/"


def web(**hosts):
    """A proxy that answers for hosts of its own, as if it had fetched from them."""

    def answer(request):
        scheme, _, rest = request.path.partition("://")
        host, slash, path = rest.partition("/")
        known = hosts.get(host.removesuffix(".example"), {}) if scheme == "http" else {}
        return known.get(slash + path, MISSING)

    return serve(answer)


def home(*links):
    return {"/": Reply(zoo.page("Home", links)), "/next": Reply(zoo.page("Next"))}


def test_all_requests_go_through_the_proxy_given(crawl):
    with web(public=home("/next")) as proxy:
        outcome = crawl(PUBLIC, proxy=proxy.url, allow_private=False)
    assert set(outcome.pages) == {"/", "/next"}
    assert proxy.paths[0] == PUBLIC + "robots.txt"
    assert all(path.startswith(PUBLIC) for path in proxy.paths)
    assert {request.headers["host"] for request in proxy.log} == {"public.example"}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_of_the_environment_is_used(crawl, monkeypatch, name):
    with web(public=home("/next")) as proxy:
        monkeypatch.setenv(name, proxy.url)
        outcome = crawl(PUBLIC, allow_private=False)
    assert set(outcome.pages) == {"/", "/next"}


@pytest.mark.parametrize("bypassed", ["127.0.0.1", "localhost,127.0.0.1", "*"])
def test_no_proxy_of_the_environment_is_kept_to(crawl, monkeypatch, bypassed):
    with web() as proxy, serve(home("/next")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", bypassed)
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/next"}
    assert proxy.log == []


def test_proxy_given_goes_before_the_environment(crawl, monkeypatch):
    with web() as other, web(public=home()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", other.url)
        monkeypatch.setenv("NO_PROXY", "*")
        outcome = crawl(PUBLIC, proxy=proxy.url)
    assert set(outcome.pages) == {"/"}
    assert other.log == []


def test_encrypted_pages_are_asked_for_by_a_tunnel(crawl):
    with web() as proxy:
        outcome = crawl("https://public.example/", proxy=proxy.url, limits=Limits(attempts=1))
    assert {(request.method, request.path) for request in proxy.log} == {
        ("CONNECT", "public.example:443")
    }
    assert not outcome.pages
    assert len(outcome.stopped) == 1


@pytest.mark.parametrize("fault", [Fault(), Fault(then="reset")])
def test_proxy_that_breaks_off_is_said(crawl, fault):
    with serve(lambda request: fault) as proxy:
        outcome = crawl(PUBLIC, proxy=proxy.url, limits=Limits(attempts=1))
    assert outcome.reasons["/robots.txt"] == "disconnected"


def test_proxy_that_is_not_there_is_said(crawl):
    with reserved() as place:
        outcome = crawl(PUBLIC, proxy=url_of(place), limits=Limits(attempts=1))
    assert outcome.reasons["/robots.txt"] == "connect"
    assert len(outcome.stopped) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_private_address_is_not_connected_to(crawl, host):
    with serve(home()) as server:
        outcome = crawl(f"http://{host}:{server.port}/", allow_private=False)
        assert server.log == []
    assert outcome.reasons["/robots.txt"] == "private_address"
    assert outcome.attempts["/robots.txt"] == 1
    assert not outcome.pages
    (why,) = outcome.stopped.values()
    assert "private address" in why


class Addresses(Names):
    """A name with several addresses, with commas between them."""

    async def resolve(self, host, port=0, family=socket.AF_INET):
        (found,) = await super().resolve(host, port, family)
        return [{**found, "host": address} for address in found["host"].split(",")]


class Down(Names):
    """Names that cannot be looked up, with words of its own for that."""

    async def resolve(self, host, port=0, family=socket.AF_INET):
        raise OSError("no private address book here")


@pytest.mark.parametrize(
    ("resolver", "reason"),
    [
        (Addresses({"a.example": "127.0.0.1,127.0.0.2"}), "private_address"),
        (Addresses({"a.example": "127.0.0.1,10.0.0.1,10.0.0.2"}), "private_address"),
        (Down({}), "dns"),
    ],
)
def test_private_is_what_was_not_connected_to_whatever_an_error_says(crawl, resolver, reason):
    outcome = crawl(
        "http://a.example/", resolver=resolver, allow_private=False, limits=Limits(attempts=1)
    )
    assert outcome.reasons["/robots.txt"] == reason


def test_a_private_address_is_no_matter_where_none_was_refused(crawl):
    names = Names({"a.example": "127.0.0.1"})
    with reserved() as place:
        url = url_of(place).replace("127.0.0.1", "a.example")
        outcome = crawl(url, resolver=names, limits=Limits(attempts=1))
    assert outcome.reasons["/robots.txt"] == "connection_refused"


def test_name_of_this_machine_is_crawled_when_that_is_allowed(crawl):
    with serve(home("/next")) as server:
        outcome = crawl(f"http://localhost:{server.port}/", allow_private=True)
    assert set(outcome.pages) == {"/", "/next"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "router.local"])
def test_proxy_is_not_asked_for_private_hosts(crawl, host):
    with web() as proxy:
        outcome = crawl(f"http://{host}/", proxy=proxy.url, allow_private=False)
    assert proxy.log == []
    assert outcome.reasons["/robots.txt"] == "private_address"


def test_redirect_does_not_lead_to_a_private_address(crawl):
    with serve(home()) as inside:
        public = {**home("/in", "/next"), "/in": zoo.redirect(302, inside.url + "secret")}
        with web(public=public) as proxy:
            outcome = crawl(PUBLIC, inside.url, together=True, proxy=proxy.url, allow_private=False)
        assert inside.log == []
    assert not any("127.0.0.1" in path for path in proxy.paths)
    assert set(outcome.pages) == {"/", "/next"}
    assert outcome.states["/in"] is State.FETCHED
    assert outcome.reasons[inside.url + "robots.txt"] == "private_address"


@pytest.mark.parametrize("target", ["{inside}robots.txt", "http://localhost/robots.txt"])
def test_redirected_robots_txt_does_not_lead_to_a_private_address(crawl, target):
    with serve(home()) as inside:
        public = {"/robots.txt": zoo.redirect(302, target.format(inside=inside.url)), **home()}
        with web(public=public) as proxy:
            outcome = crawl(PUBLIC, proxy=proxy.url, allow_private=False)
        assert inside.log == []
    assert [path for path in proxy.paths if "public.example" not in path] == []
    assert not outcome.pages
