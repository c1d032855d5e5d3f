"""The profile of a run: the CPU time, duration, counts and peak memory of each stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from diptych._version import VERSION
from diptych.engine.usage import Usage, usage
from diptych.errors import StoreError
from diptych.files import replace_file

if TYPE_CHECKING:
    from diptych.reports.progress import Monitor
    from diptych.reports.summary import Summary

PROFILE = "profile.toml"
START = "starting"
_MEGABYTE = 1_000_000
_HEADER = ("stage", "CPU s", "main", "workers", "wall s", "peak MB", "done")
_TOTAL = "all stages"


@dataclass(slots=True)
class StageCost:
    """The cost of one stage; a stage that is repeated has one cost in all."""

    stage: str
    main: float = 0.0
    """CPU seconds of the main process"""
    workers: float = 0.0
    """CPU seconds of the worker processes"""
    wall: float = 0.0
    """duration in seconds"""
    peak: int = 0
    """sum of the peak memory of all processes until the end of the stage, in bytes"""
    done: int = 0
    """number of finished parts; parts of a repeated stage are counted each time"""
    unit: str = ""
    """noun for the parts, such as "page pairs"; empty if parts are not counted"""

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes."""
        return self.main + self.workers


class Profile(NamedTuple):
    """The costs of all stages of a run, in order, and the size of its results."""

    costs: tuple[StageCost, ...]
    pages: int
    pairs: int
    segments: int

    @property
    def total(self) -> StageCost:
        """The cost of all stages."""
        return StageCost(
            _TOTAL, sum(each.main for each in self.costs),
            sum(each.workers for each in self.costs), sum(each.wall for each in self.costs),
            max((each.peak for each in self.costs), default=0),
        )  # fmt: skip


@dataclass(slots=True)
class Profiler:
    """Measures the stages of a run while a monitor reports them."""

    monitor: Monitor
    processes: Callable[[], Sequence[int]] = tuple
    """returns the ids of the worker processes that are running"""
    measure: Callable[[Sequence[int]], Usage] = usage
    clock: Callable[[], float] = time.monotonic
    _costs: dict[str, StageCost] = field(default_factory=dict)
    _stage: str = START
    _since: float = 0.0
    _used: Usage = field(init=False)

    def __post_init__(self) -> None:
        self._since, self._used = self.clock(), self.measure(self.processes())
        self.monitor.on_stage = self.begin

    def begin(self, stage: str) -> None:
        """End the current stage, and begin another one or the same again."""
        now, used = self.clock(), self.measure(self.processes())
        cost = self._costs.setdefault(self._stage, StageCost(self._stage))
        cost.main += used.main - self._used.main
        cost.workers += max(0.0, used.workers - self._used.workers)  # a killed worker may be lost
        cost.wall += now - self._since
        cost.peak = max(cost.peak, used.peak)
        if self._stage == self.monitor.stage:
            self._count(cost)
        self._stage, self._since, self._used = stage, now, used

    def _count(self, cost: StageCost) -> None:
        """Add the finished parts of the current stage."""
        monitor, stats = self.monitor, self.monitor.stats()
        if cost.stage == "crawling" and stats is not None:
            cost.done, cost.unit = stats.pages, "pages"
        elif monitor.unit:
            cost.done, cost.unit = cost.done + monitor.done, monitor.unit

    def end(self, summary: Summary) -> Profile:
        """End the last stage, and return the profile."""
        self.begin("")
        costs = tuple(self._costs.values())
        return Profile(costs, summary.pages, summary.pairs, summary.segments)


def write_profile(folder: Path, profile: Profile) -> None:
    """Write a profile into the run folder; it replaces that of an earlier invocation."""
    import tomli_w

    data = tomli_w.dumps(to_toml(profile)).encode()
    replace_file(folder / PROFILE, data, error=StoreError)


def to_toml(profile: Profile) -> dict[str, Any]:
    """Return the content of `profile.toml` as a dictionary."""
    counts = {"pages": profile.pages, "pairs": profile.pairs, "segments": profile.segments}
    return {
        "diptych": VERSION,
        "total": {**_figures(profile.total), **counts},
        "stages": [
            {"stage": each.stage, **_figures(each)}
            | ({"done": each.done, "unit": each.unit} if each.unit else {})
            for each in profile.costs
        ],
    }


def _figures(cost: StageCost) -> dict[str, Any]:
    return {
        "cpu_seconds": round(cost.cpu, 3),
        "main_cpu_seconds": round(cost.main, 3),
        "worker_cpu_seconds": round(cost.workers, 3),
        "wall_seconds": round(cost.wall, 3),
        "peak_megabytes": round(cost.peak / _MEGABYTE, 1),
    }


def profile_lines(profile: Profile) -> Iterator[str]:
    """The lines of a table of the stages."""
    found = (
        (profile.pages, "pages"),
        (profile.pairs, "page pairs"),
        (profile.segments, "segments"),
    )
    results = ", ".join(f"{count:,} {unit}" for count, unit in found)
    rows = [
        _HEADER,
        *(_row(each, f"{each.done:,} {each.unit}" if each.unit else "") for each in profile.costs),
        _row(profile.total, results),
    ]
    return _columns(rows)


def _row(cost: StageCost, done: str) -> tuple[str, ...]:
    seconds = (cost.cpu, cost.main, cost.workers, cost.wall)
    return (
        cost.stage, *(f"{each:.2f}" for each in seconds), f"{cost.peak / _MEGABYTE:,.0f}", done
    )  # fmt: skip


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Align rows of cells: the first and the last column to the left, numbers to the right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *numbers, last in rows:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=False))
        yield "  ".join((first.ljust(widths[0]), *cells, last)).rstrip()
