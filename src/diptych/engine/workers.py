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
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

from diptych.engine.event_loop import EventLoopThread
from diptych.engine.jobs import ALONE, Job, Shared, Worker
from diptych.engine.limits import PAIR_LIMITS, TaskLimits
from diptych.engine.load import Load
from diptych.engine.waiting import is_done
from diptych.engine.worker import (
    FRAME,
    READY,
    Beginning,
    Failed,
    Fault,
    Task,
    attempt,
)
from diptych.engine.worker_process import bury, error_of, frame_of, kill, loaded, start_process
from diptych.errors import DiptychError
from diptych.language.identify import learned_languages

__all__ = ["ALONE", "Shared", "Workers", "result_of"]

Context = TypeVar("Context")
Result = TypeVar("Result")
Value = TypeVar("Value")

_START_SECONDS = 1.0  # to start a process and load its models, on a busy machine
_USUAL_SECONDS = 0.02  # assumed for a type of task that has not run yet
_NEW_WEIGHT = 0.1  # weight of the latest task in the average time of its type
_BRIEF_SECONDS = 0.05  # tasks are queued in a worker if those before them usually take less time
_MAX_QUEUE = 16  # maximum number of tasks in a worker
_TASKS_AHEAD = 16  # tasks per worker that are started before the first result is yielded
_MANY_PAGES = 4  # with this many waiting pages, the network is faster than the workers
_LOAD_SECONDS = 0.5  # time constant of the load
_BUSY = 0.8  # share of busy time above which another worker pays off


