"""The whole crawl, driven through its two calls with a simulated clock and no network."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driving import (
    EAGER,
    HOME,
    POLITE,
    Answer,
    Drive,
    Script,
    failure,
    page,
    redirect,
    robots,
    sitemap,
    status,
    url,
    web,
)
from support.examples import examples
from support.sketches import known

from diptych.frontier import admission as admission_module
from diptych.frontier import hosts as hosts_module
from diptych.frontier import intake as intake_module
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import State
from diptych.protocols import SiteView
from diptych.reason import SiteEnd
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.text.urls import origin_of, url_key
from diptych.types import Failure, Kind, Link, Page, Ranked, Response, Site, Url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


SMALL = web(
    page("/", "/a", "/b"),
    page("/a", "/c", "/"),
    page("/b", "/c", "/d", "/missing"),
    page("/c", "/e"),
    page("/d"),
    page("/e", "/a"),
)


# -- the ordinary course -----------------------------------------------------------------------


def test_every_linked_page_is_fetched_once_breadth_first(folder: Path) -> None:
    drive = Drive(folder, SMALL).run()
    assert drive.order == ["/", "/a", "/b", "/c", "/d", "/missing", "/e"]
    depths: dict[str, int] = dict(
        drive.rows("SELECT url, depth FROM urls WHERE state = 2 AND kind = 0")
    )
    assert depths == {
        url("/"): 0,
        url("/a"): 1,
        url("/b"): 1,
        url("/c"): 2,
        url("/d"): 2,
        url("/e"): 3,
    }
    assert drive.states()["/missing"] == (State.FAILED, "http_404")


def test_pages_links_and_answers_are_in_the_store(folder: Path) -> None:
    drive = Drive(folder, SMALL).run()
    with Store(folder, write=False) as store:
        view = StoreView(store, Site("example.org", ()), 1, ("en", "fr"))
        assert sorted(view.pages) == sorted(
            url(path) for path in ("/", "/a", "/b", "/c", "/d", "/e")
        )
        links = [(source, link.url) for source, link in view.links()]
        assert (url("/b"), url("/missing")) in links
        assert len(links) == 9
        response = store.response(url("/c"))
        assert response is not None
        assert b'href="/e"' in response.body
        # robots.txt, sitemap.xml and the missing page are answers too
        assert store.count("SELECT count(*) FROM fetches") == 9 == len(drive.log)
        assert store.count("SELECT count(*) FROM fetches WHERE reason = 'http_404'") == 2


def test_links_out_of_the_site_are_remembered_and_not_fetched(folder: Path) -> None:
    drive = Drive(folder, web(page("/", "http://other.org/x", "http://fr.example.org/")))
    drive.run()
    assert drive.fetches("http://other.org/x") == 0
    assert drive.fetches("http://fr.example.org/") == 1
    with Store(folder, write=False) as store:
        view = StoreView(store, Site("example.org", ()), 1, ())
        assert "http://other.org/x" in [link.url for _, link in view.links()]


def test_urls_not_html_by_extension_are_refused(folder: Path) -> None:
    drive = Drive(folder, web(page("/", "/a.pdf", "/b.JPG?x", "/c.html"))).run()
    assert drive.order == ["/", "/c.html"]
    assert drive.states()["/a.pdf"] == (State.REFUSED, "not_html")


def test_links_that_the_policy_does_not_rank_are_kept_and_not_fetched(folder: Path) -> None:
    head = '<link rel="canonical" href="/canon">'
    drive = Drive(folder, web(page("/", head=head), page("/canon"))).run()
    assert drive.order == ["/"]
    with Store(folder, write=False) as store:
        view = StoreView(store, Site("example.org", ()), 1, ())
        assert [link.url for _, link in view.links(rel="canonical")] == [url("/canon")]


def test_stats_count_all_invocations(folder: Path) -> None:
    Drive(folder, SMALL).run()
    with Drive(folder, SMALL).opened() as crawl:
        assert (crawl.stats.pages, crawl.stats.downloads) == (6, 9)


def test_stats_count_answers_and_not_attempts(folder: Path) -> None:
    drive = Drive(folder, web(page("/", "/a", "/b"), failure("/a", "dns"), status("/b", 404)))
    with drive.opened() as crawl:
        drive.steer(crawl)
        # robots.txt, sitemap.xml, the seed and what is missing; nothing came for the other
        assert (crawl.stats.downloads, crawl.stats.pages) == (4, 1)


# -- robots.txt --------------------------------------------------------------------------------


def test_robots_come_first_and_once_per_host(folder: Path) -> None:
    hosts = ["http://example.org", "http://fr.example.org", "http://www.example.org:8080"]
    answers = web(
        *(
            page(f"{host}/", *(f"{other}/{n}" for other in hosts for n in range(5)))
            for host in hosts
        )
    )
    seeds = [host + "/" for host in hosts]
    drive = Drive(folder, answers, seeds=seeds, politeness=EAGER).run()
    for host in hosts:
        mine = [fetched for fetched, _ in drive.log if origin_of(fetched) == host]
        assert mine[0] == host + "/robots.txt"
        assert mine.count(host + "/robots.txt") == 1
        assert len(mine) > 5


def test_nothing_is_fetched_before_robots_are_known(folder: Path) -> None:
    answers = web(*SMALL.values(), page("http://fr.example.org/"))  # type: ignore[arg-type]
    seeds = [HOME + "/", HOME + "/a", "http://fr.example.org/"]
    drive = Drive(folder, answers, seeds=seeds, politeness=EAGER, latency=lambda: 5.0).run()
    for origin in (HOME, "http://fr.example.org"):
        known = next(when for fetched, when in drive.ended if fetched == f"{origin}/robots.txt")
        assert known == 1005.0
        assert all(when >= known for when in drive.starts(origin)[1:])


def test_disallowed_urls_are_refused_with_the_reason_robots(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nDisallow: /b\nDisallow: /c"))}
    drive = Drive(folder, answers).run()
    assert drive.order == ["/", "/a"]
    assert drive.states()["/b"] == (State.REFUSED, "robots")
    assert drive.states()["/c"] == (State.REFUSED, "robots")
    # A refusal costs no time: the page after it comes a delay after the page before it.
    assert drive.log[-1][1] - drive.log[-2][1] < 1.2


def test_group_of_our_own_token_counts(folder: Path) -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: diptychbot\nDisallow: /a\n"
    drive = Drive(folder, {**SMALL, **web(robots(text))}).run()
    assert drive.order[:2] == ["/", "/b"]
    assert "/a" not in drive.order


def test_robots_of_one_host_say_nothing_about_another(folder: Path) -> None:
    french = "http://fr.example.org"
    answers = web(
        robots("User-agent: *\nDisallow: /", french), page("/", french + "/"), page(french + "/")
    )
    drive = Drive(folder, answers).run()
    assert drive.fetches("/") == 1
    assert drive.fetches(french + "/") == 0


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 451])
def test_missing_robots_allow_everything(folder: Path, code: int) -> None:
    drive = Drive(folder, {**SMALL, **web(status("/robots.txt", code))}).run()
    assert len(drive.order) == 7


@pytest.mark.parametrize("code", [500, 503])
def test_failing_robots_are_retried_and_then_the_host_is_stopped(folder: Path, code: int) -> None:
    drive = Drive(folder, {**SMALL, **web(status("/robots.txt", code))}).run()
    assert [fetched for fetched, _ in drive.log] == [url("/robots.txt")] * 3
    first, second, third = drive.starts()
    assert second - first >= 1.0
    assert third - second >= 2.0
    assert drive.notes == [
        f"gave up on {HOME}: its robots.txt returned HTTP {code}, so nothing may be fetched"
    ]
    assert drive.states()["/"][0] is State.QUEUED
    assert drive.rows("SELECT stopped != '', robots_status FROM hosts") == [(1, "unreachable")]


def test_robots_that_recover_are_obeyed(folder: Path) -> None:
    text = robots("User-agent: *\nDisallow: /b")
    script = {url("/robots.txt"): lambda n: text if n > 1 else status("/robots.txt", 503)}
    drive = Drive(folder, {**SMALL, **script}).run()
    assert drive.fetches("/robots.txt") == 2
    assert "/b" not in drive.order
    assert "/a" in drive.order


@pytest.mark.parametrize(
    ("reason", "attempts", "words"),
    [
        ("timeout", 3, "timed out"),
        ("connect", 3, "connection failed"),
        ("connection_refused", 2, "connection refused"),
        ("dns", 1, "unknown host"),
        ("bad_certificate", 1, "bad certificate"),
        ("tls", 1, "TLS error"),
        ("private_address", 1, "private address, which is not allowed by default"),
    ],
)
def test_host_that_does_not_answer_is_stopped_with_a_note_without_words_of_a_library(
    folder: Path, reason: str, attempts: int, words: str
) -> None:
    drive = Drive(folder, {**SMALL, **web(failure("/robots.txt", reason))}).run()
    assert [fetched for fetched, _ in drive.log] == [url("/robots.txt")] * attempts
    assert drive.notes == [f"gave up on {HOME}: {words}"]


def test_host_that_could_not_be_reached_is_tried_again_by_the_next_invocation(
    folder: Path,
) -> None:
    Drive(folder, {**SMALL, **web(failure("/robots.txt", "dns"))}).run()
    drive = Drive(folder, SMALL, now=2000.0).run()
    assert drive.fetches("/robots.txt") == 1
    assert len(drive.order) == 7


def test_crawl_delay_is_respected_and_reported(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nCrawl-delay: 5"))}
    drive = Drive(folder, answers, politeness=replace(EAGER, delay=1.0)).run()
    starts = drive.starts()
    assert len(starts) == 9
    assert min(after - before for before, after in pairwise(starts)) >= 5.0
    assert drive.most_in_flight == 1
    assert drive.notes == [f"{HOME} requests a Crawl-delay of 5 s, which is respected"]


def test_long_crawl_delay_is_reported_at_once_with_the_pages_per_hour(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nCrawl-delay: 120"))}
    note = f"{HOME} requests a Crawl-delay of 120 s, which is respected: at most 30 pages per hour"
    drive = Drive(folder, answers, limits=Limits(max_pages=2))
    with drive.opened() as crawl:
        drive.steer(crawl)
        assert crawl.hosts.urgent_notes == crawl.hosts.notes == [note]
        assert list(crawl.hosts.slow.values()) == [120.0]
    # Said again where the crawl goes on.
    again = Drive(folder, answers, now=drive.now)
    with again.opened() as crawl:
        assert crawl.hosts.urgent_notes == [note]
        again.steer(crawl)
    starts = [*drive.starts(), *again.starts()]
    assert len(starts) == 9
    assert min(after - before for before, after in pairwise(starts)) >= 120.0


def test_host_that_asks_for_an_absurd_crawl_delay_is_left_alone(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nCrawl-delay: 1000000000"))}
    first = Drive(folder, answers).run()
    assert first.fetches("/robots.txt") == 1
    assert first.order == []
    reason = "it requests a Crawl-delay of 1e+09 s; Diptych waits at most 600 s"
    assert first.notes == [f"gave up on {HOME}: {reason}"]
    # And also where the crawl goes on, until robots.txt is fetched again after a day.
    second = Drive(folder, answers, now=first.now + 60).run()
    assert (second.starts(), second.notes) == ([], first.notes)
    sensible = {**SMALL, **web(robots("User-agent: *\nCrawl-delay: 2"))}
    third = Drive(folder, sensible, now=first.now + 100_000).run()
    assert third.fetches("/") == 1
    assert len(third.order) == 7


def test_crawl_delay_is_kept_over_a_restart(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nCrawl-delay: 5"))}
    first = Drive(folder, answers, politeness=EAGER).run(kill_after=4)
    second = Drive(folder, answers, politeness=EAGER, now=first.now).run()
    starts = second.starts()
    assert second.fetches("/robots.txt") == 0
    assert len(starts) > 3
    assert min(after - before for before, after in pairwise(starts)) >= 5.0
    assert second.most_in_flight == 1


def test_robots_are_fetched_again_after_a_day(folder: Path) -> None:
    Drive(folder, SMALL, limits=Limits(max_pages=2)).run()
    soon = Drive(folder, SMALL, limits=Limits(max_pages=4), now=80_000.0).run()
    late = Drive(folder, SMALL, now=200_000.0).run()
    assert (soon.fetches("/robots.txt"), late.fetches("/robots.txt")) == (0, 1)
    assert late.log[0][0] == url("/robots.txt")


def test_archives_ignore_robots(folder: Path) -> None:
    answers = {**SMALL, **web(robots("User-agent: *\nDisallow: /\nCrawl-delay: 9"))}
    drive = Drive(folder, answers, politeness=replace(POLITE, delay=0.0, obey_robots=False)).run()
    assert len(drive.order) == 7
    assert drive.now < 1005.0


# -- sitemaps ----------------------------------------------------------------------------------


def sitemaps_of(drive: Drive) -> list[str]:
    return [claim.url.removeprefix(HOME) for claim in drive.claims if claim.kind is Kind.SITEMAP]


def test_announced_sitemaps_are_fetched_instead_of_the_usual_one(folder: Path) -> None:
    answers = web(
        page("/"),
        robots(
            f"Sitemap: {HOME}/one.xml\nSitemap: {HOME}/two.xml.gz\nSitemap: http://other.org/s.xml"
        ),
        sitemap("/one.xml", HOME + "/x"),
        sitemap("/two.xml.gz", HOME + "/y"),
        page("/x"),
        page("/y"),
    )

    drive = Drive(folder, answers, policy=Follow(kinds=("a", "sitemap"))).run()
    assert sitemaps_of(drive) == ["/one.xml", "/two.xml.gz"]
    assert sorted(drive.order) == ["/", "/x", "/y"]
    assert drive.fetches("/sitemap.xml") == 0


def test_usual_sitemap_is_requested_if_none_is_announced(folder: Path) -> None:
    drive = Drive(folder, web(page("/"))).run()
    assert sitemaps_of(drive) == ["/sitemap.xml"]


def test_sitemaps_lead_to_further_sitemaps_up_to_a_limit(folder: Path) -> None:
    listed = "".join(f"<sitemap><loc>{HOME}/s{n}.xml</loc></sitemap>" for n in range(20))
    index = status("/sitemap.xml", 200, body=f"<sitemapindex>{listed}</sitemapindex>".encode())
    drive = Drive(folder, web(page("/"), index), limits=Limits(sitemaps=8)).run()
    assert sitemaps_of(drive) == ["/sitemap.xml", *(f"/s{number}.xml" for number in range(7))]


def test_translations_in_a_sitemap_become_links_of_their_pages(folder: Path) -> None:
    alternates = {"en": HOME + "/en", "fr": HOME + "/fr"}
    answers = web(
        page("/"),
        sitemap("/sitemap.xml", HOME + "/en", HOME + "/fr", alternates=alternates),
        page("/en"),
        page("/fr"),
    )
    drive = Drive(folder, answers).run()
    assert sorted(drive.order) == ["/", "/en", "/fr"]
    with Store(folder, write=False) as store:
        view = StoreView(store, Site("example.org", ()), 1, ("en", "fr"))
        found = [(source, link.url, link.hreflang) for source, link in view.links(rel="alternate")]
    assert sorted(found) == [
        (url(source), url(target), target[1:])
        for source in ("/en", "/fr")
        for target in ("/en", "/fr")
    ]


def test_sitemap_outside_of_the_scope_is_not_fetched(folder: Path) -> None:
    answers = web(page("/en/"), robots(f"Sitemap: {HOME}/map.xml\nSitemap: {HOME}/en/map.xml"))
    drive = Drive(folder, answers, seeds=[HOME + "/en/"], scope="prefix").run()
    assert sitemaps_of(drive) == ["/en/map.xml"]


def test_disallowed_sitemap_is_not_fetched(folder: Path) -> None:
    answers = web(page("/"), robots("User-agent: *\nDisallow: /sitemap.xml"))
    assert sitemaps_of(Drive(folder, answers).run()) == []


@pytest.mark.parametrize("target", ["/wp-sitemap.xml", "/sitemap.xml.gz"])
def test_sitemap_may_be_redirected(folder: Path, target: str) -> None:
    alternates = {"fr": HOME + "/fr"}
    answers = web(
        page("/"),
        redirect("/sitemap.xml", target),
        sitemap(target, HOME + "/en", alternates=alternates),
        page("/fr"),
    )
    drive = Drive(folder, answers).run()
    assert sitemaps_of(drive) == ["/sitemap.xml", target]
    assert "/fr" in drive.order


def test_announced_sitemap_that_a_page_links_to_is_still_read_as_a_sitemap(folder: Path) -> None:
    french = "http://fr.example.org"
    answers = web(
        page("/", french + "/map.xml"),
        robots(f"Sitemap: {french}/map.xml", french),
        sitemap(french + "/map.xml", french + "/a", alternates={"fr": french + "/b"}),
        page(french + "/b"),
    )
    drive = Drive(folder, answers).run()
    assert drive.fetches(french + "/b") == 1


# -- redirects ---------------------------------------------------------------------------------


def test_redirect_is_followed_at_the_same_depth(folder: Path) -> None:
    answers = web(
        page("/", "/old"), redirect("/old", "/new"), page("/new", "/deeper"), page("/deeper")
    )
    drive = Drive(folder, answers).run()
    assert drive.order == ["/", "/old", "/new", "/deeper"]
    depths: dict[str, int] = dict(drive.rows("SELECT url, depth FROM urls WHERE kind = 0"))
    assert [depths[url(path)] for path in ("/old", "/new", "/deeper")] == [1, 1, 2]
    with Store(folder, write=False) as store:
        view = StoreView(store, Site("example.org", ()), 1, ())
        assert view.resolve(url("/old")) == url("/new")
        assert url("/old") not in view.pages


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_endless_redirects_end_at_the_limit(folder: Path, limit: int) -> None:
    answers = web(page("/", "/r/0"), *(redirect(f"/r/{n}", f"/r/{n + 1}") for n in range(50)))
    drive = Drive(folder, answers, limits=Limits(redirects=limit)).run()
    assert drive.order == ["/", *(f"/r/{number}" for number in range(limit + 1))]
    assert drive.states()[f"/r/{limit}"] == (State.FAILED, "too_many_redirects")


def test_redirects_in_a_circle_end(folder: Path) -> None:
    answers = web(
        page("/", "/a", "/self"),
        redirect("/a", "/b"),
        redirect("/b", "/a"),
        redirect("/self", "/self"),
    )
    assert Drive(folder, answers).run().order == ["/", "/a", "/self", "/b"]


def test_redirects_out_of_the_site_are_reported_once_per_host(folder: Path) -> None:
    moved = [redirect(f"/{n}", f"https://elsewhere.com/{n}") for n in range(3)]
    seeds = [f"{HOME}/{n}" for n in range(3)]
    notes = Drive(folder, web(*moved), seeds=seeds).run().notes
    assert notes == [
        f"{HOME}/0 redirects out of the site, to https://elsewhere.com/0: mine that site instead"
    ]


def test_redirect_of_a_seed_out_of_the_site_is_reported_and_not_followed(folder: Path) -> None:
    answers = web(redirect("/", "https://elsewhere.com/"))
    drive = Drive(folder, answers).run()
    assert drive.fetches("https://elsewhere.com/") == 0
    assert drive.notes == [
        f"{HOME}/ redirects out of the site, to https://elsewhere.com/: mine that site instead"
    ]


def test_redirect_of_another_page_out_of_the_site_is_not_reported(folder: Path) -> None:
    answers = web(page("/", "/out"), redirect("/out", "https://elsewhere.com/"))
    drive = Drive(folder, answers).run()
    assert (drive.fetches("https://elsewhere.com/"), drive.notes) == (0, [])


def test_redirect_to_a_file_that_is_not_html_is_not_followed(folder: Path) -> None:
    answers = web(page("/", "/doc"), redirect("/doc", "/doc.pdf"))
    drive = Drive(folder, answers).run()
    assert drive.order == ["/", "/doc"]
    assert drive.states()["/doc.pdf"] == (State.REFUSED, "not_html")


def test_redirect_to_a_new_host_asks_its_robots_first(folder: Path) -> None:
    target = "https://www.example.org"
    answers = web(redirect("/", target + "/"), page(target + "/"))
    drive = Drive(folder, answers).run()
    mine = [fetched for fetched, _ in drive.log if origin_of(fetched) == target]
    assert mine[0] == f"{target}/robots.txt"
    assert target + "/" in mine


# -- limits ------------------------------------------------------------------------------------


def star(count: int) -> dict[Url, Script]:
    return web(page("/", *(f"/{n}" for n in range(count))), *(page(f"/{n}") for n in range(count)))


@pytest.mark.parametrize("limit", [1, 2, 7, 16, 31])
@pytest.mark.parametrize("connections", [1, 4, 16])
def test_page_limit_is_exact_with_several_in_flight(
    folder: Path, limit: int, connections: int
) -> None:
    polite = replace(EAGER, connections=connections)
    drive = Drive(folder, star(60), politeness=polite, limits=Limits(max_pages=limit), room=32)
    drive.run()
    assert drive.rows("SELECT count(*) FROM pages") == [(limit,)]
    assert len(drive.order) == limit
    assert drive.ends == {"example.org": SiteEnd.PAGE_LIMIT}


@pytest.mark.parametrize("room", [1, 2, 5])
def test_page_limit_ends_the_crawl_when_there_is_less_room_than_connections(
    folder: Path, room: int
) -> None:
    polite = replace(EAGER, connections=16)
    drive = Drive(folder, star(60), politeness=polite, limits=Limits(max_pages=7), room=room)
    drive.run()
    assert drive.rows("SELECT count(*) FROM pages") == [(7,)]
    assert drive.finished


def test_page_limit_counts_pages_and_not_failures(folder: Path) -> None:
    answers = star(60)
    for number in range(0, 60, 2):
        answers[url(f"/{number}")] = status(f"/{number}", 404)
    drive = Drive(folder, answers, politeness=EAGER, limits=Limits(max_pages=10)).run()
    assert drive.rows("SELECT count(*) FROM pages") == [(10,)]


def test_page_limit_holds_over_restarts(folder: Path) -> None:
    Drive(folder, star(20), limits=Limits(max_pages=5)).run()
    again = Drive(folder, star(20), limits=Limits(max_pages=5)).run()
    assert again.order == []
    assert again.ends == {"example.org": SiteEnd.PAGE_LIMIT}
    more = Drive(folder, star(20), limits=Limits(max_pages=8)).run()
    assert len(more.order) == 3
    assert not set(more.order) & set(again.order)


def test_page_limit_is_per_site(folder: Path) -> None:
    answers = {**star(9), **web(page("http://b.net/", *(f"/{n}" for n in range(9))))}
    answers.update(web(*(page(f"http://b.net/{n}") for n in range(9))))
    drive = Drive(folder, answers, seeds=[HOME + "/", "http://b.net/"], limits=Limits(max_pages=4))
    drive.run()
    counts = drive.rows("SELECT name, count(*) FROM pages JOIN sites ON id = site GROUP BY site")
    assert sorted(counts) == [("b.net", 4), ("example.org", 4)]
    assert drive.ends == dict.fromkeys(["example.org", "b.net"], SiteEnd.PAGE_LIMIT)


def test_page_limit_is_over_all_hosts_of_a_site(folder: Path) -> None:
    hosts = [f"http://h{number}.example.org" for number in range(6)]
    answers = web(*(page(f"{host}/", *(f"{host}/{n}" for n in range(5))) for host in hosts))
    answers.update(web(*(page(f"{host}/{n}") for host in hosts for n in range(5))))
    drive = Drive(
        folder, answers, seeds=[host + "/" for host in hosts], politeness=EAGER,
        limits=Limits(max_pages=11), room=32,
    ).run()  # fmt: skip
    assert drive.rows("SELECT count(*) FROM pages") == [(11,)]
    assert drive.ends == {"example.org": SiteEnd.PAGE_LIMIT}


def test_byte_limit_ends_the_crawl(folder: Path) -> None:
    answers = star(30)
    for number in range(30):
        answers[url(f"/{number}")] = page(f"/{number}", text="word " * 200)
    drive = Drive(folder, answers, limits=Limits(max_bytes=5_000)).run()
    (size,) = drive.rows("SELECT sum(size) FROM fetches")[0]
    assert 5_000 <= size < 5_000 + 1_200
    assert drive.ends == {"example.org": SiteEnd.BYTE_LIMIT}


def test_time_limit_ends_the_crawl(folder: Path) -> None:
    drive = Drive(folder, star(100), limits=Limits(max_seconds=20.0)).run()
    starts = [when for fetched, when in drive.log if not fetched.endswith("robots.txt")]
    assert 15 <= len(starts) <= 20
    assert starts[-1] - starts[0] < 20.0
    assert drive.ends == {"example.org": SiteEnd.TIME_LIMIT}
    assert drive.finished


def test_time_limit_ends_a_crawl_that_only_waits(folder: Path) -> None:
    refusal = status("/0", 429, ("Retry-After", "500"))
    drive = Drive(folder, {**star(9), url("/0"): refusal}, limits=Limits(max_seconds=20.0))
    with drive.opened() as crawl:
        for second in range(600):
            drive.now = 1000.0 + second
            for claim in crawl.next(drive.now, 8):
                drive.claims.append(claim)
                drive.report(crawl, claim)
            if crawl.wake() is None:
                break
        assert crawl.hosts.sites["example.org"].end is SiteEnd.TIME_LIMIT
    assert 20 <= second <= 25


def test_slow_site_does_not_use_up_the_time_of_another(folder: Path) -> None:
    answers = {**star(5), **web(page("http://b.net/"))}
    drive = Drive(
        folder, answers, seeds=[HOME + "/", "http://b.net/"], limits=Limits(max_seconds=3.0)
    ).run()
    assert drive.fetches("http://b.net/") == 1


# -- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "fetches"),
    [
        (failure("/x", "timeout"), 3),
        (failure("/x", "connect"), 3),
        (failure("/x", "connection_refused"), 3),
        (failure("/x", "disconnected"), 3),
        (status("/x", 429), 3),
        (status("/x", 500), 3),
        (status("/x", 502), 3),
        (status("/x", 503), 3),
        (status("/x", 504), 3),
        (status("/x", 404), 1),
        (status("/x", 403), 1),
        (status("/x", 410), 1),
        (failure("/x", "dns"), 1),
        (failure("/x", "tls"), 1),
        (failure("/x", "private_address"), 1),
        (failure("/x", "too_large"), 1),
    ],
)
def test_temporary_failures_are_retried_and_others_are_not(
    folder: Path, answer: Answer, fetches: int
) -> None:
    drive = Drive(folder, {**web(page("/", "/x", "/y"), page("/y")), url("/x"): answer}).run()
    assert drive.fetches("/x") == fetches
    assert drive.fetches("/y") == 1
    reason = answer.reason if isinstance(answer, Failure) else f"http_{answer.status}"
    assert drive.states()["/x"] == (State.FAILED, reason)
    assert drive.notes == []


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_attempts_are_limited(folder: Path, attempts: int) -> None:
    answers = {**web(page("/", "/x")), url("/x"): status("/x", 500)}
    drive = Drive(folder, answers, limits=Limits(attempts=attempts)).run()
    assert drive.fetches("/x") == attempts


def test_page_that_recovers_is_kept(folder: Path) -> None:
    script = {url("/x"): lambda n: page("/x") if n > 2 else status("/x", 503)}
    drive = Drive(folder, {**web(page("/", "/x")), **script}).run()
    assert drive.fetches("/x") == 3
    assert drive.states()["/x"] == (State.FETCHED, "")


@pytest.mark.parametrize("code", [429, 503])
def test_requested_wait_applies_to_the_whole_host(folder: Path, code: int) -> None:
    refusal = status("/x", code, ("Retry-After", "40"))
    script = {url("/x"): lambda n: page("/x") if n > 1 else refusal}
    drive = Drive(folder, {**web(page("/", "/x", "/y"), page("/y")), **script}, politeness=EAGER)
    drive.run()
    refused_at = next(when for fetched, when in drive.ended if fetched == url("/x"))
    later = [when for when in drive.starts() if when > refused_at]
    assert later
    assert min(later) >= refused_at + 40.0
    assert drive.fetches("/x") == 2


def test_wait_is_kept_over_a_restart(folder: Path) -> None:
    refusal = status("/x", 429, ("Retry-After", "40"))
    answers = {**web(page("/", "/x", "/y"), page("/y")), url("/x"): refusal}
    first = Drive(folder, answers)
    with first.opened() as crawl:
        # robots, the seed, the sitemap, then the refusal
        first.steer(crawl, kill_after=4)
        crawl.hosts.hold(1, first.now + 40.0)
    second = Drive(folder, answers, now=first.now).run()
    assert min(second.starts()) >= first.now + 40.0


def test_host_that_asks_to_wait_too_long_is_stopped_with_a_note(folder: Path) -> None:
    answers = web(page("/", "/x", "/y"), status("/x", 429, ("Retry-After", "7200")), page("/y"))
    drive = Drive(folder, answers).run()
    assert drive.order == ["/", "/x"]
    assert drive.notes == [f"gave up on {HOME}: it asks clients to wait 7200 s"]
    assert drive.states()["/y"][0] is State.QUEUED


def test_backoff_grows_with_refusals_in_a_row(folder: Path) -> None:
    answers = {**star(9), **{url(f"/{n}"): status(f"/{n}", 429) for n in range(9)}}
    drive = Drive(folder, answers, limits=Limits(attempts=2, refusals=6), latency=lambda: 0.0).run()
    refused = [
        when
        for fetched, when in drive.log
        if fetched not in (url("/"), url("/robots.txt"), url("/sitemap.xml"))
    ]
    gaps = [after - before for before, after in pairwise(refused)]
    assert len(refused) == 6
    assert gaps[0] >= 1.0
    assert gaps[1] >= 2.0 or gaps[2] >= 4.0
    assert max(gaps) >= 4.0


@pytest.mark.parametrize("code", [401, 403, 429, 503])
def test_host_that_keeps_refusing_is_stopped_with_a_note(folder: Path, code: int) -> None:
    answers = {**star(60), **{url(f"/{n}"): status(f"/{n}", code) for n in range(60)}}
    drive = Drive(folder, answers).run()
    assert len(drive.order) == 1 + 8
    why = f"8 refusals in a row (HTTP {code})"
    assert drive.notes == [f"gave up on {HOME}: {why}"]
    assert drive.rows("SELECT stopped FROM hosts") == [(why,)]


def test_refusals_that_are_not_in_a_row_stop_nothing(folder: Path) -> None:
    answers = star(60)
    for number in range(60):
        if number % 7:
            answers[url(f"/{number}")] = status(f"/{number}", 403)
    drive = Drive(folder, answers).run()
    assert len(drive.order) == 61
    assert drive.notes == []


def test_missing_pages_between_refusals_break_the_row(folder: Path) -> None:
    answers = star(60)
    for number in range(60):
        answers[url(f"/{number}")] = status(f"/{number}", 403 if number % 7 else 404)
    drive = Drive(folder, answers).run()
    assert len(drive.order) == 61
    assert drive.notes == []


def test_missing_pages_are_no_refusals(folder: Path) -> None:
    answers = web(page("/", *(f"/{n}" for n in range(30))))
    assert len(Drive(folder, answers).run().order) == 31


def test_wait_asked_for_beside_a_missing_page_stops_nothing(folder: Path) -> None:
    answers = web(page("/", "/x", "/y"), status("/x", 404, ("Retry-After", "86400")), page("/y"))
    drive = Drive(folder, answers).run()
    assert drive.order == ["/", "/x", "/y"]


def test_stopped_host_does_not_stop_the_others(folder: Path) -> None:
    french = "http://fr.example.org"
    answers = {
        **web(
            page("/", *(f"/{n}" for n in range(20)), french + "/"), page(french + "/", "/a", "/b")
        ),
        **{url(f"/{n}"): status(f"/{n}", 403) for n in range(20)},
    }
    drive = Drive(folder, answers).run()
    assert drive.fetches(french + "/b") == 1
    assert [note.partition(": ")[0] for note in drive.notes] == [f"gave up on {HOME}"]


# -- restarts ----------------------------------------------------------------------------------

TANGLED = {
    **web(
        page("/", "/a", "/b", "/old", "/private/x", "http://fr.example.org/"),
        robots("User-agent: *\nDisallow: /private/"),
        sitemap("/sitemap.xml", HOME + "/en", alternates={"fr": HOME + "/fr"}),
        page("/a", "/c", "/flaky"),
        page("/b", "/d", "/gone"),
        page("/c"),
        page("/d", "/e"),
        page("/e", "/"),
        page("/fr", "/en"),
        page("/en"),
        redirect("/old", "/new"),
        page("/new", "/f"),
        page("/f"),
        page("http://fr.example.org/", "/x", HOME + "/e"),
        page("http://fr.example.org/x"),
    ),
    url("/flaky"): lambda n: page("/flaky", "/g") if n > 1 else status("/flaky", 503),
}


def outcome(drive: Drive) -> tuple[object, ...]:
    """Everything that a finished crawl has stored, except times."""
    states = {path: state for path, state in drive.states().items()}
    pages = sorted(
        drive.rows("SELECT urls.url, pages.depth, digest FROM pages JOIN urls ON key = pages.url")
    )
    links = sorted(drive.rows("SELECT source, target, rel, hreflang, anchor FROM links"), key=str)
    return states, pages, links


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Drive:
    return Drive(tmp_path_factory.mktemp("whole") / "run", TANGLED).run()


@pytest.mark.parametrize("kill_after", range(1, 20))
def test_killed_crawl_resumes_without_loss_or_repetition(
    folder: Path, undisturbed: Drive, kill_after: int
) -> None:
    first = Drive(folder, TANGLED).run(kill_after=kill_after)
    assert not first.finished
    second = Drive(folder, TANGLED, now=first.now, log=first.log).run()
    assert second.finished
    assert outcome(second) == outcome(undisturbed)
    # What was committed is not fetched again: only the answer that the kill took.
    counts = Counter(fetched for fetched, _ in second.log)
    again = Counter(fetched for fetched, _ in undisturbed.log)
    assert sum((counts - again).values()) <= 1
    fetches = second.rows("SELECT count(*), count(DISTINCT url) FROM fetches WHERE status = 200")
    assert fetches[0][0] == fetches[0][1]


def test_crawl_killed_after_every_answer_still_comes_to_its_end(
    folder: Path, undisturbed: Drive
) -> None:
    now = 1000.0
    log: list[tuple[str, float]] = []
    for _ in range(100):
        drive = Drive(
            folder, TANGLED, now=now, log=log, latency=lambda: 0.0, politeness=EAGER, room=1
        ).run(kill_after=2)
        now = drive.now + 2.0
        if drive.finished:
            break
    assert drive.finished
    assert outcome(drive) == outcome(undisturbed)


def test_finished_crawl_has_nothing_to_do_again(folder: Path) -> None:
    Drive(folder, SMALL).run()
    again = Drive(folder, SMALL, now=5000.0).run()
    assert again.log == []
    assert again.finished


def test_finished_crawl_accepts_a_new_seed(folder: Path) -> None:
    answers = {**SMALL, **web(page("/island"))}
    Drive(folder, answers).run()
    again = Drive(folder, answers, seeds=[HOME + "/", HOME + "/island"], now=5000.0).run()
    assert again.order == ["/island"]


# -- policies ----------------------------------------------------------------------------------


@dataclass
class Follow:
    """A policy that follows links of some kinds, and refills from a list of batches."""

    batches: Sequence[Sequence[str]] = ()
    kinds: Sequence[str] = ("a",)
    asked: list[list[Url]] = field(default_factory=list)

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        return [Ranked(link, 0.0) for link in page.links if link.rel in self.kinds]

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        self.asked.append(sorted(site.pages))
        if len(self.asked) > len(self.batches):
            return []
        batch = self.batches[len(self.asked) - 1]
        return [Ranked(Link(url(path)), float(-n)) for n, path in enumerate(batch)]


def test_policy_is_asked_for_more_when_nothing_is_left(folder: Path) -> None:
    answers = web(page("/", "/a"), page("/a"), page("/x", "/y"), page("/y"), page("/z"))
    policy = Follow(batches=[["/x"], ["/z", "/a"]])
    drive = Drive(folder, answers, policy=policy).run()
    assert drive.order == ["/", "/a", "/x", "/y", "/z"]
    assert policy.asked == [
        [url("/"), url("/a")],
        [url("/"), url("/a"), url("/x"), url("/y")],
        [url("/"), url("/a"), url("/x"), url("/y"), url("/z")],
    ]


def test_policy_that_offers_known_urls_does_not_prolong_the_crawl(folder: Path) -> None:
    policy = Follow(batches=[["/", "/a"]] * 50)
    drive = Drive(folder, web(page("/", "/a"), page("/a")), policy=policy).run()
    assert drive.order == ["/", "/a"]
    assert drive.finished


def test_policy_is_asked_once_for_each_time_that_the_site_runs_dry(folder: Path) -> None:
    policy = Follow(batches=[["/a"]])
    drive = Drive(folder, web(page("/"), page("/a")), policy=policy)
    with drive.opened() as crawl:
        drive.steer(crawl)
        for second in range(5):
            assert crawl.next(drive.now + second, 8) == []
    assert len(policy.asked) == 2  # after the seed, and after what it asked for


def test_refill_outside_of_the_site_or_missing_ends_the_crawl(folder: Path) -> None:
    policy = Follow(batches=[["http://other.org/"], ["/gone"]])
    drive = Drive(folder, web(page("/")), policy=policy).run()
    assert drive.finished
    assert drive.fetches("http://other.org/") == 0


def test_policy_sees_all_pages_so_far_and_is_asked_once_for_each(folder: Path) -> None:
    seen: list[tuple[Url, int]] = []

    class Watching(Follow):
        def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
            seen.append((page.url, len(site.pages)))
            assert page.url in site.pages or page.url.endswith("sitemap.xml")
            return super().rank(page, site)

    Drive(folder, SMALL, policy=Watching()).run()
    assert [found for found, _ in seen] == [url(p) for p in ("/", "/a", "/b", "/c", "/d", "/e")]
    assert [count for _, count in seen] == [1, 2, 3, 4, 5, 6]


def test_policy_may_raise_what_is_pending(folder: Path) -> None:
    class Late(Follow):
        def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
            if page.url == url("/0"):
                return [Ranked(Link(url("/7")), 5.0), Ranked(Link(url("/3")), -5.0)]
            return [Ranked(link, -float(n)) for n, link in enumerate(page.links)]

    drive = Drive(folder, star(9), policy=Late()).run()
    assert drive.order == ["/", "/0", "/7", "/1", "/2", "/3", "/4", "/5", "/6", "/8"]


def test_best_of_several_priorities_for_one_url_counts(folder: Path) -> None:
    class Double(Follow):
        def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
            if page.url != url("/"):
                return []
            ranked = [Ranked(Link(url(f"/{n}")), -float(n)) for n in range(4)]
            return [*ranked, Ranked(Link(url("/3")), 9.0), Ranked(Link(url("/3")), -9.0)]

    assert Drive(folder, star(4), policy=Double()).run().order == ["/", "/3", "/0", "/1", "/2"]


# -- copies ------------------------------------------------------------------------------------


def test_copies_and_canonical_pages_stand_for_each_other(folder: Path) -> None:
    text = "The lamp that stands by the door is lit every evening when the last guest has left."
    canonical = f'<link rel="canonical" href="{HOME}/a">'
    same = page("/b", text="The same words at two addresses, to the last letter of the page.")
    answers = web(
        page("/", "/a", "/a?from=menu", "/b", "/b/copy", text="A page with some words on it."),
        page("/a", text=text),
        page("/a?from=menu", head=canonical, text=text),
        same,
        replace(same, url=url("/b/copy")),
    )
    Drive(folder, answers).run()
    with Store(folder) as store:
        for path in ("/a", "/a?from=menu"):
            store.save_sketch(url(path), known("lamp door evening guest", block=1))
        view = StoreView(store, Site("example.org", ()), 1, ("en", "fr"))
        assert sorted(view.pages) == [url("/"), url("/a"), url("/b")]
        assert view.resolve(url("/a?from=menu")) == url("/a")
        assert view.resolve(url("/b/copy")) == url("/b")


# -- any site, any weather -----------------------------------------------------------------------


def random_web(chance: random.Random) -> dict[Url, Script]:
    hosts = [HOME, "http://fr.example.org", "http://b.net"][: chance.randint(1, 3)]
    paths = [f"{host}/{number}" for host in hosts for number in range(chance.randint(1, 9))]
    paths += [host + "/" for host in hosts]
    answers: dict[Url, Script] = {}
    for path in paths:
        kind = chance.random()
        targets = chance.sample(paths, min(len(paths), chance.randint(0, 4)))
        if kind < 0.75:
            answers[url(path)] = page(path, *targets)
        elif kind < 0.85 and targets:
            answers[url(path)] = redirect(path, targets[0])
        elif kind < 0.95:
            answers[url(path)] = status(path, chance.choice([404, 403, 500, 429]))
        else:
            answers[url(path)] = failure(path, chance.choice(["timeout", "dns"]))
    for host in hosts:
        text = chance.choice(["", "User-agent: *\nDisallow: /3", "User-agent: *\nCrawl-delay: 2"])
        answers[url(host + "/robots.txt")] = robots(text, host)
    return answers


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 10**9))
def test_any_site_is_crawled_politely_and_to_its_end(seed: int) -> None:
    chance = random.Random(seed)
    answers = random_web(chance)
    polite = replace(POLITE, delay=chance.choice([0.0, 1.0]), connections=chance.randint(1, 3))
    with TemporaryDirectory() as name:
        drive = Drive(
            Path(name) / "run", answers, seeds=[HOME + "/", "http://b.net/"], politeness=polite,
            latency=lambda: chance.choice([0.0, 0.2, 3.0]),
        ).run()  # fmt: skip
        assert drive.finished
        states = drive.states()
        stopped = {
            origin for (origin,) in drive.rows("SELECT origin FROM hosts WHERE stopped != ''")
        }
    for path, (state, _) in states.items():
        where = origin_of(url(path))
        assert state not in (State.QUEUED, State.CLAIMED) or where in stopped
    for fetched, count in Counter(fetched for fetched, _ in drive.log).items():
        assert count <= 3, fetched
        if isinstance(answer := answers.get(Url(fetched)), Response) and answer.status < 400:
            assert count == 1, fetched
    for origin in {origin_of(fetched) for fetched, _ in drive.log}:
        starts = drive.starts(origin)
        assert drive.log[[origin_of(f) for f, _ in drive.log].index(origin)][0].endswith(
            "/robots.txt"
        )
        for before, after in pairwise(starts):
            assert after - before >= polite.delay - 1e-9


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 10**9))
def test_any_crawl_survives_any_kills(seed: int) -> None:
    chance = random.Random(seed)
    answers = random_web(chance)
    seeds = [HOME + "/", "http://b.net/"]
    polite = replace(EAGER, connections=2)
    generous = Limits(refusals=1000)
    with TemporaryDirectory() as name:
        whole = Drive(
            Path(name) / "whole", answers, seeds=seeds, politeness=polite, limits=generous
        )
        whole.run()
        now = 1000.0
        for _ in range(200):
            broken = Drive(
                Path(name) / "broken",
                answers,
                seeds=seeds,
                politeness=polite,
                limits=generous,
                now=now,
            ).run(kill_after=chance.randint(3, 12))
            now = broken.now + 1.0
            if broken.finished:
                break
        assert broken.finished
        fetched = "SELECT url FROM urls WHERE state = 2 AND kind = 0 ORDER BY url"
        assert broken.rows(fetched) == whole.rows(fetched)
        assert outcome(broken)[2] == outcome(whole)[2]


def test_url_keys_of_the_store_are_those_of_the_urls(folder: Path) -> None:
    drive = Drive(folder, SMALL).run()
    for key, found in drive.rows("SELECT key, url FROM urls"):
        assert key == url_key(str(found))


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 300, 2_000])
def test_bounded_caches_do_not_change_the_crawl(
    folder: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    whole = Drive(folder, star(30)).run()
    monkeypatch.setattr(intake_module, "MAX_SEEN", room)
    monkeypatch.setattr(admission_module, "MAX_KNOWN", room)
    monkeypatch.setattr(hosts_module, "MAX_RULES", room)
    bounded = Drive(folder.with_name("bounded"), star(30)).run()
    assert bounded.log == whole.log
    assert bounded.states() == whole.states()
