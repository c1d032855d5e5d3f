from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from diptych.errors import StoppedError
from diptych.frontier.crawl import Crawl, Stats
from diptych.reports.progress import INTERRUPTED, Monitor, Progress
from diptych.types import Outlook

FINISHING = (
    "Stopping: finishing with the pages fetched so far. Press Ctrl-C again to stop immediately."
)
SEARCHED = (
    "Stopping: finishing with the sites tested so far. Press Ctrl-C again to stop immediately."
)
STOPPING = "Stopping. Press Ctrl-C again to stop immediately."


class _Store:
    def count(self, query: str, *hosts: int) -> int:
        return {(): 7, (1,): 5, (2,): 2}[hosts]


@dataclass
class _Hosts:
    """The attributes of a crawl's hosts that a monitor uses."""

    urgent_notes: list[str] = field(default_factory=list)
    slow: dict[int, float] = field(default_factory=dict)


@dataclass
class _Crawl:
    """The attributes of a crawl that a monitor uses."""

    foreseen: Outlook | None = None
    pages_allowed: int | None = None
    seconds_allowed: float | None = None
    now: float = 0.0
    stats: Stats = field(default_factory=lambda: Stats(downloads=30, pages=25, segments=8))
    store: Any = field(default_factory=_Store)
    hosts: _Hosts = field(default_factory=_Hosts)

    def outlook(self) -> Outlook | None:
        return self.foreseen

    def pages_left(self) -> int | None:
        return self.pages_allowed

    def seconds_left(self, now: float) -> float | None:
        return self.seconds_allowed


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def monitor(crawl: _Crawl | None = None, stage: str = "crawling", **more: Any) -> Monitor:
    return Monitor(stage=stage, crawl=cast(Crawl, crawl), **more)


def snapshot(foreseen: Outlook | None, *, stage: str = "crawling", pairs: int = 0) -> Progress:
    return monitor(_Crawl(foreseen), stage, pairs=pairs).snapshot()


# -- figures ---------------------------------------------------------------------------------------


def test_guided_crawl_reports_what_it_has_found_and_the_share() -> None:
    seen = snapshot(Outlook(12.0, 36.0))
    assert (seen.pairs, seen.downloads_per_pair, seen.share_found) == (12, 2.5, 0.25)
    assert (seen.pages, seen.downloads, seen.queued) == (25, 30, 7)


@pytest.mark.parametrize(("left", "share"), [(0.0, None), (-1e-9, None), (5.0, 0.0)])
def test_crawl_that_has_found_nothing_yet_has_no_cost(left: float, share: float | None) -> None:
    seen = snapshot(Outlook(0.0, left))
    assert (seen.pairs, seen.downloads_per_pair, seen.share_found) == (0, None, share)


@pytest.mark.parametrize(
    ("foreseen", "stage"), [(None, "crawling"), (Outlook(12.0, 3.0), "scoring")]
)
def test_verified_pairs_are_reported_without_an_outlook(
    foreseen: Outlook | None, stage: str
) -> None:
    seen = snapshot(foreseen, stage=stage, pairs=10)
    assert (seen.pairs, seen.downloads_per_pair, seen.share_found) == (10, 3.0, None)


def test_share_found_is_kept_after_the_crawl() -> None:
    watched = monitor(_Crawl(Outlook(12.0, 4.0)))
    watched.snapshot()
    watched.begin("pairing")
    seen = watched.snapshot()
    assert (seen.pairs, seen.share_found, seen.queued) == (12, 0.75, 7)


def test_cost_of_a_pair_is_unknown_while_aligning() -> None:
    assert snapshot(None, stage="aligning", pairs=1).downloads_per_pair is None


def test_segments_of_a_crawl_include_earlier_ones() -> None:
    watched = monitor(_Crawl(), segments=100)
    assert watched.snapshot().segments == 108
    watched.begin("aligning")
    assert watched.snapshot().segments == 100


