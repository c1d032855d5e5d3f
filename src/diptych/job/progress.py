"""The progress of a job: figures added up over its finished and running tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from diptych.job.ledger import Entry
from diptych.job.running import FIGURES, count_of, read_running
from diptych.reports.display import Figure
from diptych.reports.progress import Monitor, Progress

_READ_SECONDS = 1.0  # between two reads of the figures of running tasks


@dataclass(slots=True)
class JobMonitor(Monitor):
    """Collects and reports the progress of a job."""

    folder: Path | None = None
    """folder with the figures of running tasks"""
    failed: set[str] = field(default_factory=set)
    """names of the tasks that have failed for good"""
    _finished: Counter[str] = field(default_factory=Counter)
    _running: Counter[str] = field(default_factory=Counter)
    _open: set[str] = field(default_factory=set)
    _count: int = 0
    _read_at: float = float("-inf")

    def begin_tasks(self, stage: str, unit: str, names: Sequence[str], folder: Path) -> None:
        """Begin to run tasks; `folder` has the figures of those that are running."""
        self.folder, self._open = folder, set(names)
        self.failed.clear()
        self._finished.clear()
        self.begin(stage, len(names), unit)

    def end_task(self, entry: Entry) -> None:
        """Record a task that has finished or failed, now or in an earlier invocation."""
        self._open.discard(entry.name)
        self._read_at = float("-inf")  # its last figures while it was running no longer count
        if not entry.is_done:
            self.failed.add(entry.name)
        for name in FIGURES:
            self._finished[name] += count_of(entry.result, name)
        self.advance(1)

    def end_tasks(self) -> None:
        """Report the final figures of the tasks immediately."""
        self._read_at = float("-inf")
        self._report()

    def snapshot(self) -> Progress:
        """The current progress."""
        now = self.clock()
        if self.folder is not None and now - self._read_at >= _READ_SECONDS:
            self._read_at = now
            running = read_running(self.folder, self._open)
            self._count = len(running)
            self._running = Counter(
                {name: sum(count_of(each, name) for each in running.values()) for name in FIGURES}
            )
        counts = self._finished + self._running
        cost = counts["downloads"] / counts["pairs"] if counts["pairs"] else None
        # Named, because `dataclass(slots=True)` makes a new class, which `super()` does not know.
        return replace(
            Monitor.snapshot(self), pages=counts["pages"], downloads=counts["downloads"],
            pairs=counts["pairs"], segments=counts["segments"], downloads_per_pair=cost,
            running=self._count, failed=len(self.failed),
        )  # fmt: skip


def job_figures(progress: Progress) -> list[Figure]:
    """The figures to show for a job."""
    cost = progress.downloads_per_pair
    return [
        Figure("running", f"{progress.running:,}", 2),
        Figure("failed", f"{progress.failed:,}", 3),
        Figure("pages", f"{progress.pages:,}", 1),
        Figure("pairs", f"{progress.pairs:,}", 0),
        Figure("segments", f"{progress.segments:,}", 4),
        Figure("downloads/pair", "-" if cost is None else f"{cost:.2f}", 5),
    ]
