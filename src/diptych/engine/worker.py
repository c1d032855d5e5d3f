"""A worker process: runs the tasks that `workers` sends, one after the other.

Frames on its standard input and output consist of a length and a pickle.  Unpickling them is safe,
because frames are written only by the parent process and its workers, which all run this package;
data from a page is never unpickled.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from contextlib import AbstractContextManager, suppress
from queue import SimpleQueue
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    runtime_checkable,
)

from diptych.engine.limits import limited_bytes, machine_memory
from diptych.errors import (
    ArchiveError,
    DiptychError,
    is_of_machine,
    machine_advice,
    message_of,
)
from diptych.run.database import DatabaseError

if TYPE_CHECKING:
    from diptych.language.learned import LearnedLanguage

FRAME = struct.Struct("<I")
READY = FRAME.pack(0)
_MACHINE_FAULTS = (OSError, ImportError, DatabaseError, DiptychError)
"""faults of the disk, database or installation; they end a run, which can be resumed"""
_PR_SET_PDEATHSIG = 1  # see prctl(2)
_COLLECT_RARELY = (100_000, 50, 100)  # pages create no cycles; the search took 10% of the time
_WAIT_SECONDS = 0.02  # results that arrive within this time are sent together
_FIRST_MODULES = ("diptych.engine.reading", "diptych.page.read")
"""modules of the task that nearly all workers run first"""

Context = TypeVar("Context")
Context_contra = TypeVar("Context_contra", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Task(Protocol[Context_contra, Result]):
    """A task that can be sent to another process, and whose result can be sent back."""

    def run(self, context: Context_contra, /) -> Result:
        """Run the task; `context` is shared by several tasks."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """A task that may consist of several, each of which is run alone if they fail together."""

    @property
    def is_batch(self) -> bool:
        """True if the task consists of several."""
        ...


class Failed(NamedTuple):
    """The outcome of a task that failed; `kind` is the type of the error."""

    kind: str
    message: str = ""
    """the message of the error, for tasks of a job"""

    @property
    def reason(self) -> str:
        """The reason to record for the failed task."""
        return f"failed:{self.kind}"


class Fault(NamedTuple):
    """A machine fault in a worker process, such as a full disk; it ends the run."""

    message: str
    is_ours: bool
    """True if the message was written for the user, and says what to do"""
    trace: str
    is_of_machine: bool = True


class Beginning(NamedTuple):
    """The content of the first frame, which a worker needs before it can unpickle tasks."""

    path: list[str]
    """module search path"""
    languages: tuple[LearnedLanguage, ...]


class NewContext(NamedTuple, Generic[Context]):
    """A message that sets the context for all following tasks."""

    value: Context


class Order(NamedTuple):
    """A task, and the amount of memory it may use."""

    task: Task[Any, Any]
    bytes: int | None
    is_separate: bool = False
    """True if earlier results must be sent before the task begins, and its own at once"""


class _Attempt(AbstractContextManager["_Attempt"]):
    """Catches any error that a page causes in a library, so that only the current task fails."""

    failed = Failed("")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> bool:
        is_of_page = isinstance(error, ArchiveError) or not isinstance(error, _MACHINE_FAULTS)
        if not isinstance(error, Exception) or not is_of_page:
            return False
        self.failed = Failed(type(error).__name__)
        return True


def attempt(task: Task[Context, Result], context: Context) -> Result | Failed:
    """Run a task and return its result; return a `Failed` if a page causes an exception."""
    with _Attempt() as attempted:
        return task.run(context)
    return attempted.failed


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Tell the parent process that this worker is ready, then run its tasks one by one."""
    beginning: Beginning = pickle.loads(_frame(source))
    sys.path[:] = beginning.path
    if beginning.languages:
        from diptych.language.identify import use_learned_languages

        use_learned_languages(beginning.languages)
    sink.write(READY)
    sink.flush()
    frames: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(source, frames), daemon=True).start()
    context: Any = None
    answers = _Answers(sink)
    try:
        for module in _FIRST_MODULES:  # while the first task is on its way
            importlib.import_module(module)
        while True:
            message = pickle.loads(frames.get())
            if isinstance(message, NewContext):
                context = message.value
                continue
            if message.is_separate:
                answers.send()
            answers.add(_answer(message, context))
            if message.is_separate or frames.empty():
                answers.send()
            else:
                answers.send_soon()
    except Exception as error:
        answers.add(pickle.dumps(_fault(error)))
        answers.send()
        raise


