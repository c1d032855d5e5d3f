"""Waiting for tasks, with ticks of a watcher: the display lives, and Ctrl-C is seen."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import Any

from diptych.protocols import Watcher

_TICK_SECONDS = 0.1  # between two ticks while a result is waited for


def is_done(future: Future[Any]) -> bool:
    """True if a task is done, after a moment in which it may be."""
    return bool(wait([future], timeout=_TICK_SECONDS).done)


def is_awaited(future: Future[Any], watcher: Watcher) -> bool:
    """Wait for a task; False if the crawl is stopped before it is done."""
    while not is_done(future):
        watcher.tick()
        if watcher.stopped():
            return False
    return True
