"""Process-wide settings that only commands may change: signal handlers and garbage collection."""

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
    """Raised on SIGTERM, so that open resources are closed."""


@contextmanager
def on_signal(number: signal.Signals, act: Callable[[], None]) -> Iterator[bool]:
    """A context in which `act` handles the signal `number`.

    Yield True in the main thread, and False in other threads, which cannot handle signals.
    """

    def handle(received: int, frame: FrameType | None) -> None:
        act()

    try:
        before = signal.signal(number, handle)
    except ValueError:  # not in the main thread
        yield False
        return
    try:
        yield True
    finally:
        signal.signal(number, before)


@contextmanager
def orderly_termination() -> Iterator[None]:
    """On SIGTERM, close open resources, then terminate.

    A signal handler that is already installed is kept.
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
    """A context in which objects that survive a garbage collection are not examined again.

    The objects of sites and hosts are long-lived.  With a thousand sites, each examination of all
    objects would block the program for 0.2 s.  Objects that become garbage later are kept until
    the context ends: about 2 kB per connection.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._freezes = not gc.get_freeze_count()  # if the caller froze objects, leave them alone
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
        """Collect garbage if the last collection was at least a second ago."""
        if self._freezes and now() - self._collected_at >= _EVERY:
            self._collected_at = now()
            gc.collect()
            gc.freeze()
