"""Tuning of the garbage collector, so that collections stay short during a crawl.

What is remembered of sites and hosts is no garbage.  Python looks through all of it time and again,
which holds up everything else: 0.2 s at a thousand sites.
"""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager

_EVERY = 1.0  # seconds
_NEVER = 1_000_000
_RARELY = (100_000, 50, 100)  # pages make no cycles; looking for them took a tenth of all time


def collect_rarely() -> None:
    """Have this process, which reads many pages, look for garbage seldom."""
    gc.set_threshold(*_RARELY)


class BriefCollections(AbstractContextManager["BriefCollections"]):
    """While it is open, what has outlived a look is not looked through again.

    What of that becomes garbage later stays until the end: some 2 kB for each connection.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._looked = 0.0

    def __enter__(self) -> BriefCollections:
        gc.set_threshold(*self._usual[:2], _NEVER)
        gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        gc.set_threshold(*self._usual)
        gc.unfreeze()

    def look(self, now: float) -> None:
        """Collect what is garbage by now, if it is time."""
        if now - self._looked >= _EVERY:
            self._looked = now
            gc.collect()
            gc.freeze()
