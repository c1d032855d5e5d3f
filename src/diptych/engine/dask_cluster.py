"""Run the tasks of a job on a Dask cluster: on this machine, at an address, or from a job queue.

A worker of Dask runs each task in a child process (`dask_worker`), so a task that crashes does not
end the worker.  Dask itself moves the tasks of a lost worker to others.  If the scheduler is lost,
the executor waits for it, or starts it again, and submits the unfinished tasks anew.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from diptych._version import VERSION
from diptych.engine.job_tasks import TICK_SECONDS, JobTask, Outcome, message_of
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed
from diptych.errors import ConfigError, DiptychError, in_one_line
from diptych.files import read_file, reading
from diptych.learn.libraries import library

_WINDOW = 1000  # tasks that the scheduler knows at a time
_FIRST_PATIENCE = 30.0  # seconds to wait for a scheduler that has not answered yet
_PATIENCE = 600.0  # seconds to wait for a scheduler that was lost
_CONNECT_SECONDS = 3.0
_RESULT_SECONDS = 60.0  # to receive the result of a finished task, which is a few numbers
_MAX_MISSED = 5  # failures to receive a result before the attempt counts as failed
_CHECK_SECONDS = 1.0  # between two checks of the connection
_MAX_BYTES = 1 << 20  # of a description of a cluster
_BASE = "JobQueueCluster"  # the base class of all queues
_KEYS = {"cluster", "jobs", "minimum_jobs", "options"}


class Place(Protocol):
    """Where the scheduler of a cluster is."""

    def connect(self) -> Any:
        """A client of the scheduler, which is started if it is ours; may raise `OSError`."""
        ...

    def close(self) -> None:
        """End the scheduler and the workers, if they are ours."""
        ...

    def __str__(self) -> str: ...


def dask_place(name: str, count: Callable[[], int]) -> Place:
    """The place that `local:N`, an address, or the name of a TOML file denotes."""
    library("distributed", "a Dask cluster")
    if name.startswith("local"):
        return LocalPlace(count())
    if name.startswith(("tcp://", "tls://")):
        return Address(name)
    return read_job_queue(Path(name))


@dataclass
class LocalPlace:
    """A Dask cluster on this machine, with one task at a time in each worker."""

    workers: int
    _cluster: Any = None

    def connect(self) -> Any:
        """Start a cluster, and connect to it."""
        from distributed import LocalCluster

        self.close()
        # Without limits of Dask: tasks run in child processes, which have limits of their own.
        self._cluster = LocalCluster(
            n_workers=self.workers, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None, memory_limit=0, silence_logs=logging.CRITICAL,
        )  # fmt: skip
        return self._cluster.get_client()

    def close(self) -> None:
        """End the cluster."""
        if self._cluster is not None:
            with suppress(OSError, RuntimeError, TimeoutError):
                self._cluster.close(timeout=10)
            self._cluster = None

    def __str__(self) -> str:
        return f"local:{self.workers}"


@dataclass(frozen=True)
class Address:
    """A scheduler that somebody else has started."""

    url: str

    def connect(self) -> Any:
        """Connect to the scheduler."""
        from distributed import Client

        return Client(self.url, timeout=_CONNECT_SECONDS, set_as_default=False)

    def close(self) -> None:
        """Leave the scheduler as it is."""

    def __str__(self) -> str:
        return self.url


@dataclass
class JobQueue:
    """A cluster whose workers are jobs of a batch system, such as Slurm (dask-jobqueue)."""

    file: Path
    kind: str
    jobs: int
    minimum_jobs: int | None
    options: Mapping[str, Any]
    _cluster: Any = None

    def connect(self) -> Any:
        """Start a scheduler here, and submit the jobs that run the workers."""
        from distributed import Client

        self.close()
        with reading(self.file, "description of a job queue"):
            self._cluster = _queue_classes()[self.kind](**self.options)
        if self.minimum_jobs is None:
            self._cluster.scale(jobs=self.jobs)
        else:
            self._cluster.adapt(minimum_jobs=self.minimum_jobs, maximum_jobs=self.jobs)
        return Client(self._cluster, timeout=_CONNECT_SECONDS, set_as_default=False)

    def close(self) -> None:
        """End the scheduler, and remove the jobs from the queue."""
        if self._cluster is not None:
            with suppress(OSError, RuntimeError, TimeoutError):
                self._cluster.close(timeout=30)
            self._cluster = None

    def __str__(self) -> str:
        return str(self.file)


def _queue_classes() -> dict[str, Any]:
    """The classes of dask-jobqueue by name; its queue on this machine is for tests."""
    with _unchanged_interrupt():
        module = library("dask_jobqueue", "a job queue")
        local = library("dask_jobqueue.local", "a job queue")
    names = (name for name in vars(module) if name.endswith("Cluster") and name != _BASE)
    return {**{name: getattr(module, name) for name in names}, "LocalCluster": local.LocalCluster}


@contextmanager
def _unchanged_interrupt() -> Iterator[None]:
    """Keep what Ctrl-C does: dask-jobqueue replaces it, when it is imported, by a silent exit."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)