class Workers:
    """A pool of worker processes; if `count` is 0, tasks run in this process, without limits."""

    def __init__(self, count: int) -> None:
        self.count = count
        """maximum number of processes"""
        self._thread = EventLoopThread()
        self._workers: list[Worker] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._listeners: set[asyncio.Task[None]] = set()
        self._processes: set[asyncio.subprocess.Process] = set()
        self._first: deque[Job] = deque()
        self._answers: deque[Job] = deque()
        """jobs with `is_answer`; if there are several workers, one is kept free for pages"""
        self._alarm: asyncio.TimerHandle | None = None
        self._load = Load(_LOAD_SECONDS)
        self._is_closing = False
        self._fault: DiptychError | None = None
        """a machine fault of a worker that had no task; it ends the run"""
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

    def prepare(self, tasks: int = 0) -> None:
        """Start processes in the background, because starting takes a while.

        `tasks` is the number of tasks that are known to come; one process is started at least.
        """
        if self.count:
            wanted = min(self.count, max(1, int(tasks * _USUAL_SECONDS / _START_SECONDS)))
            self._thread.loop.call_soon_threadsafe(self._start_several, wanted)

    def close(self) -> None:
        """End all processes, even busy ones."""
        if self._thread.is_started:
            try:
                self._thread.finish(self._end())
            finally:
                self._thread.close()

    # -- from other threads ------------------------------------------------------------------

    def submit(
        self, task: Task[Context, Result], shared: Shared[Context], *,
        limits: TaskLimits = PAIR_LIMITS, is_answer: bool = False, once: bool = False,
    ) -> Future[Result | Failed]:  # fmt: skip
        """Schedule a task, and return a future for its result.

        `is_answer` is True for answers to guides' questions; of several workers, one is kept free.
        With `once`, a task whose worker ends is not tried again here.
        """
        return self.submit_all([task], shared, limits=limits, is_answer=is_answer, once=once)[0]

    def submit_all(
        self, tasks: Sequence[Task[Context, Result]], shared: Shared[Context], *,
        limits: TaskLimits = PAIR_LIMITS, is_answer: bool = False, once: bool = False,
    ) -> list[Future[Result | Failed]]:  # fmt: skip
        """Schedule several tasks with one message to the thread of the pool; see `submit`."""
        if self._is_closing:
            raise RuntimeError("the workers of this run have ended")
        futures: list[Future[Result | Failed]] = [Future() for _ in tasks]
        if not self.count:
            for task, future in zip(tasks, futures, strict=True):
                future.set_result(attempt(task, shared.here))
        elif tasks:
            jobs = [
                Job(task, shared, limits, is_answer, False, future, was_tried=once)
                for task, future in zip(tasks, futures, strict=True)
            ]
            self._thread.loop.call_soon_threadsafe(self._accept, jobs)
        return futures

    def run_tasks(
        self, tasks: Iterable[Task[Context, Result]], shared: Shared[Context], *,
        tick: Callable[[], None], limits: TaskLimits = PAIR_LIMITS,
    ) -> Iterator[Result | Failed]:  # fmt: skip
        """Yield the result of each task, in order; only a few tasks are in memory at a time.

        `tick` is called often while waiting; if it raises an exception, open tasks are cancelled.
        """
        rest, most = iter(tasks), max(1, _TASKS_AHEAD * self.count)
        begun: deque[Future[Result | Failed]] = deque()
        try:
            while True:
                if len(begun) <= most // 2:  # several at once need fewer messages
                    some = [*islice(rest, most - len(begun))]
                    begun.extend(self.submit_all(some, shared, limits=limits))
                if not begun:
                    break
                result = result_of(begun[0], tick)
                begun.popleft()
                yield result
        finally:
            for future in begun:
                future.cancel()

    # -- in the thread of the pool -----------------------------------------------------------

    async def call(
        self, task: Task[Context, Result], shared: Shared[Context], *,
        limits: TaskLimits = PAIR_LIMITS, is_answer: bool = False, is_page: bool = False,
    ) -> Result | Failed:  # fmt: skip
        """Run a task in a worker, and wait for its result.

        `is_answer` has the same meaning as in `submit`.  `is_page` is True for a task that parses a
        page; if several such tasks are waiting, another worker is started, because more pages will
        arrive.
        """
        if not self.count:
            return attempt(task, shared.here)
        future = asyncio.get_running_loop().create_future()
        self._accept([Job(task, shared, limits, is_answer, is_page, future)])
        result: Result | Failed = await future
        return result

    def _accept(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            (self._answers if job.is_answer else self._first).append(job)
        if self._fault is not None:
            self._fail_waiting(self._fault)
        self._assign()

    def _assign(self) -> None:
        """Assign jobs to workers with free capacity, and start another worker if one is needed."""
        while self._first and (worker := self._least_busy()) and self._has_room(worker):
            self._give(worker, self._first.popleft())
        while self._answers and (worker := self._least_busy()):
            busy = sum(any(job.is_answer for job in each.jobs) for each in self._workers)
            if worker.jobs or busy >= max(1, len(self._workers) - 1):
                break
            self._give(worker, self._answers.popleft())
        for worker in self._workers:
            worker.send()
        are_busy = bool(self._workers) and all(worker.jobs for worker in self._workers)
        self._load.note(time.monotonic(), is_busy=are_busy)
        if self._needs_another():
            self._start_another()
        elif (self._first or self._answers) and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(_START_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._alarm = None
        self._assign()

    def _least_busy(self) -> Worker | None:
        return min(self._workers, key=lambda worker: len(worker.jobs), default=None)

    def _has_room(self, worker: Worker) -> bool:
        """True if a worker is idle, or has a few short jobs behind which another can be queued."""
        if not worker.jobs:
            return True
        return len(worker.jobs) < _MAX_QUEUE and self._expected(worker.jobs) < _BRIEF_SECONDS

    def _expected(self, jobs: Iterable[Job]) -> float:
        """The expected time for jobs; long if there was none of that type yet."""
        return sum(self._seconds.get(type(job.task), _START_SECONDS) for job in jobs)

    def _give(self, worker: Worker, job: Job) -> None:
        """Queue a job in a worker, unless nobody waits for it any more."""
        if not job.answer.done() and worker.add(job) and len(worker.jobs) == 1:
            self._begin(worker)

    def _begin(self, worker: Worker) -> None:
        """Start the timer of a worker's current job."""
        worker.since = time.monotonic()
        seconds = worker.jobs[0].limits.seconds
        if seconds is not None:
            loop = asyncio.get_running_loop()
            due = loop.time() + seconds
            worker.timer = loop.call_at(due, self._kill_late, worker, due)

    def _kill_late(self, worker: Worker, due: float) -> None:
        """Kill a worker whose job is too slow; after a suspension (Ctrl-Z), restart its timer."""
        if asyncio.get_running_loop().time() - due > _START_SECONDS:
            self._begin(worker)
            return
        worker.is_late = True
        kill(worker.process)

    def _end_job(self, worker: Worker, result: Any) -> None:
        """Deliver the result of a worker's current job."""
        job = worker.jobs.popleft()
        if worker.timer is not None:
            worker.timer.cancel()
            worker.timer = None
        kind, took = type(job.task), time.monotonic() - worker.since
        before = self._seconds.get(kind, took)
        self._seconds[kind] = before + _NEW_WEIGHT * (took - before)
        job.end(result)

    async def _listen(self, worker: Worker) -> None:
        """Receive the results of a worker until it ends; then retry or fail its current job."""
        stdout = worker.process.stdout
        assert stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await stdout.readexactly(FRAME.size)
                body = await stdout.readexactly(FRAME.unpack(head)[0])
                result = loaded(body)
                if isinstance(result, Fault) and not worker.jobs:
                    self._fault = error_of(result)
                    self._fail_waiting(self._fault)
                    break
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
        self._retry_or_fail(worker)
        await bury(worker.process)
        self._processes.discard(worker.process)
        self._assign()

    def _retry_or_fail(self, worker: Worker) -> None:
        """Queue the jobs of a worker that has ended again; fail the one that ended it, if known.

        The results of the first jobs may be lost, so it is not known at first which job was
        running.  Jobs that were tried before are run separately; batches are not tried again,
        because they will be divided.  A worker may also have been killed from outside.
        """
        is_known = worker.is_late and len(worker.jobs) == 1
        if worker.jobs and (is_known or not worker.jobs[0].can_be_tried_again):
            self._end_job(worker, Failed("TimeoutError" if worker.is_late else "ProcessEnded"))
        else:
            for job in worker.jobs:
                job.was_tried = True
        self._first.extendleft(reversed(worker.jobs))

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

    def _start_several(self, wanted: int) -> None:
        missing = wanted - len(self._workers) - len(self._starting)
        for _ in range(0 if self._is_closing else missing):
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
        self._fail_waiting(error)  # nobody is left to run them

    def _fail_waiting(self, error: BaseException) -> None:
        """Raise an exception where the results of jobs are awaited that no worker has yet."""
        for job in (*self._first, *self._answers):
            job.fail(error)
        self._first.clear()
        self._answers.clear()

    async def _start(self) -> None:
        process = await start_process()
        worker = Worker(process)
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
        for job in (*self._first, *self._answers):
            job.answer.cancel()


def result_of(future: Future[Value], tick: Callable[[], None]) -> Value:
    """Wait for the result of a future, and return it; `tick` is called often while waiting."""
    tick()
    while not is_done(future):
        tick()
    return future.result()
