"""Settings of the whole process, which only a command may change: signals, garbage collection."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

_EVERY = 1.0  # seconds
_NEVER = 1_000_000


class Terminated(BaseException):
    """The signal to terminate, so that whatever is open is left in order."""


@contextmanager
def on_signal(number: signal.Signals, act: Callable[[], None]) -> Iterator[bool]:
    """Have a signal do something else for a while; only the main thread of a process can.

    Gives True in the main thread: others change nothing of their process.
    """

    def handle(received: int, frame: FrameType | None) -> None:
        act()

    try:
        before = signal.signal(number, handle)
    except ValueError:  # in another thread
        yield False
        return
    try:
        yield True
    finally:
        signal.signal(number, before)


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Leave what is open in order when the process is told to terminate, then terminate.

    A process with a handler of its own keeps it.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def terminate() -> None:
        raise Terminated

    try:
        with on_signal(signal.SIGTERM, terminate):
            yield
    except Terminated:
        signal.raise_signal(signal.SIGTERM)


class BriefCollections(AbstractContextManager["BriefCollections"]):
    """While it is open, objects that survived a garbage collection are not examined again.

    The objects of sites and hosts are no garbage.  Python examines all of them again and again,
    which holds up everything else: 0.2 s at a thousand sites.  Those that become garbage later stay
    until the end: some 2 kB for each connection.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._freezes = not gc.get_freeze_count()  # else the program has frozen its own
        self._collected_at = 0.0

    def __enter__(self) -> BriefCollections:
        if self._freezes:
            gc.set_threshold(*self._usual[:2], _NEVER)
            gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        if self._freezes:
            gc.set_threshold(*self._usual)
            gc.unfreeze()

    def collect_if_due(self, now: Callable[[], float] = time.monotonic) -> None:
        """Collect garbage if the last collection was a second ago."""
        if self._freezes and now() - self._collected_at >= _EVERY:
            self._collected_at = now()
            gc.collect()
            gc.freeze()
