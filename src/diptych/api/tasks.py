"""The common parts of all tasks of jobs: digests, results, logs, and the wait for a run in use."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from diptych.api.web import Environment
from diptych.errors import StoreError, for_command_line

if TYPE_CHECKING:
    from diptych.api.mine import Mined
    from diptych.reports.progress import Monitor, Progress

Asked = TypeVar("Asked")
_NOTE_SECONDS = 2.0  # between two reports of the figures of a running task
_LOCK_SECONDS = 600.0  # to wait for another process that still mines into the run folder
_NAP_SECONDS = 0.2
_MAX_NOTES = 20  # notes kept in the ledger; all are in the log


def digest_of(*values: object) -> str:
    """A digest of values that have the same text in every process.

    >>> digest_of("a", 1) == digest_of("a", 1) != digest_of("a", 2)
    True
    """
    return blake2b(repr(values).encode(), digest_size=8).hexdigest()


def workers_of(attempt: int) -> int:
    """The number of worker processes of a task.

    The first attempt starts none, because most tasks need none; later, a page that crashes its
    process costs only itself.

    >>> workers_of(1), workers_of(2), workers_of(3)
    (0, 1, 1)
    """
    return 0 if attempt == 1 else 1


@contextmanager
def task_monitor(folder: Path, name: str, attempt: int) -> Iterator[Monitor]:
    """Yield a monitor that writes the stages of a task to its log, and its figures for the driver.

    Raises `StoreError` if this machine does not see the job.
    """
    from diptych.engine.job_tasks import tick_of_task
    from diptych.job.driver import add_to_log
    from diptych.job.folder import JobFolder, is_job
    from diptych.job.running import FIGURES, write_running
    from diptych.reports.progress import Monitor

    if not is_job(folder):
        raise StoreError(
            f"{node()} sees no job in {folder}; the folder must be on a disk that all machines"
            " share"
        )
    job, noted_at = JobFolder(folder), float("-inf")
    log = job.logs / f"{name}.log"
    add_to_log(log, f"attempt {attempt} on {node()}")

    def note(progress: Progress) -> None:
        nonlocal noted_at
        if progress.seconds - noted_at >= _NOTE_SECONDS:
            noted_at = progress.seconds
            figures = {each: getattr(progress, each) for each in FIGURES}
            write_running(job.running, name, {**figures, "stage": progress.stage, "host": node()})

    monitor = Monitor(
        report=note, on_tick=tick_of_task, on_stage=lambda stage: add_to_log(log, stage)
    )
    yield monitor
    add_to_log(log, "finished")


def wait_for_run(folder: Path, monitor: Monitor) -> None:
    """Wait while another process mines into a run folder, such as one whose driver was killed.

    Raises `StoreError` if it still does after ten minutes.
    """
    from diptych.job.folder import is_locked

    lock, deadline = folder / "run.lock", time.monotonic() + _LOCK_SECONDS
    if is_locked(lock):
        monitor.begin("waiting for another process")
    while is_locked(lock):
        if time.monotonic() >= deadline:
            raise StoreError(f"{folder} is in use by another process; wait until it finishes")
        monitor.tick()
        time.sleep(_NAP_SECONDS)


def finished(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of a task, with its duration and its machine.

    The work has its own context, because it may load languages that the user has trained.
    """
    started = time.monotonic()
    result = copy_context().run(work)
    return {**result, "host": node(), "seconds": round(time.monotonic() - started, 3)}


def logged(folder: Path, name: str, mined: Mined) -> dict[str, Any]:
    """Write all notes on a run to the log of its task; returns its figures."""
    from diptych.job.driver import add_to_log
    from diptych.job.folder import JobFolder

    for note in mined.notes:
        add_to_log(JobFolder(folder).logs / f"{name}.log", for_command_line(note))
    return result_of(mined)


def result_of(mined: Mined) -> dict[str, Any]:
    """The figures of a run as plain values."""
    summary = mined.summary
    return {
        "pages": summary.pages, "downloads": summary.downloads, "pairs": summary.pairs,
        "segments": summary.segments, "queued": summary.queued,
        "ends": sorted({end.value for _, end in summary.ends}),
        "notes": [for_command_line(note) for note in mined.notes[:_MAX_NOTES]],
        "damaged": list(mined.damaged[:_MAX_NOTES]),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunTask(ABC, Generic[Asked]):
    """A task that mines or updates one run folder of a job."""

    name: str
    job: Path
    """folder of the job, which all machines share"""
    asked: Asked
    environment: Environment = field(default_factory=Environment)
    attempt: int = 1

    def run(self) -> dict[str, Any]:
        """Do the work, and return the figures of the run."""
        return finished(self._run)

    def _run(self) -> dict[str, Any]:
        from diptych.job.folder import JobFolder

        folder = JobFolder(self.job).runs / self.name
        environment = replace(self.environment, workers=workers_of(self.attempt))
        with task_monitor(self.job, self.name, self.attempt) as monitor:
            wait_for_run(folder, monitor)
            mined = self._mine(folder, monitor, environment)
            return logged(self.job, self.name, mined) | self._more(mined)

    @abstractmethod
    def _mine(self, folder: Path, monitor: Monitor, environment: Environment) -> Mined:
        """Mine or update the run folder."""

    def _more(self, mined: Mined) -> dict[str, Any]:
        """More figures of the run."""
        return {}
