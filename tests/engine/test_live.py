"""The live engine against the zoo: redirects, refusals, stalls, resets."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from support import zoo
from support.crawling import AGENT
from support.serving import reserved, secure_server, serve, url_of
from support.waiting import PATIENCE

from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.frontier.guides import Guides
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import State
from diptych.types import Failure, Kind, Url

TOLERANCE = 0.02  # seconds: two clocks, read in two threads


def test_robots_txt_comes_first_and_once_and_all_requests_tell_who_asks(crawl):
    with serve(zoo.with_robots(zoo.robots_txt("User-agent: *", "Allow: /"))) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/open.html", "/closed/page.html"}
    assert server.paths[0] == "/robots.txt"
    assert sorted(server.paths) == sorted(set(server.paths))
    assert {request.headers["user-agent"] for request in server.log} == {AGENT}
    assert {request.method for request in server.log} == {"GET"}


def test_redirects_lead_to_the_pages_behind_them(crawl):
    with serve(zoo.redirects()) as server:
        outcome = crawl(server.url)
    kinds = ("301", "302", "303", "307", "308")
    assert set(outcome.pages) == {"/", *(f"/new/{kind}.html" for kind in kinds)}
    assert all(outcome.states[f"/{kind}"] is State.FETCHED for kind in kinds)
    assert not any("#" in path or ".." in path for path in server.paths)
    assert len(server.paths) == len(set(server.paths))


def test_redirect_loops_end_after_one_request_each(crawl):
    with serve(zoo.redirect_loops()) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/"}
    assert [server.paths.count(path) for path in ("/self", "/tick", "/tock")] == [1, 1, 1]


def test_endless_redirects_end_at_the_limit(crawl):
    with serve(zoo.redirect_chain) as server:
        outcome = crawl(server.url, limits=Limits(redirects=4))
    hops = [path for path in server.paths if path.startswith("/hop/")]
    assert hops == [f"/hop/{number}" for number in range(5)]
    assert outcome.reasons["/hop/4"] == "too_many_redirects"
    assert outcome.states["/hop/4"] is State.FAILED


def test_redirects_to_nowhere_fail(crawl):
    with serve(zoo.bad_redirects()) as server:
        outcome = crawl(server.url)
    expected = dict.fromkeys(("/without", "/mail", "/empty"), "bad_redirect")
    assert {path: outcome.reasons[path] for path in expected} == expected


def test_redirect_to_another_host_is_not_followed(crawl):
    with serve({"/": zoo.Reply(zoo.page("Elsewhere"))}) as other:
        with serve(zoo.redirect_away(other.url)) as server:
            outcome = crawl(server.url)
        assert other.log == []
    assert set(outcome.pages) == {"/", "/stay"}
    assert outcome.states[other.url] is State.OUTSIDE


def test_site_that_leads_elsewhere_as_a_whole_is_noted(crawl):
    with serve({"/": zoo.redirect(301, "http://elsewhere.example/")}) as server:
        outcome = crawl(server.url)
    assert not outcome.pages
    assert any("http://elsewhere.example/" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("status", "asked", "least"),
    [(429, "1", 1.0), (503, "1", 1.0), (503, "date", 1.0), (503, "", 0.3), (500, "", 0.3)],
)
def test_refused_page_is_asked_again_after_the_wait(crawl, status, asked, least):
    retry_after = partial(zoo.in_seconds, 2) if asked == "date" else lambda: asked
    with serve(zoo.busy_once(status, retry_after)) as server:
        outcome = crawl(server.url, backoff=0.3)
    assert {"/busy", "/later"} <= set(outcome.pages)
    first, second = server.times("/busy")
    assert second - first >= least - TOLERANCE


@pytest.mark.parametrize("status", [429, 503])
def test_whole_host_is_left_alone_while_it_asks_to_wait(crawl, status):
    with serve(zoo.busy_once(status, lambda: "1")) as server:
        crawl(server.url)
    after = next(
        gap for gap, path in zip(server.gaps(), server.paths, strict=False) if path == "/busy"
    )
    assert after >= 1.0 - TOLERANCE


def test_host_that_asks_to_wait_for_hours_is_stopped(crawl):
    with serve(zoo.busy_once(503, lambda: "86400")) as server:
        outcome = crawl(server.url)
    assert server.paths.count("/busy") == 1
    (why,) = outcome.stopped.values()
    assert "86400" in why


@pytest.mark.parametrize("status", [403, 429, 503])
def test_host_that_refuses_everything_is_stopped_with_a_note(crawl, status):
    with serve(zoo.refusing(status)) as server:
        outcome = crawl(server.url, limits=Limits(refusals=5))
    assert not outcome.pages
    (why,) = outcome.stopped.values()
    assert "5 refusals in a row" in why
    assert str(status) in why
    assert any(why in note for note in outcome.notes)
    assert len(server.log) == 2 + 5
    assert State.QUEUED in outcome.states.values(), "what was not asked for stays queued"


def test_each_refusal_in_a_row_doubles_the_wait(crawl):
    with serve(zoo.refusing(503)) as server:
        crawl(server.url, backoff=0.1, limits=Limits(refusals=4))
    waits = server.gaps()[-3:]
    late = [wait >= least for wait, least in zip(waits, (0.1, 0.2, 0.4), strict=True)]
    assert late == [True, True, True], waits


def test_slow_answer_is_waited_for(crawl):
    with serve(zoo.slow(0.7)) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/slow"}


def fetched(url, **settings):
    """The outcome of a single request, which does not depend on the speed of the machine."""

    async def fetch():
        async with Fetcher(FetchSettings(AGENT, allow_private=True, **settings)) as fetcher:
            return await fetcher.fetch(Url(url), Kind.PAGE)

    return asyncio.run(fetch())


@pytest.mark.parametrize("path", ["silent", "headers", "half"])
def test_stalled_answer_times_out(path):
    with serve(zoo.stalling()) as server:
        found = fetched(server.url + path, stall=0.3)
    assert isinstance(found, Failure)
    assert found.reason == "timeout"


def test_answer_that_drips_for_ever_is_cut_at_the_total_time():
    with serve(zoo.dripping()) as server:
        found = fetched(server.url + "drip", stall=PATIENCE, timeout=1.0)
    assert isinstance(found, Failure)
    assert found.reason == "timeout"


def test_broken_connections_are_tried_again_and_given_up(crawl):
    with serve(zoo.breaking()) as server:
        outcome = crawl(server.url, backoff=1e-4, limits=Limits(attempts=2, refusals=100))
    assert set(outcome.pages) == {"/", "/after"}
    broken = {path for path in outcome.states if path.startswith(("/reset", "/closed"))}
    assert len(broken) == 6
    assert {path: outcome.reasons[path] for path in broken} == dict.fromkeys(broken, "disconnected")
    assert {outcome.attempts[path] for path in broken} == {2}
    # A kept connection that is closed on a request counts as old: it is made anew once.
    assert all(2 <= server.paths.count(path) <= 4 for path in broken)


def test_invalid_http_fails_and_the_crawl_continues(crawl):
    with serve(zoo.babbling()) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/after"}
    garbled = dict.fromkeys(("/garbage", "/headers", "/status"), "protocol")
    assert {path: outcome.reasons[path] for path in garbled} == garbled


def test_cookies_are_not_kept(crawl):
    answer = zoo.Reply(zoo.page("Home", ["/next"]), headers=(("Set-Cookie", "id=1; Path=/"),))
    with serve({"/": answer, "/next": zoo.Reply(zoo.page("Next"))}) as server:
        outcome = crawl(f"http://localhost:{server.port}/")  # addresses have no cookies anyway
    assert set(outcome.pages) == {"/", "/next"}
    assert not any("cookie" in request.headers for request in server.log)


def test_missing_host_is_reported_as_unreachable(crawl):
    with reserved() as place:
        outcome = crawl(url_of(place), limits=Limits(attempts=2))
    assert outcome.reasons["/robots.txt"] == "connection_refused"
    assert outcome.states["/"] is State.QUEUED
    assert list(outcome.stopped.values()) == ["connection refused"]


def test_bad_certificate_is_a_reason_of_its_own(crawl):
    with secure_server() as address:
        outcome = crawl(address)
    assert outcome.reasons["/robots.txt"] == "bad_certificate"
    assert outcome.attempts["/robots.txt"] == 1


def test_unknown_host_is_not_asked_for_twice(crawl):
    outcome = crawl("http://no-such-host.invalid/")
    assert outcome.reasons["/robots.txt"] == "dns"
    assert outcome.attempts["/robots.txt"] == 1
    assert len(outcome.stopped) == 1


def test_no_model_is_loaded_if_nothing_is_left_to_fetch(crawl, monkeypatch):
    warmed: list[str] = []
    warm_up = Guides.warm_up
    monkeypatch.setattr(Guides, "warm_up", lambda self: warmed.append("up") or warm_up(self))
    with serve({"/": zoo.Reply(zoo.page("Home"))}) as server:
        crawl(server.url)
        assert warmed == ["up"]
        crawl(server.url)
    assert warmed == ["up"]