class _Answers:
    """Answers that are sent together, because each message wakes the parent up."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._frames: list[bytes] = []
        self._lock = threading.Lock()
        self._is_waiting = threading.Event()
        threading.Thread(target=self._send_late, daemon=True).start()

    def add(self, answer: bytes) -> None:
        with self._lock:
            self._frames += (FRAME.pack(len(answer)), answer)

    def send(self) -> None:
        with self._lock:
            if self._frames:
                self._sink.write(b"".join(self._frames))
                self._sink.flush()
                self._frames.clear()

    def send_soon(self) -> None:
        """Send the answers within `_WAIT_SECONDS`, even if the next task takes longer."""
        self._is_waiting.set()

    def _send_late(self) -> None:
        while self._is_waiting.wait():
            self._is_waiting.clear()
            time.sleep(_WAIT_SECONDS)
            with suppress(MemoryError):  # the task uses it up; answers are sent after it
                self.send()


def _answer(order: Order, context: Any) -> bytes:
    """Run a task and return its pickled result, or a pickled `Failed` if an error occurs."""
    _limit_memory(order.bytes)
    try:
        with _Attempt() as attempted:
            return pickle.dumps(attempt(order.task, context), pickle.HIGHEST_PROTOCOL)
        return pickle.dumps(attempted.failed)
    finally:
        _limit_memory(None)


def _fault(error: Exception) -> Fault:
    if isinstance(error, DiptychError):
        return Fault(message_of(error), True, traceback.format_exc(), is_of_machine(error))
    advice = machine_advice(error)
    message = "; ".join(filter(None, [f"{type(error).__name__}: {error}", advice]))
    return Fault(message, False, traceback.format_exc(), not isinstance(error, ImportError))


def _limit_memory(limit: int | None) -> None:
    """Limit the memory of this process to `limit` bytes, if the system supports that."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = resource.RLIM_INFINITY
    if limit is not None:
        wanted = limited_bytes(limit, machine_memory())
    if most != resource.RLIM_INFINITY:
        wanted = most if wanted == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))


def _receive(source: BinaryIO, frames: SimpleQueue[bytes]) -> None:
    """Receive frames; end this process when its parent ends, even in the middle of a task.

    This process also ends if a frame does not fit in memory; the parent then starts another one.
    """
    try:
        while body := _frame(source):
            frames.put(body)
    finally:
        os._exit(0)


def _frame(source: BinaryIO) -> bytes:
    """Read the body of the next frame; empty at the end of the input."""
    head = source.read(FRAME.size)
    body = source.read(FRAME.unpack(head)[0]) if len(head) == FRAME.size else b""
    return body


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for the parent; other output goes to standard error."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return source, sink


def _end_with_parent() -> None:
    """Make the system kill this process when its parent ends, even if a task blocks all threads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def serve() -> None:
    """Run a worker process until its parent ends."""
    _end_with_parent()
    gc.set_threshold(*_COLLECT_RARELY)
    sys.excepthook = lambda *_: None  # the parent reports the error
    try:
        main(*_own_streams())
    except (BrokenPipeError, EOFError):  # the parent was killed: nobody is left to notify
        os._exit(0)


if __name__ == "__main__":
    # Use the module by its full name, because the parent's pickles refer to that name.
    from diptych.engine import worker

    worker.serve()
