"""A clock that is set back or forwards between two invocations: no host waits for years."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.driving import POLITE, Drive, failure, page, robots, status, url, web

from diptych.frontier.hosts import Hosts
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import Frontier
from diptych.run.store import Store
from diptych.types import Site, Url

YEARS = 10 * 365 * 86_400.0
NOW = 1.7e9
SITE = web(
    robots("User-agent: *\nCrawl-delay: 90"),
    page("/", "/a", "/b", "/c"), page("/a"), page("/b"), page("/c"),
)  # fmt: skip


def interrupted(folder: Path, answers: int = 3) -> Drive:
    drive = Drive(folder, SITE, now=NOW)
    drive.run(kill_after=answers)
    return drive


@pytest.mark.parametrize("back", [0.0, 60.0, 86_400.0, YEARS, NOW - 1.0])
def test_clock_that_was_set_back_keeps_no_host_waiting(tmp_path: Path, back: float) -> None:
    first = interrupted(tmp_path)
    start = first.now - back
    again = Drive(tmp_path, SITE, now=start).run()
    assert again.finished
    assert not any("wait" in note for note in again.notes)
    waited = again.log[0][1] - start
    assert 0.0 <= waited <= 90.0, "no longer than the Crawl-delay"
    assert again.now - start < 6 * 91.0
    paths = {url(path) for path in ("/", "/a", "/b", "/c")}
    assert {fetched for fetched, _ in (*first.log, *again.log)} >= paths


def test_clock_that_was_set_forwards_changes_nothing(tmp_path: Path) -> None:
    start = interrupted(tmp_path).now + YEARS
    again = Drive(tmp_path, SITE, now=start).run()
    assert again.finished
    assert again.now - start < 6 * 91.0
    assert again.log[0] == (url("/robots.txt"), start), "which is years old"


def test_wait_that_a_host_asked_for_is_still_observed(tmp_path: Path) -> None:
    busy = web(robots(""), page("/", "/a"), status("/a", 503, ("Retry-After", "500")))
    seeds = ("http://example.org/", "http://other.org/")
    links = [f"http://other.org/{number}" for number in range(30)]
    busy[Url(seeds[1])] = page(seeds[1], *links)
    first = Drive(tmp_path, busy, now=NOW, seeds=seeds)
    first.run(kill_after=20)
    start = first.now - YEARS
    again = Drive(tmp_path, {**busy, url("/a"): page("/a")}, now=start, seeds=seeds).run()
    (asked,) = (at for fetched, at in again.log if fetched == url("/a"))
    (before,) = (at for fetched, at in first.log if fetched == url("/a"))
    assert before + 500.0 - first.now <= asked - start <= 501.0


def test_third_invocation_does_not_wait_either(tmp_path: Path) -> None:
    start = interrupted(tmp_path).now - YEARS
    second = Drive(tmp_path, SITE, now=start)
    second.run(kill_after=1)
    third = Drive(tmp_path, SITE, now=second.now).run()
    assert third.fetches("/c") == 1
    assert third.now - second.now < 6 * 91.0


def test_retries_that_are_due_in_years_are_due_at_once(tmp_path: Path) -> None:
    refusing = {**SITE, url("/a"): failure("/a", "timeout")}
    first = Drive(tmp_path, refusing, now=NOW, limits=Limits(attempts=9))
    first.run(kill_after=4)
    assert first.rows("SELECT max(due) FROM urls WHERE state = 0")[0][0] > NOW
    start = first.now - YEARS
    again = Drive(tmp_path, SITE, now=start).run()
    assert again.fetches("/a") == 1
    assert again.now - start < 6 * 91.0


def test_robots_txt_from_the_future_is_fetched_again(tmp_path: Path) -> None:
    start = interrupted(tmp_path).now - YEARS
    again = Drive(tmp_path, SITE, now=start).run()
    assert again.fetches("/robots.txt") == 1


def test_replay_has_another_clock_than_its_responses(tmp_path: Path) -> None:
    with Store(tmp_path) as store, store.transaction():
        frontier = Frontier(store.db)
        hosts = Hosts(store, frontier, POLITE)
        hosts.add_site(Site("example.org", (url("/"),)))
        host = hosts.of(url("/"), "example.org")
        store.save_fetch(host.site.id, url("/"), NOW, status=200, size=1, reason="", pointer=None)
        store.db.execute("UPDATE hosts SET next_at = 7")
        hosts.note_clock(0.0)
        assert store.count("SELECT next_at FROM hosts") == 7
