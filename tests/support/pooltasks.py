"""Tasks for worker processes, which import them from here."""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from pathlib import Path
from threading import Event
from typing import NamedTuple

from diptych.language.identify import identify
from diptych.steps.tasks import TaskContext


class Square(NamedTuple):
    """A number and the process that squared it."""

    number: int

    def run(self, context: TaskContext) -> tuple[int, int]:
        return self.number**2, os.getpid()


class Held(NamedTuple):
    """Squares a number, but only when another process writes to a pipe."""

    number: int
    pipe: Path

    def run(self, context: TaskContext) -> tuple[int, int]:
        self.pipe.read_bytes()
        return self.number**2, os.getpid()


class Releasing(NamedTuple):
    """Squares a number, and lets the one go on that is held by a pipe."""

    number: int
    pipe: Path

    def run(self, context: TaskContext) -> tuple[int, int]:
        self.pipe.write_bytes(b"go on")
        return self.number**2, os.getpid()


class Nap(NamedTuple):
    """Takes longer than results wait for others."""

    def run(self, context: TaskContext) -> tuple[int, int]:
        time.sleep(0.1)
        return 0, os.getpid()


class Ending(NamedTuple):
    """Ends its process."""

    def run(self, context: TaskContext) -> tuple[int, int]:
        os._exit(7)


class Brief(NamedTuple):
    """Squares a number without delay, unless it is to hang or to end its process."""

    number: int
    fault: str = ""

    def run(self, context: TaskContext) -> tuple[int, int]:
        if self.fault == "end":
            os._exit(7)
        while self.fault == "hang":
            time.sleep(1)
        return self.number**2, os.getpid()


class Several(NamedTuple):
    """Several tasks in one, which are begun together; they may end their process, or never end."""

    begun: Path
    """a letter is added for each time that the task is begun"""
    fault: str = ""

    @property
    def is_batch(self) -> bool:
        return True

    def run(self, context: TaskContext) -> list[int]:
        with self.begun.open("a") as file:
            file.write("x")
        Brief(0, self.fault).run(context)
        return [1, 4, 9]


class Hanging(NamedTuple):
    """Never ends, unless its process is ended."""

    begun: Path | None = None

    def run(self, context: TaskContext) -> tuple[int, int]:
        if self.begun is not None:
            self.begun.with_suffix(f".{os.getpid()}").touch()
        Event().wait()
        return 0, os.getpid()


class Slow(NamedTuple):
    """Takes a while."""

    def run(self, context: object) -> None:
        Event().wait(0.1)


class Stubborn(NamedTuple):
    """Never ends, and lets no other thread of its process run meanwhile."""

    begun: Path

    def run(self, context: object) -> None:
        self.begun.with_suffix(f".{os.getpid()}").touch()
        re.match(r"(a+)+$", "a" * 64 + "b")


class Once(NamedTuple):
    """Never ends the first time."""

    begun: Path

    def run(self, context: object) -> str:
        if not self.begun.exists():
            self.begun.touch()
            Event().wait()
        return "done"


class Unforeseen(Exception):
    """An exception that no list has."""


class Secret(NamedTuple):
    """Has a result that cannot be sent."""

    def run(self, context: object) -> object:
        return lambda: None


class Large(NamedTuple):
    """A result that does not fit into a pipe."""

    size: int

    def run(self, context: TaskContext) -> bytes:
        return b"x" * self.size


class Known(NamedTuple):
    """What the store says, as another process opened it."""

    url: str

    def run(self, context: TaskContext) -> tuple[str, int]:
        record = context.store.record(self.url)
        return record.lang if record else "", os.getpid()


class Raising(NamedTuple):
    """Raises what it is told to."""

    text: str
    error: type[BaseException] = ValueError

    def run(self, context: TaskContext) -> tuple[int, int]:
        raise self.error(self.text)


class Identify(NamedTuple):
    """Tells the language of a text."""

    text: str

    def run(self, context: TaskContext) -> str:
        return identify(self.text)[0].lang


class Growing(NamedTuple):
    """Takes more and more memory."""

    def run(self, context: object) -> int:
        return len([bytearray(1 << 20) for _ in range(1 << 14)])


class FullDiskError(OSError):
    """A full disk, with a message."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.ENOSPC, message)


class Allowed(NamedTuple):
    """Says how much memory it may use."""

    def run(self, context: object) -> int:
        import resource

        return resource.getrlimit(resource.RLIMIT_DATA)[0]


class Printing(NamedTuple):
    """Prints, as a library may, and reads standard input."""

    def run(self, context: object) -> str:
        sys.stdout.write("a warning\n")
        sys.stdout.flush()
        return sys.stdin.read()
