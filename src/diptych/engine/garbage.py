"""Tuning of the garbage collector, so that collections stay short during a crawl.

The objects of sites and hosts are no garbage.  Python examines all of them again and again, which
holds up everything else: 0.2 s at a thousand sites.
"""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager

_EVERY = 1.0  # seconds
_NEVER = 1_000_000
_RARELY = (100_000, 50, 100)  # pages make no cycles; looking for them took a tenth of all time


def collect_rarely() -> None:
    """Make collections rare in this process, which reads many pages."""
    gc.set_threshold(*_RARELY)


class BriefCollections(AbstractContextManager["BriefCollections"]):
    """While it is open, objects that survived a collection are not examined again.

    Those that become garbage later stay until the end: some 2 kB for each connection.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._collected_at = 0.0

    def __enter__(self) -> BriefCollections:
        gc.set_threshold(*self._usual[:2], _NEVER)
        gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        gc.set_threshold(*self._usual)
        gc.unfreeze()

    def collect_if_due(self, now: float) -> None:
        """Collect garbage if the last collection was a second ago."""
        if now - self._collected_at >= _EVERY:
            self._collected_at = now
            gc.collect()
            gc.freeze()
