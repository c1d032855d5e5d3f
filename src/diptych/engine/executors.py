"""Executors: run the tasks of a job in this process, in a pool of processes, or on a Dask cluster.

A task that raises an exception, crashes its process or exceeds its limits becomes a `Failed`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from diptych.engine.job_tasks import (
    TICK,
    TICK_SECONDS,
    Contained,
    Executor,
    JobTask,
    Outcome,
    contained,
)
from diptych.engine.jobs import ALONE
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed
from diptych.engine.worker_process import processors
from diptych.engine.workers import Workers
from diptych.errors import ConfigError, StoppedError, in_one_line, option_name

HERE = "here"
UNLIMITED = TaskLimits(None, None)
MAX_PROCESSES = 1024
_STARTED_BY_PREPARE = 50  # tasks for which `Workers.prepare` starts one process


def executor_of(name: str, *, logs: Path, limits: TaskLimits = UNLIMITED) -> Executor:
    """The executor that `--cluster` names; raises `ConfigError` for an unknown name.

    `logs` is the folder for the standard error of tasks in other processes; `limits` apply to each
    task.
    """
    kind, _, rest = name.partition(":")
    if name == HERE:
        return Here(logs, limits)
    if kind == "pool":
        return Pool(_count(rest, name), logs, limits)
    if kind == "local" or kind in ("tcp", "tls") or name.endswith(".toml"):
        from diptych.engine.dask_cluster import DaskExecutor, dask_place

        return DaskExecutor(dask_place(name, lambda: _count(rest, name)), logs, limits)
    raise ConfigError(
        f"{option_name('cluster')} '{in_one_line(name)}' is unknown; use here, pool:N, local:N,"
        " tcp://HOST:PORT or FILE.toml"
    )


def _count(text: str, name: str) -> int:
    """The number of processes in the name of an executor; one per processor if there is none.

    >>> _count("4", "pool:4"), _count("", "pool") >= 1
    (4, True)
    """
    if not text:
        return processors()
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PROCESSES:
        raise ConfigError(
            f"{option_name('cluster')} '{in_one_line(name)}' needs a number of processes from 1 to"
            f" {MAX_PROCESSES}, such as {name.partition(':')[0]}:4"
        )
    return int(text)


@dataclass(frozen=True)
class Here:
    """Runs one task after the other in this process; a task that takes too long ends at a tick."""

    logs: Path
    limits: TaskLimits

    def run(self, tasks: Iterable[JobTask], *, tick: Callable[[], None]) -> Iterator[Outcome]:
        """Yield the outcome of each task, in order."""
        for task in tasks:
            tick()
            yield Outcome(task, self._outcome(task, tick))

    def _outcome(self, task: JobTask, tick: Callable[[], None]) -> Mapping[str, Any] | Failed:
        """The outcome of a task; one that takes too long is stopped at a tick, as by the user."""
        seconds = self.limits.seconds
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        is_late = False

        def limited() -> None:
            nonlocal is_late
            tick()
            if time.monotonic() > deadline:
                is_late = True
                raise StoppedError

        before = TICK.set(limited)
        try:
            return contained(task, self.logs / f"{task.name}.log")
        except StoppedError:
            if is_late:
                return Failed("TimeoutError")
            raise
        finally:
            TICK.reset(before)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *error: object) -> None:
        pass


@dataclass
class Pool:
    """Runs tasks in processes of this machine, each with limits."""

    count: int
    logs: Path
    limits: TaskLimits
    _workers: Workers | None = None

    def run(self, tasks: Iterable[JobTask], *, tick: Callable[[], None]) -> Iterator[Outcome]:
        """Yield the outcome of each task, in the order in which they finish."""
        assert self._workers is not None
        rest = iter(tasks)
        begun: dict[Future[Any], JobTask] = {}
        try:
            while True:
                for task in islice(rest, 2 * self.count - len(begun)):
                    begun[self._submit(self._workers, task)] = task
                if not begun:
                    break
                done = wait(begun, TICK_SECONDS, FIRST_COMPLETED).done
                tick()
                for future in done:
                    yield Outcome(begun.pop(future), future.result())
        finally:
            for future in begun:
                future.cancel()

    def _submit(self, workers: Workers, task: JobTask) -> Future[Any]:
        log = str(self.logs / f"{task.name}.log")
        return workers.submit(Contained(task, log), ALONE, limits=self.limits, once=True)

    def __enter__(self) -> Pool:
        self._workers = Workers(self.count)
        self._workers.prepare(_STARTED_BY_PREPARE * self.count)
        return self

    def __exit__(self, *error: object) -> None:
        if self._workers is not None:
            self._workers.close()
