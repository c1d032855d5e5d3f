"""Jobs for worker processes, and the main process's records of these processes."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Divisible, Fault, NewContext, Order, Task
from diptych.engine.worker_process import UNSENDABLE, error_of, frame_of
from diptych.errors import DiptychError

Context = TypeVar("Context")


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
class Job:
    """A task, and the future for its result."""

    task: Task[Any, Any]
    shared: Shared[Any]
    limits: TaskLimits
    is_answer: bool
    is_page: bool
    answer: asyncio.Future[Any] | Future[Any]
    was_tried: bool = False
    """True if a worker ended that may have been running this job; it is now run separately"""

    @property
    def can_be_tried_again(self) -> bool:
        """True if the job is to be queued again when its worker ends."""
        is_batch = isinstance(self.task, Divisible) and self.task.is_batch
        return not self.was_tried and not is_batch

    def end(self, result: Any) -> None:
        """Deliver the result, unless nobody waits for it any more."""
        if isinstance(result, Fault):
            self.fail(error_of(result))
        elif not self.answer.done():
            with suppress(InvalidStateError):  # it has just been cancelled in another thread
                self.answer.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Raise an exception where the result is awaited."""
        if not self.answer.done():
            with suppress(InvalidStateError):
                self.answer.set_exception(error)


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process and its jobs."""

    process: asyncio.subprocess.Process
    shared: Shared[Any] = ALONE
    jobs: deque[Job] = field(default_factory=deque)
    """the current job, then the next ones; the results of the first ones may be on their way"""
    frames: list[bytes] = field(default_factory=list)
    """messages that are not sent yet"""
    since: float = 0.0
    timer: asyncio.TimerHandle | None = None
    is_late: bool = False

    def add(self, job: Job) -> bool:
        """Add a job, and compose the messages for it; return False if it cannot be sent."""
        is_new = job.shared is not self.shared and job.shared is not ALONE
        try:
            context = [job.shared.frame] if is_new else []
            order = frame_of(Order(job.task, job.limits.bytes, job.was_tried))
        except UNSENDABLE as error:
            name = type(job.task).__name__
            job.fail(DiptychError(f"{name} cannot be sent to a worker process: {error}"))
            return False
        if is_new:
            self.shared = job.shared
        self.frames += (*context, order)
        self.jobs.append(job)
        return True

    def send(self) -> None:
        """Send all messages at once."""
        if self.frames:
            assert self.process.stdin is not None
            with suppress(ConnectionError):  # it has just died: the pool will notice
                self.process.stdin.write(b"".join(self.frames))
            self.frames.clear()
