"""A clock for tests of code that waits in an event loop."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Clock:
    """Time that passes only while something sleeps."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds

    def __call__(self) -> float:
        return self.now
