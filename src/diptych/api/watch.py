"""Progress and cancellation of a run, as users of Python ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from diptych.api.mine import Cancel
    from diptych.api.search import Search
    from diptych.reports.display import Figures
    from diptych.reports.progress import Monitor, Progress

Watching = TypeVar("Watching", bound="Monitor")


@contextmanager
def watched(
    progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Iterator[Monitor]:
    """The monitor of a run: it reports progress, and stops the run when it is cancelled."""
    from diptych.reports.display import mining_figures
    from diptych.reports.progress import Monitor

    with _shown(Monitor(), progress, cancel, mining_figures) as monitor:
        yield monitor


@contextmanager
def watched_search(
    progress: bool | Callable[[Progress], None], cancel: Cancel | None
) -> Iterator[Search]:
    """The monitor of a search for sites."""
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
    from rich.console import Console

    from diptych.reports.display import progress_display

    if cancel is not None:
        stop_when(monitor, cancel.is_set)
    if callable(progress):
        monitor.report = progress
    console = Console(stderr=True) if progress is True else None
    with progress_display(monitor, console, figures):
        yield monitor


def stop_when(monitor: Monitor, is_over: Callable[[], bool]) -> None:
    """Have a monitor stop its run in order as soon as a condition is true."""
    before = monitor.on_tick

    def look() -> None:
        before()
        if is_over():
            monitor.cancel()

    monitor.on_tick = look
