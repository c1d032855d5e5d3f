"""Run work in a process of its own, forked from this one, which has imported everything."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from diptych.api.web import Environment
from diptych.commands import main

PATIENCE = 300.0  # seconds after which a command hangs


class Ended(NamedTuple):
    """The end of a process."""

    code: int
    """its exit code; that of a signal is negative"""
    said: str
    """what it wrote to standard output and standard error"""
    result: Any = None
    """what its work returned; None if it did not return"""
    is_hit: bool = False
    """True if it came to its fault"""


def command(arguments: Sequence[str]) -> int:
    """Run a command of Diptych in this process, without others; returns its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main(list(arguments), prog_name="diptych", obj=Environment(workers=0))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


def forked(
    work: Callable[..., Any], log: Path, *, tells_hit: bool = False, patience: float = PATIENCE
) -> Ended:
    """Run `work` in a process of its own; what it writes goes to the file `log`.

    With `tells_hit`, the exit code of the process is what `work` returns, and `work` is given a
    function to call when it comes to its fault.
    """
    if threading.active_count() > 1:
        raise RuntimeError("a process with threads cannot be forked safely")
    source, sink = os.pipe()
    process = os.fork()
    if not process:
        os.close(source)
        _child(work, log, sink, tells_hit=tells_hit)
    os.close(sink)
    data = _read(source, process, patience)
    os.close(source)
    _, status = os.waitpid(process, 0)
    said = log.read_text("utf-8", "replace")
    code = os.waitstatus_to_exitcode(status)
    if tells_hit:
        return Ended(code, said, None, bool(data))
    return Ended(code, said, pickle.loads(data) if data else None)


def _child(work: Callable[..., Any], log: Path, sink: int, *, tells_hit: bool) -> None:
    """Do the work in the new process, and end it."""
    code = 1
    try:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        if tells_hit:
            code = work(lambda: os.write(sink, b"!"))
        else:
            data = pickle.dumps(work())
            with open(sink, "wb") as stream:
                stream.write(data)
            code = 0
    except BaseException:  # noqa: BLE001 - the interpreter would print it too
        sys.settrace(None)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _read(source: int, process: int, patience: float) -> bytes:
    """Read all that a process sends; a process that hangs is killed."""
    data, deadline = b"", time.monotonic() + patience
    while True:
        ready, _, _ = select.select([source], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGQUIT)
            deadline = time.monotonic() + patience
            continue
        if not (piece := os.read(source, 1 << 20)):
            return data
        data += piece