def read_job_queue(file: Path) -> JobQueue:
    """Read the description of a job queue; raises `ConfigError` if it is invalid."""
    known = sorted(_queue_classes())
    with reading(file, "description of a job queue", "see docs/scale.md"):
        raw = tomllib.loads(read_file(file, _MAX_BYTES).decode("utf-8"))
    if unknown := sorted(set(raw) - _KEYS):
        raise ConfigError(
            f"{file} has the unknown key '{in_one_line(unknown[0])}'; keys are"
            f" {', '.join(sorted(_KEYS))}"
        )
    kind, jobs, least = raw.get("cluster"), raw.get("jobs", 1), raw.get("minimum_jobs")
    if kind not in known:
        raise ConfigError(f"{file}: cluster must be one of {', '.join(known)}")
    for key, value in (("jobs", jobs), ("minimum_jobs", 0 if least is None else least)):
        if type(value) is not int or value < 0:
            raise ConfigError(f"{file}: {key} must be a whole number")
    options = raw.get("options", {})
    if not isinstance(options, dict):
        raise ConfigError(f"{file}: [options] must be a table of options of {kind}")
    return JobQueue(file, kind, jobs, least, options)


@dataclass
class DaskExecutor:
    """Runs tasks on a Dask cluster; waits for a lost scheduler with limited patience."""

    place: Place
    logs: Path
    limits: TaskLimits
    patience: float = _PATIENCE
    first_patience: float = _FIRST_PATIENCE
    _client: Any = None
    _open: dict[str, JobTask] = field(default_factory=dict)
    """unfinished tasks by key"""
    _futures: dict[str, Any] = field(default_factory=dict)
    _missed: Counter[str] = field(default_factory=Counter)
    """number of failures to receive the result of a finished task, by key"""
    _checked_at: float = 0.0

    def run(self, tasks: Iterable[JobTask], *, tick: Callable[[], None]) -> Iterator[Outcome]:
        """Yield the outcome of each task, in the order in which they finish."""
        rest = iter(tasks)
        if self._client is None:
            self._connect(tick, self.first_patience)
        try:
            while True:
                for task in islice(rest, _WINDOW - len(self._open)):
                    self._submit(task)
                if not self._open:
                    break
                tick()
                # Looked at again and again: Dask reports a result once, even if it is lost later.
                ended = [each for each in self._futures.values() if each.done()]
                for future in ended:
                    yield from self._outcome(future)
                if not ended:
                    time.sleep(TICK_SECONDS)
                self._keep_connected(tick)
        finally:
            self._forget()

    def _submit(self, task: JobTask) -> None:
        """Submit a task under a key that is the same if another driver submits it again."""
        from diptych.engine.dask_worker import run_apart

        logs = str(self.logs.resolve())
        digest = blake2b(f"{logs} {task.signature}".encode(), digest_size=8).hexdigest()
        key = f"diptych-{task.name}-{task.attempt}-{digest}"
        self._open[key] = task
        self._futures[key] = self._client.submit(
            run_apart, VERSION, task, logs, self.limits, key=key, pure=False
        )

    def _outcome(self, future: Any) -> Iterator[Outcome]:
        """The outcome of a finished task; none if its result was lost, so that Dask runs it again.

        A result that never arrives makes the attempt fail.
        """
        if future.cancelled():
            return  # lost with the scheduler
        found = _result_of(future)
        if found is None:
            self._missed[future.key] += 1
            if self._missed[future.key] < _MAX_MISSED:
                return
            said = f"Dask lost the result {_MAX_MISSED} times; run the same command again"
            found = Failed("ResultLost", said)
        del self._futures[future.key], self._missed[future.key]
        future.release()
        yield Outcome(self._open.pop(future.key), found)

    def _keep_connected(self, tick: Callable[[], None]) -> None:
        """If the scheduler was lost, connect again and submit the unfinished tasks anew."""
        now = time.monotonic()
        if now - self._checked_at < _CHECK_SECONDS:
            return
        self._checked_at = now
        is_lost = any(future.cancelled() for future in self._futures.values())
        if not is_lost and self._client.status == "running":
            return
        tasks = list(self._open.values())
        self._forget()
        self._close_client()
        self._connect(tick, self.patience)
        for task in tasks:
            self._submit(task)

    def _connect(self, tick: Callable[[], None], patience: float) -> None:
        deadline = time.monotonic() + patience
        while self._client is None:
            tick()
            try:
                self._client = self.place.connect()
            except (OSError, TimeoutError) as error:
                if time.monotonic() >= deadline:
                    raise DiptychError(
                        f"no Dask scheduler answers at {self.place}: {message_of(error)}; start"
                        " one with 'dask scheduler', then run the same command again"
                    ) from error
                time.sleep(TICK_SECONDS)

    def _forget(self) -> None:
        """Release all tasks; the scheduler cancels those that no driver waits for."""
        for future in self._futures.values():
            with suppress(OSError, RuntimeError, TimeoutError):
                future.release()
        self._futures.clear()
        self._missed.clear()
        self._open.clear()

    def _close_client(self) -> None:
        if self._client is not None:
            with suppress(OSError, RuntimeError, TimeoutError):
                self._client.close(timeout=_CONNECT_SECONDS)
            self._client = None

    def __enter__(self) -> DaskExecutor:
        return self

    def __exit__(self, *error: object) -> None:
        self._close_client()
        self.place.close()


def _result_of(future: Any) -> Mapping[str, Any] | Failed | None:
    """The result of a task; None if it was lost on the way, so that Dask computes it again."""
    from concurrent.futures import CancelledError

    try:
        error = future.exception(timeout=_RESULT_SECONDS)
        if error is not None:
            return Failed(type(error).__name__, message_of(error))
        found: Mapping[str, Any] | Failed = future.result(timeout=_RESULT_SECONDS)
        return found
    except (OSError, TimeoutError, CancelledError, RuntimeError):
        return None