def test_figures_are_zero_before_the_crawl() -> None:
    assert monitor().snapshot() == Progress(stage="crawling", seconds=pytest.approx(0, abs=60))


def test_pages_per_second_are_those_of_this_invocation() -> None:
    clock, crawl = Clock(), _Crawl()
    watched = monitor(crawl, clock=clock)
    clock.now += 50  # before the crawl
    watched.tick()
    crawl.stats.pages += 30
    clock.now += 10
    watched.tick()
    seen = watched.snapshot()
    assert (seen.pages_per_second, seen.seconds, watched.crawl_seconds) == (3.0, 60.0, 10.0)
    watched.begin("pairing")
    clock.now += 100
    watched.tick()
    assert watched.snapshot().pages_per_second == 3.0


def test_slow_counts_of_the_queue_are_less_frequent() -> None:
    class Clocked:
        """A clock that moves when something is counted."""

        def __init__(self, seconds: float) -> None:
            self.now, self.seconds, self.counts = 100.0, seconds, 0

        def count(self, query: str, *hosts: int) -> int:
            self.now += self.seconds
            self.counts += 1
            return 7 * self.counts

    for seconds, counts in ((0.001, 3), (0.25, 1)):
        clock = Clocked(seconds)
        watched = monitor(_Crawl(store=clock), clock=lambda clock=clock: clock.now)
        seen = [watched.snapshot().queued for _ in range(3)]
        assert (clock.counts, seen[-1]) == (counts, 7 * counts)
        clock.now += 60 * seconds
        assert watched.snapshot().queued == 7 * (counts + 1)


# -- time left -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("crawl", "seconds"),
    [
        (_Crawl(), None),
        (_Crawl(hosts=_Hosts(slow={1: 720.0, 2: 600.0})), 3600.0),
        (_Crawl(seconds_allowed=40.0), 40.0),
        (_Crawl(pages_allowed=90), 30.0),
        (_Crawl(pages_allowed=90, seconds_allowed=10.0), 10.0),
        (_Crawl(pages_allowed=90, hosts=_Hosts(slow={1: 2.0})), 10.0),
        (_Crawl(pages_allowed=0, seconds_allowed=10.0), 0.0),
    ],
)
def test_time_left_of_a_crawl_is_what_limits_and_delays_allow(
    crawl: _Crawl, seconds: float | None
) -> None:
    clock = Clock()
    watched = monitor(crawl, clock=clock)
    watched.tick()
    crawl.stats.pages += 30
    clock.now += 10
    watched.tick()
    assert watched.snapshot().seconds_left == seconds


def test_page_limit_gives_no_time_before_there_is_a_rate() -> None:
    clock, crawl = Clock(), _Crawl(pages_allowed=90)
    watched = monitor(crawl, clock=clock)
    watched.tick()
    seen = watched.snapshot()
    assert (seen.done, seen.total, seen.unit, seen.seconds_left) == (25, 115, "pages", None)
    clock.now += 1
    crawl.stats.pages += 30
    watched.tick()
    assert watched.snapshot().seconds_left is None, "too early to tell"
    clock.now += 1
    watched.tick()
    assert watched.snapshot().seconds_left == 6.0


def test_crawl_without_a_rate_has_no_time_left() -> None:
    clock = Clock()
    watched = monitor(_Crawl(pages_allowed=90), clock=clock)
    watched.tick()
    clock.now += 100
    watched.tick()
    assert watched.snapshot().seconds_left is None


def test_time_left_of_a_stage_follows_from_its_rate() -> None:
    clock = Clock()
    watched = monitor(clock=clock)
    clock.now += 1000
    watched.begin("aligning", 50, "page pairs")
    watched.advance(5)
    clock.now += 1
    assert watched.snapshot().seconds_left is None, "too early to tell"
    clock.now += 9
    watched.advance(5)
    seen = watched.snapshot()
    assert (seen.done, seen.total, seen.unit, seen.seconds_left) == (10, 50, "page pairs", 40.0)
    watched.advance(50)
    assert watched.snapshot().seconds_left == 0.0
    watched.begin("scoring")
    clock.now += 10
    seen = watched.snapshot()
    assert (seen.done, seen.total, seen.unit, seen.seconds_left) == (0, None, "", None)


