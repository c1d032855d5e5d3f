"""Progress and cancellation of runs that are started from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.api.mine import Cancel
    from diptych.api.search import Search
    from diptych.job.progress import JobMonitor
    from diptych.reports.display import Figures
    from diptych.reports.progress import Monitor, Progress

Watching = TypeVar("Watching", bound="Monitor")


@contextmanager
def watched(
    progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Iterator[Monitor]:
    """Yield a monitor that reports the progress of a run, and stops the run once `cancel` is set.

    `progress` is a function that is called with each report, or True to show a display.
    """
    from diptych.reports.display import mining_figures
    from diptych.reports.progress import Monitor

    with _shown(Monitor(), progress, cancel, mining_figures) as monitor:
        yield monitor


@contextmanager
def watched_job(
    progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Iterator[JobMonitor]:
    """Yield a monitor for a job; the arguments are the same as those of `watched`."""
    from diptych.job.progress import JobMonitor, job_figures

    with _shown(JobMonitor(), progress, cancel, job_figures) as monitor:
        yield monitor


@contextmanager
def watched_search(
    progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Iterator[Search]:
    """Yield a monitor for a search for sites; the arguments are the same as those of `watched`."""
    from diptych.api.search import Search

    search = Search()
    with _shown(search, progress, cancel, search.figures):
        yield search


@contextmanager
def _shown(
    monitor: Watching,
    progress: bool | Callable[[Progress], None],
    cancel: Cancel | None,
    figures: Figures,
) -> Iterator[Watching]:
    if cancel is not None:
        if not callable(getattr(cancel, "is_set", None)):
            raise ConfigError(f"cancel must be a threading.Event, not {cancel!r}")
        stop_when(monitor, cancel.is_set)
    if callable(progress):
        monitor.report = progress
    elif not isinstance(progress, bool):
        raise ConfigError(f"progress must be a function, True or False, not {progress!r}")
    if progress is not True:
        yield monitor
        return
    from rich.console import Console

    from diptych.reports.display import progress_display

    with progress_display(monitor, Console(stderr=True), figures):
        yield monitor


def stop_when(monitor: Monitor, is_over: Callable[[], bool]) -> None:
    """Make a monitor stop its run as soon as `is_over` returns True."""
    before = monitor.on_tick

    def look() -> None:
        before()
        if is_over():
            monitor.cancel()

    monitor.on_tick = look
