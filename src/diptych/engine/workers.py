"""The worker processes of a run: one pool for reading, pairing and aligning pages.

If a task fails, or takes too much time or memory, only that task is lost: its result is a `Failed`.
Processes are started on demand, up to the number that the user allows.  Another one is started if
the queued tasks would take longer than starting it.  Workers end with this process, even when it is
killed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from diptych.engine.event_loop import EventLoopThread
from diptych.engine.load import Load
from diptych.engine.waiting import is_done
from diptych.engine.worker import (
    FRAME,
    READY,
    USUAL,
    Beginning,
    Failed,
    Fault,
    NewContext,
    Order,
    Task,
    TaskLimits,
    attempt,
)
from diptych.engine.worker_process import (
    UNSENDABLE,
    bury,
    error_of,
    frame_of,
    kill,
    loaded,
    start_process,
)
from diptych.errors import DiptychError
from diptych.language.identify import learned_languages

Context = TypeVar("Context")
Result = TypeVar("Result")
Value = TypeVar("Value")

_START_SECONDS = 1.0  # to start a process and load its models, on a busy machine
_USUAL_SECONDS = 0.02  # assumed for a type of task that has not run yet
_NEW_WEIGHT = 0.1  # weight of the latest task in the average time of its type
_BRIEF_SECONDS = 0.05  # a task may be queued in a worker behind a task that usually takes less time
_TASKS_AHEAD = 8  # tasks per worker that are started before the first result is yielded
_MANY_PAGES = 4  # with this many waiting pages, the network is faster than the workers
_LOAD_SECONDS = 0.5  # time constant of the load
_BUSY = 0.8  # share of busy time above which another worker pays off


class Shared(Generic[Context]):
    """A context that many tasks share, and that is sent to each worker only once.

    `here` is the context for tasks that run in this process.
    """

    def __init__(self, context: Context, here: Context) -> None:
        self.here = here
        self._context = context

    @cached_property
    def frame(self) -> bytes:
        """The frame that sends the context to a worker."""
        return frame_of(NewContext(self._context))


ALONE: Shared[None] = Shared(None, None)
"""the context for tasks that need none"""


@dataclass(slots=True, eq=False)
class _Job:
    task: Task[Any, Any]
    shared: Shared[Any]
    limits: TaskLimits
    is_answer: bool
    is_page: bool
    answer: asyncio.Future[Any]
    was_tried: bool = False


@dataclass(slots=True, eq=False)
class _Worker:
    process: asyncio.subprocess.Process
    shared: Shared[Any] = ALONE
    jobs: deque[_Job] = field(default_factory=deque)
    """the current job, then the next ones"""
    since: float = 0.0
    timer: asyncio.TimerHandle | None = None
    is_late: bool = False


class Workers:
    """A pool of worker processes; if `count` is 0, tasks run in this process, without limits."""

    def __init__(self, count: int) -> None:
        self.count = count
        """maximum number of processes"""
        self._thread = EventLoopThread()
        self._workers: list[_Worker] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._listeners: set[asyncio.Task[None]] = set()
        self._processes: set[asyncio.subprocess.Process] = set()
        self._first: deque[_Job] = deque()
        self._answers: deque[_Job] = deque()
        """jobs with `is_answer`; if there are several workers, one is kept free for pages"""
        self._alarm: asyncio.TimerHandle | None = None
        self._load = Load(_LOAD_SECONDS)
        self._is_closing = False
        self._seconds: dict[type, float] = {}
        """the average time that each type of task takes"""
        self._beginning = Beginning(list(sys.path), learned_languages())

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def processes(self) -> list[int]:
        """The ids of the running processes."""
        return [worker.process.pid for worker in self._workers]

    def run_in_loop(self, coroutine: Coroutine[Any, Any, Value]) -> Value:
        """Run a coroutine, which may await `call`, in the pool's event loop; return its result."""
        return self._thread.run(coroutine)

    def prepare(self) -> None:
        """Start the first process in the background, because starting takes a while."""
        if self.count:
            self._thread.loop.call_soon_threadsafe(self._start_first)

    def close(self) -> None:
        """End all processes, even busy ones."""
        if self._thread.is_started:
            try:
                self._thread.run(self._end())
            finally:
                self._thread.close()

    # -- from other threads ------------------------------------------------------------------

    def submit(
        self, task: Task[Context, Result], shared: Shared[Context], *,
        limits: TaskLimits = USUAL, is_answer: bool = False,
    ) -> Future[Result | Failed]:  # fmt: skip
        """Schedule a task, and return a future for its result.

        `is_answer` is True for answers to guides' questions; of several workers, one is kept free.
        """
        if self._is_closing:
            raise RuntimeError("the workers of this run have ended")
        if not self.count:
            done: Future[Result | Failed] = Future()
            done.set_result(attempt(task, shared.here))
            return done
        called = self.call(task, shared, limits=limits, is_answer=is_answer)
        return asyncio.run_coroutine_threadsafe(called, self._thread.loop)

    def run_tasks(
        self, tasks: Iterable[Task[Context, Result]], shared: Shared[Context], *,
        tick: Callable[[], None], limits: TaskLimits = USUAL,
    ) -> Iterator[Result | Failed]:  # fmt: skip
        """Yield the result of each task, in order; only a few tasks are in memory at a time.

        `tick` is called often while waiting; if it raises an exception, open tasks are cancelled.
        """
        begun: deque[Future[Result | Failed]] = deque()
        try:
            for task in tasks:
                begun.append(self.submit(task, shared, limits=limits))
                if len(begun) >= _TASKS_AHEAD * self.count:
                    yield _result(begun, tick)
            while begun:
                yield _result(begun, tick)
        finally:
            for future in begun:
                future.cancel()

    # -- in the thread of the pool -----------------------------------------------------------

    async def call(
        self, task: Task[Context, Result], shared: Shared[Context], *,
        limits: TaskLimits = USUAL, is_answer: bool = False, is_page: bool = False,
    ) -> Result | Failed:  # fmt: skip
        """Run a task in a worker, and wait for its result.

        `is_answer` has the same meaning as in `submit`.  `is_page` is True for a task that parses a
        page; if several such tasks are waiting, another worker is started, because more pages will
        arrive.
        """
        if not self.count:
            return attempt(task, shared.here)
        future = asyncio.get_running_loop().create_future()
        job = _Job(task, shared, limits, is_answer, is_page, future)
        (self._answers if is_answer else self._first).append(job)
        self._assign()
        result: Result | Failed = await job.answer
        return result

    def _assign(self) -> None:
        """Assign jobs to workers with free capacity, and start another worker if one is needed."""
        while self._first and (worker := self._least_busy()) and self._has_room(worker):
            self._give(worker, self._first.popleft())
        while self._answers and (worker := self._least_busy()):
            busy = sum(any(job.is_answer for job in each.jobs) for each in self._workers)
            if worker.jobs or busy >= max(1, len(self._workers) - 1):
                break
            self._give(worker, self._answers.popleft())
        are_busy = bool(self._workers) and all(worker.jobs for worker in self._workers)
        self._load.note(time.monotonic(), is_busy=are_busy)
        if self._needs_another():
            self._start_another()
        elif (self._first or self._answers) and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(_START_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._alarm = None
        self._assign()

    def _least_busy(self) -> _Worker | None:
        return min(self._workers, key=lambda worker: len(worker.jobs), default=None)

    def _has_room(self, worker: _Worker) -> bool:
        """True if a worker is idle, or has one short job behind which another can be queued."""
        if not worker.jobs:
            return True
        usual = self._seconds.get(type(worker.jobs[0].task), _START_SECONDS)
        return len(worker.jobs) < 2 and usual < _BRIEF_SECONDS

    def _give(self, worker: _Worker, job: _Job) -> None:
        if job.answer.done():  # nobody waits for it any more
            return
        assert worker.process.stdin is not None
        is_new = job.shared is not worker.shared and job.shared is not ALONE
        try:
            frames = job.shared.frame if is_new else b""
            frames += frame_of(Order(job.task, job.limits.bytes))
        except UNSENDABLE as error:
            message = f"{type(job.task).__name__} cannot be sent to a worker process: {error}"
            job.answer.set_exception(DiptychError(message))
            return
        if is_new:
            worker.shared = job.shared
        with suppress(ConnectionError):  # it has just died: `_listen` will notice
            worker.process.stdin.write(frames)
        worker.jobs.append(job)
        if len(worker.jobs) == 1:
            self._begin(worker)

    def _begin(self, worker: _Worker) -> None:
        """Start the timer of a worker's current job."""
        worker.since = time.monotonic()
        seconds = worker.jobs[0].limits.seconds
        if seconds is not None:
            loop = asyncio.get_running_loop()
            due = loop.time() + seconds
            worker.timer = loop.call_at(due, self._kill_late, worker, due)

    def _kill_late(self, worker: _Worker, due: float) -> None:
        """Kill a worker whose job is too slow; after a suspension (Ctrl-Z), restart its timer."""
        if asyncio.get_running_loop().time() - due > _START_SECONDS:
            self._begin(worker)
            return
        worker.is_late = True
        kill(worker.process)

    def _end_job(self, worker: _Worker, result: Any) -> None:
        """Deliver the result of a worker's current job."""
        job = worker.jobs.popleft()
        if worker.timer is not None:
            worker.timer.cancel()
            worker.timer = None
        kind, took = type(job.task), time.monotonic() - worker.since
        before = self._seconds.get(kind, took)
        self._seconds[kind] = before + _NEW_WEIGHT * (took - before)
        if not job.answer.done():
            if isinstance(result, Fault):
                job.answer.set_exception(error_of(result))
            else:
                job.answer.set_result(result)

    async def _listen(self, worker: _Worker) -> None:
        """Receive the results of a worker until it ends; then retry or fail its current job."""
        stdout = worker.process.stdout
        assert stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await stdout.readexactly(FRAME.size)
                body = await stdout.readexactly(FRAME.unpack(head)[0])
                result = loaded(body)
                self._end_job(worker, result)
                if isinstance(result, Fault):
                    break
                if worker.jobs:
                    self._begin(worker)
                self._assign()
                await asyncio.sleep(0)  # otherwise everything buffered would be read in one turn
        self._workers.remove(worker)
        if worker.timer is not None:
            worker.timer.cancel()
        if worker.jobs and not worker.is_late and not worker.jobs[0].was_tried:
            worker.jobs[0].was_tried = True  # it may have been killed from outside
        elif worker.jobs:
            self._end_job(worker, Failed("TimeoutError" if worker.is_late else "ProcessEnded"))
        self._first.extendleft(reversed(worker.jobs))
        await bury(worker.process)
        self._processes.discard(worker.process)
        self._assign()

    # -- starting and ending -----------------------------------------------------------------

    def _needs_another(self) -> bool:
        """True if the workers are overloaded, or if starting another one is faster than waiting."""
        waiting = len(self._first) + len(self._answers)
        is_full = len(self._workers) + len(self._starting) >= self.count
        if not waiting or is_full or self._is_closing:
            return False
        if not self._workers:
            return not self._starting
        jobs, now = (*self._first, *self._answers), time.monotonic()
        work = sum(self._seconds.get(type(job.task), _USUAL_SECONDS) for job in jobs)
        # A job that has taken long will probably take as long again.
        work += sum(now - worker.since for worker in self._workers if worker.jobs)
        is_long = work > _START_SECONDS * (len(self._workers) + len(self._starting))
        is_pressed = self._load.share > _BUSY or sum(job.is_page for job in jobs) >= _MANY_PAGES
        return is_long or (is_pressed and not self._starting)

    def _start_first(self) -> None:
        if not self._workers and not self._starting and not self._is_closing:
            self._start_another()

    def _start_another(self) -> None:
        starting = asyncio.get_running_loop().create_task(self._start())
        self._starting.add(starting)
        starting.add_done_callback(self._started)

    def _started(self, starting: asyncio.Task[None]) -> None:
        self._starting.discard(starting)
        error = starting.exception()
        if error is not None and self._workers:
            self.count = len(self._workers)  # continue with the others
        if error is None or self._is_closing or self._workers:
            self._assign()
            return
        for job in (*self._first, *self._answers):  # nobody is left to run them
            if not job.answer.done():
                job.answer.set_exception(error)
        self._first.clear()
        self._answers.clear()

    async def _start(self) -> None:
        process = await start_process()
        worker = _Worker(process)
        assert process.stdin is not None
        assert process.stdout is not None
        self._processes.add(process)
        try:
            if self._is_closing:
                kill(process)
            process.stdin.write(frame_of(self._beginning))
            await process.stdout.readexactly(len(READY))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            await bury(process)
            self._processes.discard(process)
            raise DiptychError("a worker process ended before it was ready; see above") from error
        self._workers.append(worker)
        listener = asyncio.get_running_loop().create_task(self._listen(worker))
        self._listeners.add(listener)
        listener.add_done_callback(self._listeners.discard)

    async def _end(self) -> None:
        self._is_closing = True
        if self._alarm is not None:
            self._alarm.cancel()
        for process in self._processes:
            kill(process)
        await asyncio.gather(*self._starting, *self._listeners, return_exceptions=True)


def _result(begun: deque[Future[Value]], tick: Callable[[], None]) -> Value:
    """Remove the first future from `begun`, and return its result; call `tick` while waiting."""
    tick()
    while not is_done(begun[0]):
        tick()
    return begun.popleft().result()
