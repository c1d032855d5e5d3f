"""Worker processes: start them, kill them, and encode the frames they exchange."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import diptych
from diptych.engine.worker import FRAME, Failed, Fault
from diptych.errors import DiptychError, MachineError, machine_advice

UNSENDABLE = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
"""exceptions that pickle raises for a value that cannot be sent to another process"""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""environment in which numpy starts no threads, which would wait actively for 0.1 s"""
# Ctrl-C in a terminal goes to a whole process group; the parent decides when to stop.
_OWN_GROUP: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}


async def start_process() -> asyncio.subprocess.Process:
    """Start a worker process that imports the same copy of this package."""
    package = str(Path(diptych.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "diptych.engine.worker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**_ONE_THREAD, **os.environ, "PYTHONPATH": path}, limit=1 << 20, **_OWN_GROUP,
        )  # fmt: skip
    except OSError as error:
        said = f"cannot start a worker process: {error}"
        raise MachineError("; ".join(filter(None, [said, machine_advice(error)]))) from error


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process if it has not ended.

    `process.kill` is not used because it may consume the exit code that the event loop waits for.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)


async def bury(process: asyncio.subprocess.Process) -> None:
    """Kill a process if it has not ended, and wait for it to end."""
    kill(process)
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()


def frame_of(message: Any) -> bytes:
    """Encode a message as a frame, which consists of a length and a pickle."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return FRAME.pack(len(body)) + body


def loaded(body: bytes) -> Any:
    """Unpickle the result of a task; return a `Failed` if that is impossible."""
    try:
        return pickle.loads(body)
    except (*UNSENDABLE, EOFError, ImportError, IndexError, MemoryError) as error:
        return Failed(type(error).__name__)


def error_of(fault: Fault) -> DiptychError:
    """The exception to raise for a machine fault in a worker."""
    message = fault.message if fault.is_ours else f"a worker process failed: {fault.message}"
    error = MachineError(message) if fault.is_of_machine else DiptychError(message)
    error.add_note(fault.trace)
    return error


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
