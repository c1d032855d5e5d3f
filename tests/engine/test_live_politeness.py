"""Politeness of the live engine: robots.txt, delays, one request at a time."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

import pytest
from support import zoo
from support.bilingual import documents, html
from support.crawling import AGENT
from support.serving import Fault, Reply, Request, serve
from support.waiting import until

from diptych.frontier.politeness import Limits
from diptych.frontier.queue import State

ALL = {"/", "/open.html", "/closed/page.html"}
OPEN = ALL - {"/closed/page.html"}
TOLERANCE = 0.02  # seconds: two clocks, read in two threads
CLOSED = ("User-agent: *", "Disallow: /closed/")


@pytest.fixture(params=["bfs", "hybrid"])
def either(crawl, request):
    """A policy that only follows links, and one that guesses URLs and waits for answers."""
    return partial(crawl, policy=request.param)


def test_robots_txt_that_forbids_everything_is_obeyed(either):
    robots = zoo.robots_txt("User-agent: *", "Disallow: /")
    with serve(zoo.with_robots(robots)) as server:
        outcome = either(server.url)
    assert server.paths == ["/robots.txt"]
    assert not outcome.pages
    assert outcome.reasons["/"] == "robots"
    assert outcome.states["/"] is State.REFUSED


@pytest.mark.parametrize(
    ("robots", "pages"),
    [
        (zoo.robots_txt(*CLOSED), OPEN),
        (zoo.robots_txt("user-agent:*", "disallow: /closed", "allow: /closed/page"), ALL),
        (zoo.robots_txt("User-agent: *", "Disallow: /*.html$"), {"/"}),
        (zoo.robots_txt("\ufeffUser-agent: *", "Disallow: /closed/"), OPEN),
        (zoo.robots_txt("", "#", "no robots here", "Disallow: /"), ALL),
        (Reply("User-agent: *\r\rDisallow: /closed/\r"), OPEN),
        (Reply("no", 403), ALL),
        (Reply("no", 401), ALL),
        (Reply("no", 404), ALL),
        (Reply("no", 410), ALL),
        (Reply("", 200), ALL),
        (Reply(b"\xff\xfe\x00\x00" * 100, 200), ALL),
    ],
)  # fmt: skip
def test_robots_txt_decides_what_is_fetched(crawl, robots, pages):
    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == pages
    assert set(server.paths) & ALL == pages
    assert server.paths.count("/robots.txt") == 1


@pytest.mark.parametrize(
    ("group", "pages"),
    [("ZooBot", {"/"}), ("zoobot", {"/"}), ("OtherBot", ALL), ("ZooBot-Images", ALL)],
)
def test_group_for_our_own_name_goes_before_all_others(crawl, group, pages):
    robots = zoo.robots_txt(
        "User-agent: *", "Allow: /", "", f"User-agent: {group}", "Disallow: /open", "Disallow: /cl"
    )  # fmt: skip
    assert AGENT.startswith("ZooBot/")
    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == pages


@pytest.mark.parametrize(
    "robots", [Reply("", 500), Reply("", 503), Fault(then="stall"), Fault(then="close")]
)
def test_unreachable_robots_txt_forbids_everything(crawl, robots):
    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url, stall=1.0, limits=Limits(attempts=2))
    assert set(server.paths) == {"/robots.txt"}
    assert not outcome.pages
    assert len(outcome.stopped) == 1
    assert outcome.notes


def test_host_whose_robots_txt_comes_back_is_crawled_by_the_next_run(crawl):
    answers = [Reply("", 503), zoo.robots_txt(*CLOSED)]
    with serve(zoo.with_robots(lambda request: answers[0])) as server:
        assert not crawl(server.url, limits=Limits(attempts=1)).pages
        answers.pop(0)
        outcome = crawl(server.url)
    assert set(outcome.pages) == OPEN
    assert not outcome.stopped


@pytest.mark.parametrize("status", [429, 503])
def test_robots_txt_is_retried_after_the_requested_wait(crawl, status):
    def robots(request):
        refused = Reply("wait", status, (("Retry-After", "1"),), type="text/plain")
        return zoo.robots_txt(*CLOSED) if request.nth else refused

    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url)
    assert server.gaps()[0] >= 1.0 - TOLERANCE
    assert set(outcome.pages) == OPEN


@pytest.mark.parametrize(
    ("hops", "pages"),
    [(1, OPEN), (5, OPEN), (9, ALL)],
)
def test_redirected_robots_txt_is_followed_five_times(crawl, hops, pages):
    with serve(zoo.moved_robots(hops)) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == pages


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_beginning_of_an_enormous_robots_txt_counts(crawl, framing):
    lines = [*CLOSED, *("# nothing to see here" for _ in range(40_000))]
    robots = Reply("\n".join(lines), type="text/plain", framing=framing)
    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == OPEN


@pytest.mark.parametrize(("connections", "latency"), [(1, 0.0), (3, 0.5)])
def test_delay_is_kept_between_all_requests(crawl, connections, latency):
    began = time.monotonic()
    with serve(zoo.with_robots(zoo.MISSING), latency=latency) as server:
        outcome = crawl(server.url, delay=0.25, connections=connections)
    assert set(outcome.pages) == ALL
    # A request may come late to a busy server, and the next one not: gaps would be too short.
    for number, request in enumerate(server.log):
        assert request.at - began >= 0.25 * number - TOLERANCE


def test_delay_counts_from_the_end_of_a_slow_answer(either):
    with serve(zoo.with_robots(zoo.MISSING), latency=0.2) as server:
        outcome = either(server.url, delay=0.25)
    assert set(outcome.pages) == ALL
    assert min(server.gaps()) >= 0.45 - TOLERANCE


def test_crawl_delay_is_kept_and_noted(either):
    robots = zoo.robots_txt("User-agent: ZooBot", "Crawl-delay: 0.4", "Disallow: /closed/")
    with serve(zoo.with_robots(robots), latency=0.5) as server:
        outcome = either(server.url, delay=0.1, connections=4)
    assert min(server.gaps()) >= 0.4 - TOLERANCE
    assert server.busiest == 1
    assert any("Crawl-delay of 0.4" in note and "respected" in note for note in outcome.notes)


def test_host_with_a_crawl_delay_beyond_reason_is_left_alone(crawl):
    robots = zoo.robots_txt("User-agent: *", "Crawl-delay: 86400")
    with serve(zoo.with_robots(robots)) as server:
        outcome = crawl(server.url)
    assert server.paths == ["/robots.txt"]
    assert outcome.pages == {}
    origin = server.url.rstrip("/")
    assert any(
        note.startswith(f"gave up on {origin}: it requests a Crawl-delay of 86400 s")
        for note in outcome.notes
    )


def test_requested_wait_is_kept_over_a_restart(either):
    with serve(zoo.busy_once(503, lambda: "2")) as server:
        held = "SELECT count(*) FROM hosts WHERE next_at > 0"
        either(server.url, stop=lambda machine: machine.store.count(held) > 0)
        assert server.paths[-1] == "/busy"
        outcome = either(server.url)
    assert {"/busy", "/later"} <= set(outcome.pages)
    first, second = server.times("/busy")
    assert second - first >= 2.0 - TOLERANCE


@pytest.mark.parametrize("connections", [1, 3])
def test_host_gets_no_more_requests_at_once_than_allowed(either, connections):
    paths = [f"/{number}.html" for number in range(12)]
    pages = zoo.site(paths, {path: Reply(zoo.page(path)) for path in paths})
    with serve(pages) as server:
        # Nothing more is answered until as many are asked for at once as ever will be.
        server.before = lambda request: until(
            lambda: server.busiest >= connections or request.path not in paths
        )
        outcome = either(server.url, connections=connections)
    assert len(outcome.pages) == 13
    assert server.busiest == connections


def test_hosts_are_crawled_side_by_side_and_each_politely(either):
    paths = [f"/{number}.html" for number in range(5)]
    pages = zoo.site(paths, {path: Reply(zoo.page(path)) for path in paths})
    with ExitStack() as stack:
        servers = [stack.enter_context(serve(pages)) for _ in range(4)]

        def wait_for_others(request: Request) -> None:
            if request.path == "/":
                until(lambda: all("/" in server.paths for server in servers))

        for server in servers:
            server.before = wait_for_others
        outcome = either(*(server.url for server in servers), delay=0.2)
    assert len(outcome.pages) == 4 * 6
    for server in servers:
        assert server.busiest == 1
        assert min(server.gaps()) >= 0.2 - TOLERANCE
        assert len(server.paths) == len(set(server.paths))


def test_slow_host_holds_up_no_other(either):
    quick = {path: Reply(zoo.page(path)) for path in ("/a.html", "/b.html", "/c.html")}
    with serve(zoo.slow(0.0)) as first, serve(zoo.site(quick, quick)) as second:
        # It answers when all is asked of the other.
        first.before = lambda request: until(
            lambda: set(second.paths) >= set(quick) or request.path != "/slow"
        )
        outcome = either(first.url, second.url)
    assert len(outcome.pages) == 2 + 4


# -- what nothing links to -------------------------------------------------------------------------

LINKED, LONELY = 5, 9  # documents that link to their translations, and all there are
GUESSED = {f"/fr/shut/{number}.html" for number in range(LINKED, LONELY)}


def with_unlinked_translations(*robots: str):
    """Pages whose URL keys show where unlinked translations are."""
    paths = [f"{'shut/' if number >= LINKED else ''}{number}.html" for number in range(LONELY)]
    answers = {"/robots.txt": zoo.robots_txt(*robots)}
    for number, (path, document) in enumerate(zip(paths, documents(), strict=False)):
        for lang, other in (("en", "fr"), ("fr", "en")):
            switch = f'<a href="/{other}/{path}">{other}</a>' if number < LINKED else ""
            answers[f"/{lang}/{path}"] = Reply(html(document[lang], lang=lang, body=switch))
    home = zoo.page("Home", [f"/en/{path}" for path in paths])
    return {"/": Reply(home), **answers}


def test_guesses_are_made_where_nothing_forbids_them(crawl):
    with serve(with_unlinked_translations("User-agent: *", "Disallow: /fr/other/")) as server:
        outcome = crawl(server.url, policy="hybrid")
    assert set(server.paths) >= GUESSED
    assert set(outcome.pages) >= GUESSED


def test_robots_txt_holds_for_urls_that_nothing_links_to(crawl):
    with serve(with_unlinked_translations("User-agent: *", "Disallow: /fr/shut/")) as server:
        outcome = crawl(server.url, policy="hybrid")
    assert not set(server.paths) & GUESSED
    assert {outcome.reasons.get(path) for path in GUESSED} == {"robots"}
    assert {f"/{lang}/{number}.html" for lang in ("en", "fr") for number in range(LINKED)} <= set(
        outcome.pages
    )


def test_delay_is_kept_for_urls_that_nothing_links_to(crawl):
    with serve(with_unlinked_translations("User-agent: *", "Crawl-delay: 0.15")) as server:
        crawl(server.url, policy="hybrid", delay=0.1, connections=4)
    assert set(server.paths) >= GUESSED
    assert server.busiest == 1
    assert min(server.gaps()) >= 0.15 - TOLERANCE
    assert len(server.paths) == len(set(server.paths))


def test_host_that_is_busy_over_a_guess_is_left_alone(crawl):
    pages = with_unlinked_translations("User-agent: *", "Allow: /")

    def busy(request: Request) -> Reply:
        if request.path in GUESSED and not request.nth:
            return Reply("wait", 503, (("Retry-After", "1"),), type="text/plain")
        found = pages.get(request.path, zoo.MISSING)
        assert isinstance(found, Reply)
        return found

    with serve(busy) as server:
        outcome = crawl(server.url, policy="hybrid")
    waits = [
        gap
        for gap, request in zip(server.gaps(), server.log, strict=False)
        if request.path in GUESSED and not request.nth
    ]
    assert len(waits) == len(GUESSED)
    assert min(waits) >= 1.0 - TOLERANCE
    assert set(outcome.pages) >= GUESSED


def test_page_that_is_refused_for_a_while_is_left_alone_by_either_policy(either):
    with serve(zoo.busy_once(503, lambda: "1")) as server:
        outcome = either(server.url)
    place = server.paths.index("/busy")
    assert server.gaps()[place] >= 1.0 - TOLERANCE
    assert {"/busy", "/later"} <= set(outcome.pages)
