"""The recent load of the workers, which determines when another worker is started."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Load:
    """The share of time that the workers are busy, as an exponentially weighted average.

    `seconds` is the time constant of the average.

    >>> load = Load(seconds=1.0)
    >>> [round(load.note(now, is_busy=True), 2) for now in (10.0, 10.5, 11.0, 12.0)]
    [0.0, 0.39, 0.63, 0.86]
    """

    seconds: float
    share: float = 0.0
    _since: float = 0.0
    _is_busy: bool = False

    def note(self, now: float, *, is_busy: bool) -> float:
        """Record whether the workers are busy from now on, and return the share of busy time."""
        kept = math.exp((self._since - now) / self.seconds)
        self.share = kept * self.share + (1 - kept) * self._is_busy
        self._since, self._is_busy = now, is_busy
        return self.share
