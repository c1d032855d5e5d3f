from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import begin

from diptych.frontier import hosts as hosts_module
from diptych.frontier.hosts import ROBOTS_LIFETIME, Hosts, SiteInfo
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Frontier
from diptych.page.robots import Robots
from diptych.reason import SiteEnd
from diptych.run.store import Store
from diptych.types import Kind, Site, Url

SITE = Site("example.org", (Url("http://example.org/"),))
HOME = Url("http://example.org/")
POLITE = Politeness(agent="DiptychBot/0.1", delay=1.0, connections=3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


def hosts_of(
    store: Store, *, now: float = 0.0, politeness: Politeness = POLITE
) -> tuple[Hosts, Frontier]:
    frontier = Frontier(store.db)
    hosts = Hosts(store, frontier, politeness)
    hosts.add_site(SITE)
    hosts.restore(now)
    return hosts, frontier


def robots(text: str) -> Robots:
    return Robots(text, "read")


@pytest.mark.parametrize(
    ("limits", "info", "end"),
    [
        (Limits(), {"pages": 10**9, "bytes": 10**12}, None),
        (Limits(max_pages=5), {"pages": 9, "visited": 4}, None),
        (Limits(max_pages=5), {"visited": 5}, SiteEnd.PAGE_LIMIT),
        (Limits(max_pages=5), {"visited": 3, "in_flight": 2}, SiteEnd.PAGE_LIMIT),
        (Limits(max_pages=0), {}, SiteEnd.PAGE_LIMIT),
        (Limits(max_bytes=100), {"bytes": 99}, None),
        (Limits(max_bytes=100), {"bytes": 100}, SiteEnd.BYTE_LIMIT),
        (Limits(max_seconds=10), {"started_at": 90.5}, None),
        (Limits(max_seconds=10), {"started_at": 90.0}, SiteEnd.TIME_LIMIT),
        (Limits(max_seconds=10), {}, None),
    ],
)
def test_which_limit_is_reached(
    limits: Limits, info: dict[str, float], end: SiteEnd | None
) -> None:
    site = SiteInfo(1, SITE)
    for name, value in info.items():
        setattr(site, name, value)
    assert site.exhausted(limits, now=100.0) is end


def test_new_host_is_asked_for_its_robots_first(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    info = hosts.of(Url("http://fr.example.org/a/b"), "example.org")
    assert hosts.of(Url("http://fr.example.org/c"), "example.org") is info
    assert hosts[info.id] is info
    assert info.refusals == 0
    (claim,) = frontier.claim(0.0, 9)
    assert (claim.url, claim.kind) == ("http://fr.example.org/robots.txt", Kind.ROBOTS)


def test_nothing_is_allowed_before_robots_are_known(store: Store) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    assert not hosts.allows(id, HOME)
    hosts.save_robots(id, robots("User-agent: *\nDisallow: /b"), 0.0)
    assert hosts.allows(id, HOME)
    assert not hosts.allows(id, Url("http://example.org/b"))


def test_group_of_our_own_token_counts(store: Store) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    text = "User-agent: *\nDisallow: /\n\nUser-agent: diptychbot\nDisallow: /b\nCrawl-delay: 3\n"
    hosts.save_robots(id, robots(text), 0.0)
    assert hosts.allows(id, HOME)
    assert not hosts.allows(id, Url("http://example.org/b"))
    assert hosts.notes == ["http://example.org requests a Crawl-delay of 3 s, which is respected"]


def test_archives_allow_everything(store: Store) -> None:
    hosts, _ = hosts_of(store, politeness=replace(POLITE, obey_robots=False))
    id = hosts.of(HOME, "example.org").id
    assert hosts.allows(id, HOME)
    hosts.save_robots(id, robots("User-agent: *\nDisallow: /\nCrawl-delay: 20"), 0.0)
    assert hosts.allows(id, HOME)
    assert hosts.notes == []


@pytest.mark.parametrize(
    ("text", "delay", "connections", "notes"),
    [
        ("", 1.0, 3, []),
        ("User-agent: *\nCrawl-delay: 0.5", 1.0, 1, []),
        ("User-agent: *\nCrawl-delay: 1", 1.0, 1, []),
        (
            "User-agent: *\nCrawl-delay: 7.5",
            7.5,
            1,
            ["requests a Crawl-delay of 7.5 s, which is respected"],
        ),
        (
            "User-agent: *\nCrawl-delay: 90",
            90.0,
            1,
            ["requests a Crawl-delay of 90 s, which is respected: at most 40 pages per hour"],
        ),
        ("User-agent: other\nCrawl-delay: 90", 1.0, 3, []),
        ("User-agent: *\nCrawl-delay: soon", 1.0, 3, []),
    ],
)
def test_crawl_delay_and_connections_follow_robots(
    store: Store, text: str, delay: float, connections: int, notes: list[str]
) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    assert frontier.host(id).connections == 1
    hosts.save_robots(id, robots(text), 50.0)
    host = frontier.host(id)
    assert (host.delay, host.connections) == (delay, connections)
    assert hosts.notes == [f"http://example.org {note}" for note in notes]
    assert host.next_at == 50.0 + delay


def test_sitemaps_that_robots_name_are_given_back(store: Store) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    text = "Sitemap: http://example.org/a.xml\nSitemap: /b.xml\n"
    assert hosts.save_robots(id, robots(text), 0.0) == ["http://example.org/a.xml", "/b.xml"]


def test_stopped_host_is_noted_once(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.stop(id, "refused")
    hosts.stop(id, "refused again")
    assert hosts.notes == ["gave up on http://example.org: refused"]
    assert frontier.host(id).stopped == "refused"
    assert store.db.execute("SELECT stopped FROM hosts").fetchall() == [("refused",)]


def test_stopped_site_stops_all_its_hosts_with_the_reason(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    other = Site("b.net", (Url("http://b.net/"),))
    hosts.add_site(other)
    ids = [hosts.of(Url(url), "example.org").id for url in (HOME, "http://fr.example.org/")]
    stranger = hosts.of(Url("http://b.net/"), "b.net").id
    for _ in range(2):
        hosts.stop_site(hosts.sites["example.org"], SiteEnd.PAGE_LIMIT)
    assert all(frontier.host(id).stopped for id in ids)
    assert not frontier.host(stranger).stopped
    assert hosts.sites["example.org"].end is SiteEnd.PAGE_LIMIT


def test_restart_remembers_robots(store: Store) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.save_robots(id, robots("User-agent: *\nDisallow: /b\nCrawl-delay: 4"), 100.0)
    hosts.hold(id, 500.0)
    again, frontier = hosts_of(store, now=200.0)
    assert again.allows(id, HOME)
    assert not again.allows(id, Url("http://example.org/b"))
    host = frontier.host(id)
    assert (host.delay, host.connections, host.next_at) == (4.0, 1, 500.0)
    assert again.of(HOME, "example.org").id == id


def test_restart_uses_all_connections_of_a_host_without_a_crawl_delay(store: Store) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.save_robots(id, robots(""), 100.0)
    _, frontier = hosts_of(store, now=200.0)
    assert frontier.host(id).connections == 3


@pytest.mark.parametrize(
    ("status", "later", "asked"),
    [
        ("read", 10.0, False),
        ("missing", ROBOTS_LIFETIME, False),
        ("read", ROBOTS_LIFETIME + 1, True),
        ("unreachable", 10.0, True),
    ],
)
def test_restart_asks_again_when_robots_are_old_or_were_not_reached(
    store: Store, status: str, later: float, asked: bool
) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    (claim,) = frontier.claim(0.0, 1)
    frontier.complete(claim, 100.0, status=200)
    hosts.save_robots(id, Robots("", status), 100.0)
    hosts.stop(id, "whatever")
    again, fresh = hosts_of(store, now=100.0 + later)
    claims = fresh.claim(100.0 + later, 9)
    assert [claim.url for claim in claims] == (["http://example.org/robots.txt"] if asked else [])
    assert again.allows(id, HOME) is not asked
    assert store.count("SELECT count(*) FROM hosts WHERE stopped != ''") == 0


def test_restart_counts_what_was_fetched(store: Store) -> None:
    hosts, _ = hosts_of(store)
    site = hosts.sites["example.org"].id
    for number in range(3):
        store.save_fetch(site, HOME, 0.0, status=200, size=100 * number, reason="", pointer=None)
    again, _ = hosts_of(store)
    assert again.sites["example.org"].bytes == 300
    assert again.sites["example.org"].pages == 0


def test_hosts_of_other_sites_are_left_alone(store: Store) -> None:
    hosts, _ = hosts_of(store)
    hosts.add_site(Site("b.net", (Url("http://b.net/"),)))
    hosts.of(Url("http://b.net/"), "b.net")
    _, frontier = hosts_of(store)  # only example.org this time
    assert frontier.claim(0.0, 9) == []


def test_a_site_that_was_left_is_treated_as_before_when_it_is_entered_again(store: Store) -> None:
    frontier = Frontier(store.db)
    hosts = Hosts(store, frontier, POLITE)
    info = hosts.enter(SITE, 0.0)
    host = hosts.of(HOME, "example.org")
    rules = "User-agent: *\nDisallow: /secret\nCrawl-delay: 7"
    hosts.save_robots(host.id, robots(rules), 10.0)
    hosts.leave(info)
    assert not hosts.sites
    assert frontier.wake() is None
    again = hosts.enter(SITE, 12.0)
    assert again.id == info.id
    assert hosts.of(HOME, "example.org").id == host.id
    assert not hosts.allows(host.id, Url("http://example.org/secret"))
    assert hosts.allows(host.id, HOME)
    assert frontier.host(host.id).delay == 7.0
    assert frontier.host(host.id).next_at == 17.0, "no sooner than it asked for"


def test_only_the_site_that_is_left_is_forgotten(store: Store) -> None:
    frontier = Frontier(store.db)
    hosts = Hosts(store, frontier, POLITE)
    one = hosts.enter(SITE, 0.0)
    other = Site("other.org", (Url("http://other.org/"),))
    hosts.enter(other, 0.0)
    hosts.of(HOME, "example.org")
    hosts.of(other.seeds[0], "other.org")
    hosts.leave(one)
    assert list(hosts.sites) == ["other.org"]
    claims = frontier.claim(0.0, 10)
    assert [claim.url for claim in claims] == ["http://other.org/robots.txt"]


# -- time ----------------------------------------------------------------------------------------


def started(hosts: Hosts, at: float) -> SiteInfo:
    site = hosts.sites["example.org"]
    hosts.start(site, at)
    return site


def test_site_that_only_waits_is_ended_when_its_time_is_over(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    started(hosts, 90.0)
    started(hosts, 99.0)  # its time began with the first request
    limits = Limits(max_seconds=10)
    hosts.stop_overdue_sites(limits, 99.5)
    assert not frontier.host(id).stopped
    hosts.stop_overdue_sites(limits, 100.0)
    assert frontier.host(id).stopped


def test_site_without_a_time_limit_is_never_ended_for_its_time(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    started(hosts, 0.0)
    hosts.stop_overdue_sites(Limits(), 1e9)
    assert not frontier.host(id).stopped


def test_site_is_ended_for_its_time_only_when_its_last_answer_is_there(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    site = started(hosts, 0.0)
    site.in_flight = 1
    hosts.stop_overdue_sites(Limits(max_seconds=10), 11.0)
    assert not frontier.host(id).stopped
    site.in_flight = 0
    hosts.stop_overdue_sites(Limits(max_seconds=10), 12.0)
    assert frontier.host(id).stopped


def test_each_site_has_a_time_of_its_own(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    other = hosts.add_site(Site("b.net", (Url("http://b.net/"),)))
    one = hosts.of(HOME, "example.org").id
    two = hosts.of(Url("http://b.net/"), "b.net").id
    started(hosts, 0.0)
    hosts.start(other, 6.0)
    hosts.stop_overdue_sites(Limits(max_seconds=10), 10.0)
    assert [bool(frontier.host(id).stopped) for id in (one, two)] == [True, False]
    hosts.stop_overdue_sites(Limits(max_seconds=10), 16.0)
    assert frontier.host(two).stopped


@pytest.mark.parametrize(("asked", "kept"), [("2.9", 0.0), ("3", 103.0), ("20", 120.0)])
def test_restart_waits_as_long_as_a_long_crawl_delay_asked_for(
    store: Store, asked: str, kept: float
) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.save_robots(id, robots(f"User-agent: *\nCrawl-delay: {asked}"), 90.0)
    frontier.host(id).next_at = 100.0 + float(asked)  # a page was asked for at 100
    hosts.save_next_request(id)
    _, fresh = hosts_of(store, now=101.0)
    assert fresh.host(id).next_at == kept


def test_host_on_hold_is_left_alone_before_and_after_a_restart(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.hold(id, 500.0)
    hosts.hold(id, 300.0)  # a shorter wait does not shorten the longer one
    assert frontier.host(id).next_at == 500.0
    _, fresh = hosts_of(store, now=200.0)
    assert fresh.host(id).next_at == 500.0


@pytest.mark.parametrize(("wait", "stopped"), [(600.0, False), (600.5, True)])
def test_restart_stops_a_host_that_asks_to_wait_for_too_long(
    store: Store, wait: float, stopped: bool
) -> None:
    hosts, _ = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    hosts.hold(id, 1000.0 + wait)
    again, fresh = hosts_of(store, now=1000.0)
    assert bool(fresh.host(id).stopped) is stopped
    assert len(again.notes) == stopped


def test_robots_of_more_than_a_day_ago_are_asked_for_again(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    id = hosts.of(HOME, "example.org").id
    (claim,) = frontier.claim(0.0, 1)
    frontier.complete(claim, 100.0, status=200)
    hosts.save_robots(id, robots(""), 100.0)
    day = 24 * 3600.0
    assert hosts.knows_robots(id, 100.0 + day)
    assert frontier.claim(100.0 + day, 9) == []
    assert not hosts.knows_robots(id, 101.0 + day)
    assert not hosts.allows(id, HOME)
    assert frontier.host(id).connections == 1
    frontier.hold(id, 0.0)
    (again,) = frontier.claim(101.0 + day, 9)
    assert (again.url, again.attempts) == (claim.url, claim.attempts), "tried as often as a new one"


def test_site_that_is_left_waits_on_its_next_visit_as_before(store: Store) -> None:
    frontier = Frontier(store.db)
    hosts = Hosts(store, frontier, POLITE)
    site = hosts.enter(SITE, 0.0)
    id = hosts.of(HOME, "example.org").id
    frontier.host(id).next_at = 40.0
    hosts.leave(site)
    hosts.enter(SITE, 10.0)
    assert frontier.host(id).next_at == 40.0
    hosts.leave(hosts.sites["example.org"])
    assert store.count("SELECT next_at FROM hosts") == 40


def test_host_that_was_stopped_in_this_invocation_stays_so_on_the_next_visit(store: Store) -> None:
    frontier = Frontier(store.db)
    hosts = Hosts(store, frontier, POLITE)
    site = hosts.enter(SITE, 0.0)
    id = hosts.of(HOME, "example.org").id
    hosts.stop(id, "refused")
    hosts.leave(site)
    hosts.enter(SITE, 1.0)
    assert frontier.host(id).stopped == "refused"


def test_notes_are_bounded(store: Store) -> None:
    hosts, frontier = hosts_of(store)
    for _ in range(99):
        hosts.add_note("x" * 10_000)
    ids = [hosts.of(Url(f"http://{name}.example.org/"), "example.org").id for name in "abc"]
    for id in ids:
        hosts.stop(id, "refused " * 1_000)
    assert len(hosts.notes) == 100
    assert sum(map(len, hosts.notes)) <= 1_000_000
    assert all(frontier.host(id).stopped for id in ids)


def test_rules_that_were_forgotten_are_read_from_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts_module, "MAX_RULES", 1_000)
    hosts, _ = hosts_of(store)
    ids = [hosts.of(Url(f"http://h{n}.example.org/"), "example.org").id for n in range(20)]
    for id in ids:
        hosts.save_robots(id, Robots(f"User-agent: *\nDisallow: /{id}/", "read"), 0.0)
    for id in ids:
        origin = hosts[id].origin
        assert not hosts.allows(id, Url(f"{origin}/{id}/a"))
        assert hosts.allows(id, Url(f"{origin}/{id + 1}/a"))


def test_rules_are_parsed_again_only_of_hosts_for_which_there_is_no_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts_module, "MAX_RULES", 10_000)
    hosts, _ = hosts_of(store)
    ids = [hosts.of(Url(f"http://h{n}.example.org/"), "example.org").id for n in range(12)]
    for id in ids:
        hosts.save_robots(id, robots("User-agent: *\nDisallow: /a/".ljust(40)), 0.0)
    statements: list[str] = []
    store.db.set_trace_callback(statements.append)
    for id in ids * 10:
        assert not hosts.allows(id, Url(f"{hosts[id].origin}/a/"))
    store.db.set_trace_callback(None)
    assert 0 < len(statements) < 60  # of 120: there is room for nine of twelve
