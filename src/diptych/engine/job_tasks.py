"""Tasks of a job, and how the process that runs one contains its faults.

A task does not know where it runs.  A task that raises an exception becomes a `Failed`; it never
ends the job.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from diptych.engine.worker import Failed
from diptych.errors import DiptychError, StoppedError, in_one_line

TICK_SECONDS = 0.1  # between two ticks while an executor waits
_MAX_MESSAGE = 500  # characters
TICK: ContextVar[Callable[[], None] | None] = ContextVar("tick", default=None)
"""the tick of the driver, for tasks in its own process"""


class JobTask(Protocol):
    """A task of a job: a frozen dataclass of plain data that can be pickled."""

    @property
    def name(self) -> str:
        """A safe file name, unique in the job."""
        ...

    @property
    def signature(self) -> str:
        """A text that differs if the task was changed so that it must run again."""
        ...

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 1; a field, so that `dataclasses.replace` can set it."""
        ...

    def run(self) -> Mapping[str, Any]:
        """Do the work, and return counts and texts that can be written as JSON."""
        ...


class Outcome(NamedTuple):
    """The end of an attempt at a task."""

    task: JobTask
    result: Mapping[str, Any] | Failed


class Executor(Protocol):
    """Runs tasks somewhere."""

    def run(self, tasks: Iterable[JobTask], *, tick: Callable[[], None]) -> Iterator[Outcome]:
        """Yield the outcome of each task, in the order in which they finish.

        `tick` is called often while waiting; if it raises an exception, open tasks are cancelled.
        """
        ...

    def __enter__(self) -> Executor: ...

    def __exit__(self, *error: object) -> None: ...


def tick_of_task() -> None:
    """Let the driver of the job act; tasks call this often, and it does nothing in other processes.

    It raises `StoppedError` if the user has stopped the job.
    """
    if (tick := TICK.get()) is not None:
        tick()


@dataclass(frozen=True, slots=True)
class Contained:
    """A task of a job as a worker process runs it, with its standard error in a log file."""

    task: JobTask
    log: str

    def run(self, context: None) -> Mapping[str, Any] | Failed:
        """Run the task; any exception becomes a `Failed`, with its traceback in the log."""
        with _errors_in(Path(self.log)):
            return contained(self.task, Path(self.log))


def contained(task: JobTask, log: Path) -> Mapping[str, Any] | Failed:
    """Run a task; any exception but a request to stop becomes a `Failed`."""
    with _Containing(log) as found:
        return task.run()
    return found.failed


class _Containing(AbstractContextManager["_Containing"]):
    """Turns an exception into a `Failed`, and adds its traceback to a log."""

    failed = Failed("")

    def __init__(self, log: Path) -> None:
        self._log = log

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, StoppedError):
            return False
        with suppress(OSError), self._log.open("a", encoding="utf-8", errors="replace") as stream:
            traceback.print_exception(error, file=stream)
        self.failed = Failed(type(error).__name__, message_of(error))
        return True


def message_of(error: BaseException) -> str:
    """The message of an exception, as one line of limited length."""
    said = error.for_command_line() if isinstance(error, DiptychError) else str(error)
    return in_one_line(said)[:_MAX_MESSAGE]


@contextmanager
def _errors_in(log: Path) -> Iterator[None]:
    """Append standard error, and the traceback of a crash, to a file.

    The file is on the disk of the job; if it cannot be opened, the task itself says why.
    """
    try:
        stream = log.open("ab", buffering=0)
    except OSError:
        yield
        return
    before = os.dup(2)
    with stream:
        try:
            sys.stderr.flush()
            os.dup2(stream.fileno(), 2)
            faulthandler.enable(stream)
            yield
        finally:
            sys.stderr.flush()
            faulthandler.disable()
            os.dup2(before, 2)
            os.close(before)
