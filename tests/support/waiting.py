"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0  # seconds after which it can only be that nothing comes
PAUSE = 0.02  # seconds between two looks


def until(ready: Callable[[], object]) -> None:
    """Look again and again until something is so; how soon does not matter."""
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(PAUSE)