# -- reports ---------------------------------------------------------------------------------------


def test_stages_are_reported_immediately_and_ticks_at_most_four_times_a_second() -> None:
    clock, seen = Clock(), list[Progress]()
    watched = monitor(report=seen.append, clock=clock)
    for _ in range(100):
        watched.tick()
        clock.now += 0.01
    assert len(seen) == 4
    watched.begin("pairing")
    watched.begin("aligning", 5, "page pairs")
    assert [each.stage for each in seen[4:]] == ["pairing", "aligning"]


def test_on_tick_is_called_at_each_tick() -> None:
    ticks = []
    watched = monitor(on_tick=lambda: ticks.append(1))
    watched.tick()
    watched.tick()
    assert len(ticks) == 2


def test_urgent_notes_are_passed_on_immediately_and_once() -> None:
    said: list[str] = []
    crawl = _Crawl()
    watched = monitor(crawl, notify=said.append)
    watched.tick()
    crawl.hosts.urgent_notes.append("http://a.org asks for a Crawl-delay of 60 s: kept")
    watched.tick()
    watched.tick()
    assert said == ["note: http://a.org asks for a Crawl-delay of 60 s: kept"]


# -- requests to stop ------------------------------------------------------------------------------


@pytest.mark.parametrize(("stage", "answer"), [("crawling", FINISHING), ("searching", SEARCHED)])
def test_interrupted_crawl_continues_with_its_pages(stage: str, answer: str) -> None:
    said: list[str] = []
    watched = monitor(stage=stage, notify=said.append)
    assert not watched.stopped()
    watched.interrupt()
    assert said == [], "a signal handler must not print"
    assert watched.stopped()
    assert said == [answer]
    watched.tick()
    watched.begin("aligning")
    watched.tick()
    assert said == [answer]
    assert watched.final_notes([]) == [INTERRUPTED]


@pytest.mark.parametrize("look", [Monitor.tick, Monitor.stopped, lambda each: each.begin("x")])
def test_request_to_stop_is_confirmed_at_the_next_check(
    look: Callable[[Monitor], None],
) -> None:
    said: list[str] = []
    watched = monitor(notify=said.append)
    watched.interrupt()
    look(watched)
    assert said == [FINISHING]


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ("", "Stopped."),
        ("pairing", "Stopped while pairing."),
        ("aligning", "Stopped while aligning."),
        ("writing", "Stopped while writing."),
    ],
)
def test_interrupt_after_the_crawl_ends_the_run(stage: str, message: str) -> None:
    watched = monitor(stage=stage)
    watched.tick()
    watched.interrupt()
    with pytest.raises(StoppedError) as raised:
        watched.tick()
    assert str(raised.value) == message
    with pytest.raises(StoppedError):
        watched.begin("another")


def test_stopped_confirms_a_request_to_stop() -> None:
    said: list[str] = []
    watched = monitor(stage="aligning", notify=said.append)
    watched.interrupt()
    assert watched.stopped()
    assert said == [STOPPING]


def test_second_request_ends_the_process() -> None:
    watched = monitor()
    watched.interrupt()
    with pytest.raises(KeyboardInterrupt):
        watched.interrupt()


def test_run_can_be_cancelled_from_another_thread_at_any_stage() -> None:
    watched = monitor(stage="aligning")
    thread = threading.Thread(target=watched.cancel)
    thread.start()
    thread.join()
    with pytest.raises(StoppedError, match="while aligning"):
        watched.tick()
    assert watched.final_notes([]) == []


def test_cancelled_crawl_ends_the_run() -> None:
    watched = monitor()
    watched.cancel()
    watched.tick()
    assert watched.stopped()
    with pytest.raises(StoppedError, match="while crawling"):
        watched.begin("pairing")
