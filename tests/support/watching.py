"""A watcher that calls functions of a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diptych.protocols import Watcher


@dataclass(slots=True)
class Watching(Watcher):
    """Calls one function with each tick, and another one to decide if a crawl stops."""

    on_tick: Callable[[], object] = lambda: None
    is_over: Callable[[], bool] = lambda: False

    def tick(self) -> None:
        self.on_tick()

    def stopped(self) -> bool:
        return self.is_over()
