"""Tasks of jobs for tests; they are in a module, so that other processes can import them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diptych.engine.job_tasks import tick_of_task


@dataclass(frozen=True)
class Count:
    """Returns a number, and notes in a file that it ran."""

    name: str
    pages: int
    notes: Path
    attempt: int = 1
    signature: str = ""

    def run(self) -> Mapping[str, Any]:
        with (self.notes / self.name).open("a") as stream:
            stream.write(f"{self.attempt}\n")
        return {"pages": self.pages, "pid": os.getpid(), "seconds": 0.5, "host": "h"}


@dataclass(frozen=True)
class Unlucky:
    """Ends badly in its first attempts, then returns the number of the attempt."""

    name: str
    how: str
    attempts: int
    """number of attempts that fail"""
    attempt: int = 1
    signature: str = ""

    def run(self) -> Mapping[str, Any]:
        if self.attempt <= self.attempts:
            match self.how:
                case "raise":
                    raise OSError("the disk is full")
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "crash":
                    os.abort()
                case "hang":
                    time.sleep(600)
        return {"pages": self.attempt}


@dataclass(frozen=True)
class Held:
    """Returns how often it ran; from its second run on, it waits for a file `go` first."""

    name: str
    folder: Path
    attempt: int = 1
    signature: str = ""

    def run(self) -> Mapping[str, Any]:
        notes = self.folder / f"{self.name}.runs"
        with notes.open("a") as stream:
            stream.write("run\n")
        count = len(notes.read_text().splitlines())
        (self.folder / f"{self.name}.worker").write_text(str(os.getppid()))
        while count > 1 and not (self.folder / "go").exists():
            time.sleep(0.05)
        return {"run": count}


@dataclass(frozen=True)
class Ticking:
    """Lets the driver act some thousand times."""

    name: str
    attempt: int = 1
    signature: str = ""

    def run(self) -> Mapping[str, Any]:
        for _ in range(10_000):
            tick_of_task()
        return {}


def ran(notes: Path) -> dict[str, list[int]]:
    """The attempts of each `Count` that ran."""
    return {path.name: [*map(int, path.read_text().split())] for path in notes.iterdir()}
