"""The clock of the system is set in the middle of a crawl: nobody waits longer or less."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import zoo
from support.crawling import crawl
from support.serving import Server, serve

from diptych.engine.clock import SteadyClock
from diptych.frontier.politeness import Limits

YEARS = 10 * 365 * 86_400.0
TIME = time.time


def test_jumps_of_the_time_of_day_do_not_matter() -> None:
    today, passed = [1_000.0], [50.0]
    clock = SteadyClock(lambda: today[0], lambda: passed[0])
    assert clock() == 1_000.0
    today[0], passed[0] = -1e9, 53.5
    assert clock() == 1_003.5


def test_it_starts_at_the_time_of_day_and_goes_on() -> None:
    clock = SteadyClock()
    first = clock()
    assert abs(first - time.time()) < 60.0
    assert clock() >= first


def jumping(server: Callable[[], Server], by: float) -> Callable[[], float]:
    """The time of day, which jumps once the server has been asked three times."""
    return lambda: TIME() + (by if len(server().log) >= 3 else 0.0)


@pytest.mark.parametrize("by", [-YEARS, -3_600.0, YEARS])
def test_crawl_goes_on_when_the_clock_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: float
) -> None:
    pages = {f"/{name}": zoo.page(name) for name in "abcdef"}
    links = "".join(f'<a href="{path}">{path}</a>' for path in pages)
    site = {path: zoo.Reply(html) for path, html in {"/": f"<p>{links}", **pages}.items()}
    with serve(site) as server:
        monkeypatch.setattr(time, "time", jumping(lambda: server, by))
        found = crawl(server.url, folder=tmp_path, delay=0.05, limits=Limits(max_seconds=60.0))
        gaps = server.gaps()
    assert set(found.pages) == {"/", *pages}
    assert min(gaps) > 0.02
    assert not found.stopped


def test_dates_of_responses_are_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = {path: zoo.Reply(zoo.page(path)) for path in ("/", "/a", "/b", "/c", "/d")}
    home = "".join(f'<a href="{path}">{path}</a>' for path in site)
    with serve({**site, "/": zoo.Reply(home)}) as server:
        monkeypatch.setattr(time, "time", jumping(lambda: server, -YEARS))
        crawl(server.url, folder=tmp_path)
    from support.commands import query

    times = [at for (at,) in query(tmp_path, "SELECT at FROM fetches ORDER BY id")]
    assert times == sorted(times)
    assert times[-1] - times[0] < 60.0
