"""The reason why the crawl of each site ended is stored in the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.driving import HOME, Drive, failure, page, web

from diptych.frontier.politeness import Limits
from diptych.reason import SiteEnd
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.types import Url

OTHER = "http://b.net/"
STAR = web(page("/", "/a", "/b", "/c"), *(page(path) for path in ("/a", "/b", "/c")), page(OTHER))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def stored(folder: Path) -> dict[str, SiteEnd]:
    """The ends of sites as another process sees them."""
    with Store(folder, write=False) as store:
        return dict(Statistics(store).site_ends())


def crawl(drive: Drive, *, answers: int | None = None) -> dict[str, SiteEnd]:
    """Crawl to the end, or until the user stops it after some responses."""
    with drive.opened() as crawl:
        assert stored(drive.folder) == {}  # it goes on
        drive.steer(crawl, answers)
        crawl.finish(interrupted=answers is not None)
    return stored(drive.folder)


def test_crawl_that_has_fetched_all_ends_with_nothing_left(folder: Path) -> None:
    assert crawl(Drive(folder, STAR)) == {"example.org": SiteEnd.NOTHING_LEFT}


def test_each_site_has_an_end_of_its_own(folder: Path) -> None:
    drive = Drive(folder, STAR, seeds=[HOME + "/", OTHER], limits=Limits(max_pages=2))
    assert crawl(drive) == {"example.org": SiteEnd.PAGE_LIMIT, "b.net": SiteEnd.NOTHING_LEFT}


def test_limit_is_stored_when_it_is_reached(folder: Path) -> None:
    drive = Drive(folder, STAR, seeds=[HOME + "/"], limits=Limits(max_pages=2)).run()
    assert drive.ends == stored(folder) == {"example.org": SiteEnd.PAGE_LIMIT}


def test_site_that_was_finished_before_its_time_was_over_ends_with_nothing_left(
    folder: Path,
) -> None:
    answers = web(
        page("/", *map("/{}".format, range(30))), *map(page, map("/{}".format, range(30)))
    )
    seeds, limits = [HOME + "/", OTHER], Limits(max_seconds=20.0)
    drive = Drive(folder, {**answers, **web(page(OTHER))}, seeds=seeds, limits=limits)
    assert crawl(drive) == {"example.org": SiteEnd.TIME_LIMIT, "b.net": SiteEnd.NOTHING_LEFT}


def test_limits_say_how_much_may_follow(folder: Path) -> None:
    seeds = [HOME + "/", OTHER]
    drive = Drive(folder, STAR, seeds=seeds, limits=Limits(max_pages=2, max_seconds=100.0))
    with drive.opened() as crawl:
        assert (crawl.pages_left(), crawl.seconds_left(drive.now)) == (4, 100.0)
        crawl.hosts.start(crawl.hosts.sites["b.net"], drive.now)  # the other one has its time yet
        assert crawl.seconds_left(drive.now + 30.0) == 100.0
        drive.steer(crawl)
        assert crawl.pages_left() == 1, "b.net has one page, and example.org has ended"
        (begun,) = (site.started_at for site in crawl.hosts.sites.values() if site.end is None)
        assert begun is not None
        assert crawl.seconds_left(begun + 30.0) == 70.0
        assert crawl.seconds_left(begun + 300.0) == 0.0
        crawl.finish(interrupted=False)
        assert (crawl.pages_left(), crawl.seconds_left(drive.now)) == (0, 0.0)


def test_without_limits_nobody_knows_how_much_may_follow(folder: Path) -> None:
    with Drive(folder, STAR).opened() as crawl:
        assert (crawl.pages_left(), crawl.seconds_left(1e9)) == (None, None)


def test_site_whose_host_cannot_be_reached_ends_with_its_hosts(folder: Path) -> None:
    unreachable = {**STAR, Url(OTHER + "robots.txt"): failure(OTHER + "robots.txt", "dns")}
    ends = crawl(Drive(folder, unreachable, seeds=[HOME + "/", OTHER]))
    assert ends == {"example.org": SiteEnd.NOTHING_LEFT, "b.net": SiteEnd.HOSTS_STOPPED}


def test_stop_of_the_user_is_the_end_of_what_was_left(folder: Path) -> None:
    drive = Drive(folder, STAR, room=1)
    assert crawl(drive, answers=4) == {"example.org": SiteEnd.INTERRUPTED}
    assert crawl(Drive(folder, STAR, now=drive.now)) == {"example.org": SiteEnd.NOTHING_LEFT}


def test_killed_crawl_has_no_end(folder: Path) -> None:
    Drive(folder, STAR).run(kill_after=4)
    assert stored(folder) == {}


def test_unknown_end_of_a_site_is_ignored(folder: Path) -> None:
    crawl(Drive(folder, STAR))
    with Store(folder) as store:
        store.db.execute("UPDATE sites SET ended = 'damaged'")
    assert stored(folder) == {}
