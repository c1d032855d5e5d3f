"""Tasks for worker processes, which import them from here."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from diptych.language.identify import identify
from diptych.steps.tasks import Work


class Square(NamedTuple):
    """A number and the process that squared it, after a while."""

    number: int
    pause: float = 0.0

    def run(self, work: Work) -> tuple[int, int]:
        time.sleep(self.pause)
        return self.number**2, os.getpid()


class Ending(NamedTuple):
    """Ends its process."""

    def run(self, work: Work) -> tuple[int, int]:
        os._exit(7)


class Hanging(NamedTuple):
    """Never ends, unless its process is ended; or much later."""

    begun: Path | None = None
    seconds: float = 3600.0

    def run(self, work: Work) -> tuple[int, int]:
        if self.begun is not None:
            self.begun.with_suffix(f".{os.getpid()}").touch()
        time.sleep(self.seconds)
        return 0, os.getpid()


class Marking(NamedTuple):
    """Says in a folder that it was begun; the first waits until no others are."""

    folder: Path
    number: int

    def run(self, work: Work) -> int:
        (self.folder / str(self.number)).touch()
        begun = 0
        while not self.number and begun < len(list(self.folder.iterdir())):
            begun = len(list(self.folder.iterdir()))
            time.sleep(1.5)
        return begun


class Large(NamedTuple):
    """A result that does not fit into a pipe."""

    size: int

    def run(self, work: Work) -> bytes:
        return b"x" * self.size


class Known(NamedTuple):
    """What the store says, as another process opened it."""

    url: str

    def run(self, work: Work) -> tuple[str, int]:
        record = work.store.record(self.url)
        return record.lang if record else "", os.getpid()


class Raising(NamedTuple):
    """Raises what it is told to."""

    text: str
    error: type[Exception] = ValueError

    def run(self, work: Work) -> tuple[int, int]:
        raise self.error(self.text)


class Identify(NamedTuple):
    """Tells the language of a text."""

    text: str

    def run(self, work: Work) -> str:
        return identify(self.text)[0].lang
