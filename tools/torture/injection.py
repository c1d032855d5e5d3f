"""Faults at chosen places of a running command: at a line of code, a statement of SQL, or a file.

A first run of the command records the places that it passes; later runs, each in a process of its
own, have a fault at one of them.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sqlite3
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import diptych
from diptych.reports.progress import Monitor

LINE, STATEMENT, FILE = "line", "statement", "file"
_SOURCE = str(Path(diptych.__file__).parent) + os.sep
_OF_FILES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.scandir"}
"""audit events of Python about files"""


class Place(NamedTuple):
    """A place in a command: a line of code, a statement of SQL, or an operation on a file."""

    kind: str
    name: str


class _Database(sqlite3.Connection):
    """A connection that reports each statement before it is executed."""

    passed: Callable[[Place], None]

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        self.passed(Place(STATEMENT, sql))
        return super().execute(sql, *values)

    def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
        self.passed(Place(STATEMENT, sql))
        return super().executemany(sql, *values)

    def executescript(self, sql: str) -> sqlite3.Cursor:
        self.passed(Place(STATEMENT, sql))
        return super().executescript(sql)


class Watch:
    """Calls `passed` at each place that this process passes during one stage of a run.

    `stage` is the name of the stage; if it is empty, the whole command is watched.  With `only`,
    only the code with that line is watched, which hardly slows it down.
    """

    def __init__(
        self, folder: Path, stage: str, passed: Callable[[Place], None], only: Place | None = None
    ) -> None:
        self._folder = str(folder) + os.sep
        self._stage = stage
        self._is_on = not stage
        self.current = ""
        """the stage that the command is in"""
        self._passed = passed
        self._only = only
        self._names: dict[CodeType, str] = {}

    def begin(self) -> None:
        """Watch this process to its end."""
        signal.signal(signal.SIGUSR1, signal.default_int_handler)  # see `interrupt`
        self._watch_stages()
        if self._only is None or self._only.kind == LINE:
            threading.settrace(self._enter)
            sys.settrace(self._enter)
        if self._only is None or self._only.kind == STATEMENT:
            _Database.passed = staticmethod(self._pass)  # type: ignore[assignment]
            connect = sqlite3.connect
            sqlite3.connect = lambda *given, **more: connect(  # type: ignore[assignment]
                *given, **{**more, "factory": _Database}
            )
        if self._only is None or self._only.kind == FILE:
            sys.addaudithook(self._audit)

    def end(self) -> None:
        """Watch no longer."""
        self._is_on, self._stage = False, "\0"
        threading.settrace(None)  # type: ignore[arg-type]
        sys.settrace(None)

    def _watch_stages(self) -> None:
        begin = Monitor.begin

        def begun(monitor: Monitor, stage: str, *more: Any) -> None:
            self.current, self._is_on = stage, self._stage in ("", stage)
            begin(monitor, stage, *more)

        Monitor.begin = begun  # type: ignore[method-assign]

    def _pass(self, place: Place) -> None:
        if self._is_on:
            self._passed(place)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The trace function: follow the lines of the code that is watched."""
        code = frame.f_code
        name = self._names.get(code)
        if name is None:
            name = self._names[code] = self._name(code)
        return self._line if name else None

    def _name(self, code: CodeType) -> str:
        """The name of the file with a piece of code; empty if it is not watched."""
        if not code.co_filename.startswith(_SOURCE):
            return ""
        name = code.co_filename.removeprefix(_SOURCE)
        if self._only is not None:
            lines = {f"{name}:{line}" for *_, line in code.co_lines()}
            return name if self._only.name in lines else ""
        return name

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and self._is_on:
            self._passed(Place(LINE, f"{self._names[frame.f_code]}:{frame.f_lineno}"))
        return self._line

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_on and event in _OF_FILES and isinstance(arguments[0], str | Path):
            path = str(arguments[0])
            if path.startswith(self._folder):
                self._passed(Place(FILE, f"{event} {path.removeprefix(self._folder)}"))


class Recorder:
    """Counts how often a command passes each place, by stage."""

    def __init__(self, folder: Path) -> None:
        self.watch = Watch(folder, "", self)
        self.stages: defaultdict[str, Counter[Place]] = defaultdict(Counter)

    def __call__(self, place: Place) -> None:
        """Count a place that is passed."""
        self.stages[self.watch.current][place] += 1

    def places(self) -> dict[str, Counter[Place]]:
        """The places by stage; those of the whole command have the key ""."""
        whole: Counter[Place] = Counter()
        for counts in self.stages.values():
            whole.update(counts)
        return {**self.stages, "": whole}


class Injector:
    """Causes a fault when a command passes a place for the n-th time."""

    def __init__(self, place: Place, number: int, fault: Callable[[], None]) -> None:
        self._place, self._left, self._fault = place, number, fault

    def __call__(self, place: Place) -> None:
        """Cause the fault if the place has been passed often enough."""
        if place == self._place:
            self._left -= 1
            if self._left == 0:
                self._fault()


# -- faults ------------------------------------------------------------------------------------


def kill() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def terminate() -> None:
    """Ask this process to end."""
    os.kill(os.getpid(), signal.SIGTERM)


def press_ctrl_c() -> None:
    """Press Ctrl-C once."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupt() -> None:
    """Raise KeyboardInterrupt in the main thread, as a second Ctrl-C does."""
    main = threading.main_thread()
    if threading.current_thread() is main:
        raise KeyboardInterrupt
    assert main.ident is not None
    signal.pthread_kill(main.ident, signal.SIGUSR1)


def exhaust_memory() -> None:
    """Let an allocation fail."""
    raise MemoryError


def fill_database() -> None:
    """Let a statement fail as SQLite does on a full disk."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorname, error.sqlite_errorcode = "SQLITE_FULL", 13
    raise error


def fail_on_file() -> None:
    """Let an operation on a file fail."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def fill_disk(bytes: int) -> Callable[[], None]:
    """From now on, no file can grow above a size, and the write that reaches it is partial."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, resource.RLIM_INFINITY))

    return limit
