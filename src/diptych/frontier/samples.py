"""Samples of what is queued: a site ends only after URLs drawn at random brought no pair either.

The estimate of what is left rests on what was learned from pages that looked promising.  A sample
tests it, as in the stopping rules of technology-assisted review; the better a URL seems, the
likelier it is drawn, since most of what is left is known to be dead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from diptych.frontier.queries import SQL
from diptych.frontier.queue import Frontier
from diptych.run.store import Store

SIZE = 6  # URLs in a row: if two in five led to pairs, 19 of 20 samples would show it
MAX_SAMPLES = 5  # of a site: each may only seem to have changed something
_IN_BETWEEN = 8  # downloads for one of them: redirects, attempts, its translation


class Samples:
    """The URLs of each site that were drawn in a row, kept in the store."""

    def __init__(self, store: Store, frontier: Frontier) -> None:
        self._db = store.db
        self._frontier = frontier

    def draw(self, site: int, hosts: Iterable[int], downloads: int, priority: float) -> bool:
        """Raise a queued page of a site to a priority; False if the sample is complete.

        `downloads` are those of the site so far: after more than a few the crawl went on by
        itself, because of what a sample brought, and the next sample begins.
        """
        query = "SELECT drawn, samples, downloads FROM samples WHERE site = ?"
        drawn, samples, before = self._db.execute(query, (site,)).fetchone() or (SIZE, 0, -math.inf)
        if downloads > before + _IN_BETWEEN and samples < MAX_SAMPLES:
            drawn, samples = 0, samples + 1
        if drawn >= SIZE or not self._frontier.raise_any(hosts, priority):
            return False
        self._db.execute(SQL["save_sample"], (site, drawn + 1, samples, downloads))
        return True
