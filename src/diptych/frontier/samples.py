"""Random samples of queued URLs, which test the estimate that enough pairs have been found.

The estimate of the remaining pairs is based on pages that looked promising.  Before the crawl of a
site ends, a random sample of its queue tests that estimate, as in the stopping rules of
technology-assisted review.  URLs with a higher priority are more likely to be drawn, because most
of the remaining URLs are known to be useless.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from diptych.frontier.queries import SQL
from diptych.frontier.queue import Frontier
from diptych.run.store import Store

SIZE = 6  # URLs in a row; if two in five led to pairs, 19 of 20 samples would show it
MAX_SAMPLES = 5  # per site, because a sample may only appear to have led to more pages
_IN_BETWEEN = 8  # downloads caused by one URL of a sample: redirects, retries, its translation


class Samples:
    """Draws random samples of queued URLs; the numbers drawn per site are kept in the store."""

    def __init__(self, store: Store, frontier: Frontier) -> None:
        self._db = store.db
        self._frontier = frontier

    def draw(self, site: int, hosts: Iterable[int], downloads: int, priority: float) -> bool:
        """Draw a random queued page of a site, and set its priority; return False if none is drawn.

        `hosts` are the ids of the site's hosts.  `downloads` is the site's number of downloads so
        far.  If it has grown by more than a few since the last draw, the sample has led to further
        pages.  In that case, a new sample is started.
        """
        query = "SELECT drawn, samples, downloads FROM samples WHERE site = ?"
        drawn, samples, before = self._db.execute(query, (site,)).fetchone() or (SIZE, 0, -math.inf)
        if downloads > before + _IN_BETWEEN and samples < MAX_SAMPLES:
            drawn, samples = 0, samples + 1
        if drawn >= SIZE or not self._frontier.raise_any(hosts, priority):
            return False
        self._db.execute(SQL["save_sample"], (site, drawn + 1, samples, downloads))
        return True
