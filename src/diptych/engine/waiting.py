"""Wait for tasks while calling a watcher, which updates the display and detects Ctrl-C."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import Any

from diptych.protocols import Watcher

_TICK_SECONDS = 0.1  # between two ticks while waiting for a result


def is_done(future: Future[Any]) -> bool:
    """Wait briefly for a task, and return True if it is done."""
    if future.done():
        return True
    return bool(wait([future], timeout=_TICK_SECONDS).done)


def is_awaited(future: Future[Any], watcher: Watcher) -> bool:
    """Wait for a task; return True when it is done, or False if the watcher stops the crawl."""
    while not is_done(future):
        watcher.tick()
        if watcher.stopped():
            return False
    return True
