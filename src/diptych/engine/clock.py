"""A clock that never jumps, for waiting times and limits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def _since_boot() -> float:
    """Seconds since the system was started; time in which it was suspended counts if possible."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class SteadyClock:
    """The time of day when the clock was made, plus the seconds that have passed since.

    The clock of the system may be set forwards or backwards at any time; this one then goes on.

    >>> times = iter([50.0, 53.0])
    >>> SteadyClock(time_of_day=lambda: 1_000.0, elapsed=lambda: next(times))()
    1003.0
    """

    def __init__(
        self, time_of_day: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = _since_boot,
    ) -> None:  # fmt: skip
        self._elapsed = elapsed
        self._start = time_of_day() - elapsed()

    def __call__(self) -> float:
        """The time in seconds since 1970."""
        return self._start + self._elapsed()
