"""Pool of worker processes for pipeline tasks, with timeouts and results in order.

The result of a task that raises is a `Failed`, in whatever process.  A worker process that dies
over a task, or takes too long, is replaced, and the result of that task is a `Failed` too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from diptych.errors import ArchiveError, DiptychError
from diptych.language.identify import learned_languages, use_learned_languages
from diptych.language.learned import LearnedLanguage

TASK_TIMEOUT = 120.0  # seconds for one task
_TASKS_AHEAD = 8  # tasks per worker that are begun before the first of them is given out
_EXIT_BY_ERROR = 1  # how Python ends after an error; a fault of the processor is a negative number
_EXIT_WAIT = 0.2  # seconds in which a process that closed its pipe has ended
# Faults that pages may cause.  Those of the machine (disk, database) end a run, which goes on then.
_FAULTS = (
    ArchiveError, ArithmeticError, AssertionError, AttributeError, EOFError, LookupError,
    MemoryError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
_MIN_TASKS = 40  # tasks: fewer are done sooner than a process is started

Context = TypeVar("Context")
Context_contra = TypeVar("Context_contra", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Task(Protocol[Context_contra, Result]):
    """A task that can be sent to another process, and its result back."""

    def run(self, context: Context_contra, /) -> Result:
        """Do it, with what all tasks of a pool are given."""
        ...


class Failed(NamedTuple):
    """A task that has no result, and the type of its fault."""

    kind: str

    @property
    def reason(self) -> str:
        """The reason that is recorded for what the task was to do."""
        return f"failed:{self.kind}"


def attempt(task: Task[Context, Result], context: Context) -> Result | Failed:
    """The result of a task; its fault costs only itself."""
    try:
        return task.run(context)
    except _FAULTS as error:
        return Failed(type(error).__name__)


def run_tasks(
    tasks: Iterable[Task[Context, Result]], context: Context, here: Context, *, jobs: int = 1
) -> Iterator[Result | Failed]:
    """The result of each task in order.

    Other processes are given a copy of `context`; tasks that are done in this one are given `here`.
    """
    todo = list(tasks)
    if jobs < 2 or len(todo) < _MIN_TASKS:
        yield from (attempt(task, here) for task in todo)
        return
    yield from Pool(context, jobs).run(todo)


@dataclass(slots=True, eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: int = -1
    since: float = 0.0


@dataclass(slots=True)
class Pool(Generic[Context]):
    """Worker processes; `run` for a list of tasks, `submit` and `collect` for what comes up."""

    context: Context
    jobs: int
    """processes; 0: what is submitted is done in this process, when results are collected"""
    patience: float = TASK_TIMEOUT
    _workers: list[_Worker] = field(default_factory=list)
    _waiting: deque[tuple[int, Task[Context, Any]]] = field(default_factory=deque)
    _submitted: int = 0

    def start(self) -> None:
        """Start all processes, before there is anything to do: that takes a while."""
        self._workers = [self._start() for _ in range(self.jobs)]

    def submit(self, task: Task[Context, Any]) -> int:
        """Have a task done some time; the number is that of its result."""
        self._submitted += 1
        self._waiting.append((self._submitted, task))
        return self._submitted

    def collect(self) -> dict[int, Any]:
        """The results that have come, by number, without waiting for any."""
        if not self.jobs:
            done, self._waiting = self._waiting, deque()
            return {number: attempt(task, self.context) for number, task in done}
        results: dict[int, Any] = {}
        if not self._workers and self._waiting:
            self.start()
        if any(worker.task >= 0 for worker in self._workers):
            self._collect(results, timeout=0.0)
        for worker in self._workers:
            if worker.task < 0 and self._waiting:
                self._give(worker, *self._waiting.popleft())
        return results

    def close(self) -> None:
        """End all processes, whatever they are at."""
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()

    def run(self, tasks: Sequence[Task[Context, Any]]) -> Iterator[Any]:
        """Results in the order of the tasks; no more than a window of them is held."""
        results: dict[int, Any] = {}
        waiting = deque(range(len(tasks)))
        given = 0
        try:
            self._workers = [self._start() for _ in range(min(self.jobs, len(tasks)))]
            while given < len(tasks):
                end = given + _TASKS_AHEAD * self.jobs
                for worker in self._workers:
                    if worker.task < 0 and waiting and waiting[0] < end:
                        self._give(worker, waiting[0], tasks[waiting.popleft()])
                self._collect(results, timeout=1.0)
                while given in results:
                    yield results.pop(given)
                    given += 1
        finally:
            self.close()

    def _give(self, worker: _Worker, number: int, task: Task[Context, Any]) -> None:
        worker.task, worker.since = number, time.monotonic()
        with suppress(OSError):  # it has just died: `_collect` will see that
            worker.pipe.send(task)

    def _collect(self, results: dict[int, Any], *, timeout: float) -> None:
        """Take in what is ready; replace workers that have died or hang."""
        ready = wait([worker.pipe for worker in self._workers], timeout=timeout)
        for place, worker in enumerate(self._workers):
            if worker.pipe in ready:
                try:
                    results[worker.task], worker.task = worker.pipe.recv(), -1
                    continue
                except (EOFError, OSError):
                    pass
            elif worker.task < 0 or time.monotonic() - worker.since < self.patience:
                continue
            worker.process.join(_EXIT_WAIT)
            if worker.process.exitcode == _EXIT_BY_ERROR:
                raise DiptychError("a worker process ended by an error; it stands above")
            if worker.task >= 0:
                is_alive = worker.pipe not in ready
                results[worker.task] = Failed("TimeoutError" if is_alive else "ProcessEnded")
            self._end(worker)
            self._workers[place] = self._start()

    def _start(self) -> _Worker:
        # Not forked: other threads of this process may hold locks.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        known = theirs, self.context, learned_languages()
        process = context.Process(target=_serve, args=known, daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _end(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()


def _serve(pipe: Connection, context: Any, languages: Sequence[LearnedLanguage]) -> None:
    """The life of a worker: do what comes, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    use_learned_languages(languages)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task: Task[Any, Any] = pipe.recv()
        except (EOFError, OSError):
            return
        result = attempt(task, context)
        with suppress(OSError):
            pipe.send(result)


def _end_with_parent() -> None:
    """End this process when its parent does, even in the middle of a task that hangs."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)
