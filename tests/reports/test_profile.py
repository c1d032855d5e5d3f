"""The profile of a run: which stage an effort counts for, the table, and the file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diptych.engine.usage import Usage
from diptych.errors import StoreError
from diptych.frontier.crawl import Crawl, Stats
from diptych.reports.profile import Profile, Profiler, profile_lines, to_toml, write_profile
from diptych.reports.progress import Monitor
from diptych.reports.summary import Summary

SUMMARY = cast(Summary, SimpleNamespace(pages=1371, pairs=571, segments=13569))


@dataclass
class Machine:
    """A machine whose clock and usage a test moves."""

    now: float = 100.0
    main: float = 5.0
    workers: float = 0.0
    peak: int = 50_000_000
    asked: Sequence[int] = ()

    def measure(self, processes: Sequence[int]) -> Usage:
        self.asked = processes
        return Usage(self.main, self.workers, self.peak)

    def work(self, wall: float, main: float, workers: float, peak: int) -> None:
        self.now += wall
        self.main += main
        self.workers += workers
        self.peak = peak


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def monitor() -> Monitor:
    return Monitor()


@pytest.fixture
def profiler(machine, monitor) -> Profiler:
    return Profiler(monitor, measure=machine.measure, clock=lambda: machine.now)


def whole_run(machine: Machine, monitor: Monitor, profiler: Profiler) -> Profile:
    machine.work(0.5, 0.25, 0.0, 60_000_000)
    monitor.begin("crawling")
    monitor.crawl = cast(Crawl, SimpleNamespace(stats=Stats(pages=1371)))
    machine.work(10.0, 2.0, 8.0, 300_000_000)
    for pairs in (3, 4):
        monitor.begin("learning words")
        monitor.begin("learning words", pairs, "page pairs")
        machine.work(1.0, 0.5, 0.5, 400_000_000)
        monitor.advance(pairs)
        monitor.begin("pairing", 1, "sites")
        monitor.advance()
        machine.work(2.0, 0.0, 2.0, 400_000_000)
    profiler.begin("reporting")
    machine.work(0.25, 0.25, 0.0, 90_000_000)
    return profiler.end(SUMMARY)


def test_costs_count_for_the_stage_that_was_running(machine, monitor, profiler) -> None:
    profile = whole_run(machine, monitor, profiler)
    found = [
        (cost.stage, cost.main, cost.workers, cost.wall, cost.peak // 10**6, cost.done, cost.unit)
        for cost in profile.costs
    ]
    assert found == [
        ("starting", 0.25, 0.0, 0.5, 60, 0, ""),
        ("crawling", 2.0, 8.0, 10.0, 300, 1371, "pages"),
        ("learning words", 1.0, 1.0, 2.0, 400, 7, "page pairs"),
        ("pairing", 0.0, 4.0, 4.0, 400, 2, "sites"),
        ("reporting", 0.25, 0.0, 0.25, 90, 0, ""),
    ]
    total = profile.total
    assert (total.cpu, total.main, total.workers) == (16.5, 3.5, 13.0)
    assert (total.wall, total.peak) == (16.75, 400_000_000)


def test_usage_of_the_running_workers_is_asked_for(machine, monitor, profiler) -> None:
    profiler.processes = lambda: [7, 8]
    monitor.begin("crawling")
    assert machine.asked == [7, 8]


def test_worker_that_is_lost_does_not_lower_the_cost(machine, monitor, profiler) -> None:
    monitor.begin("crawling")
    machine.work(1.0, 0.5, 5.0, 1)
    monitor.begin("pairing")
    machine.work(1.0, 0.5, -4.0, 1)
    assert [cost.workers for cost in profiler.end(SUMMARY).costs] == [0.0, 5.0, 0.0]


def test_table_has_a_line_for_each_stage(machine, monitor, profiler) -> None:
    lines = list(profile_lines(whole_run(machine, monitor, profiler)))
    assert lines == [
        "stage           CPU s  main  workers  wall s  peak MB  done",
        "starting         0.25  0.25     0.00    0.50       60",
        "crawling        10.00  2.00     8.00   10.00      300  1,371 pages",
        "learning words   2.00  1.00     1.00    2.00      400  7 page pairs",
        "pairing          4.00  0.00     4.00    4.00      400  2 sites",
        "reporting        0.25  0.25     0.00    0.25       90",
        "all stages      16.50  3.50    13.00   16.75      400"
        "  1,371 pages, 571 page pairs, 13,569 segments",
    ]


def test_file_has_the_figures_of_the_table(machine, monitor, profiler, tmp_path) -> None:
    profile = whole_run(machine, monitor, profiler)
    write_profile(tmp_path, profile)
    read: dict[str, Any] = tomllib.loads((tmp_path / "profile.toml").read_text("utf-8"))
    assert read == to_toml(profile)
    assert read["total"] == {
        "cpu_seconds": 16.5, "main_cpu_seconds": 3.5, "worker_cpu_seconds": 13.0,
        "wall_seconds": 16.75, "peak_megabytes": 400.0, "pages": 1371, "pairs": 571,
        "segments": 13569,
    }  # fmt: skip
    assert [each["stage"] for each in read["stages"]] == [cost.stage for cost in profile.costs]
    assert read["stages"][1]["done"] == 1371
    assert "done" not in read["stages"][0]


def test_folder_that_cannot_be_written_is_named(machine, monitor, profiler, tmp_path) -> None:
    with pytest.raises(StoreError, match="missing"):
        write_profile(tmp_path / "missing", profiler.end(SUMMARY))
