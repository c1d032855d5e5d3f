from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

import pytest
from rich.console import Console

from diptych.errors import StoppedError
from diptych.frontier.crawl import Crawl, Stats
from diptych.reports.progress import Progress, progress_display
from diptych.types import Outlook


class _Store:
    def count(self, query: str, *hosts: int) -> int:
        return {(): 7, (1,): 5, (2,): 2}[hosts]


@dataclass
class _Hosts:
    """What progress asks of the hosts of a crawl."""

    urgent_notes: list[str] = field(default_factory=list)
    slow: dict[int, float] = field(default_factory=dict)


@dataclass
class _Crawl:
    """What progress asks of a crawl."""

    foreseen: Outlook | None
    stats: Stats = field(default_factory=lambda: Stats(downloads=30, pages=25))
    store: Any = field(default_factory=_Store)
    hosts: _Hosts = field(default_factory=_Hosts)

    def outlook(self) -> Outlook | None:
        return self.foreseen


def figures(foreseen: Outlook | None, *, stage: str = "crawling", pairs: int = 0) -> dict[str, str]:
    progress = Progress(stage=stage, crawl=cast(Crawl, _Crawl(foreseen)), pairs=pairs)
    return dict(progress.figures())


def test_guided_crawl_shows_what_it_has_found_and_expects() -> None:
    shown = figures(Outlook(12.0, 1234.4))
    assert (shown["pairs"], shown["left"], shown["downloads/pair"]) == ("12", "~1,234", "2.50")


def test_crawl_that_has_found_nothing_yet_shows_no_cost() -> None:
    shown = figures(Outlook(0.0, -1e-9))
    assert (shown["pairs"], shown["left"], shown["downloads/pair"]) == ("-", "~0", "-")


@pytest.mark.parametrize(
    ("foreseen", "stage"), [(None, "crawling"), (Outlook(12.0, 3.0), "aligning")]
)
def test_otherwise_the_pairs_that_were_verified_are_shown(
    foreseen: Outlook | None, stage: str
) -> None:
    shown = figures(foreseen, stage=stage, pairs=10)
    assert (shown["pairs"], shown["downloads/pair"]) == ("10", "3.00")
    assert "left" not in shown


def test_time_that_the_queue_takes_is_shown_where_hosts_ask_for_long_delays() -> None:
    crawl = _Crawl(None, hosts=_Hosts(slow={1: 720.0, 2: 600.0}))
    shown = dict(Progress(stage="crawling", crawl=cast(Crawl, crawl)).figures())
    assert (shown["queue"], shown["queue takes"]) == ("7", "1 h")
    assert "queue takes" not in figures(None)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_urgent_notes_are_shown_at_once_and_once(is_terminal: bool) -> None:
    said = StringIO()
    console = Console(file=said, force_terminal=is_terminal, width=30, highlight=False)
    crawl = _Crawl(None)
    with progress_display(
        Progress(stage="crawling", crawl=cast(Crawl, crawl)), console
    ) as progress:
        progress.tick()
        note = "http://a.org requests a Crawl-delay of 60 s: respected"
        crawl.hosts.urgent_notes.append(note)
        progress.tick()
        progress.tick()
        assert said.getvalue().count(f"note: {note}") == 1


def test_before_the_crawl_there_is_nothing_to_show() -> None:
    assert dict(Progress(stage="crawling").figures())["pairs"] == "-"


def test_urls_that_take_long_to_count_are_not_counted_each_time() -> None:
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
        crawl = cast(Crawl, _Crawl(None, store=clock))
        progress = Progress(stage="crawling", crawl=crawl, clock=lambda clock=clock: clock.now)
        shown = [dict(progress.figures())["queue"] for _ in range(3)]
        assert (clock.counts, shown[-1]) == (counts, str(7 * counts))
        clock.now += 60 * seconds
        assert dict(progress.figures())["queue"] == str(7 * (counts + 1))


# -- requests to stop ------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["crawling", "searching"])
def test_crawl_that_is_stopped_goes_on_with_what_it_has(stage: str) -> None:
    progress = Progress(stage=stage)
    assert not progress.stopped()
    progress.interrupt()
    assert progress.stopped()
    progress.tick()
    progress.stage = "aligning"
    progress.tick()
    assert progress.final_notes([]) == ["interrupted: the same command goes on"]


@pytest.mark.parametrize("stage", ["", "pairing", "aligning", "exporting"])
def test_any_other_stage_that_is_stopped_ends_the_run(stage: str) -> None:
    progress = Progress(stage=stage)
    progress.tick()
    progress.interrupt()
    with pytest.raises(StoppedError, match="the same command goes on"):
        progress.tick()


def test_second_request_ends_everything_at_once() -> None:
    progress = Progress(stage="crawling")
    progress.interrupt()
    with pytest.raises(KeyboardInterrupt):
        progress.interrupt()
