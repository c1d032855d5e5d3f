"""Breadth-first order, as in Heritrix: the baseline of Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diptych.protocols import SiteView
from diptych.types import FOLLOWED, Page, Ranked


@dataclass(frozen=True, slots=True)
class Bfs:
    """Follows every link that may lead to a page, nearest to the seeds first."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank all links of the page, one level below the page itself."""
        priority = -float(page.record.depth + 1)
        return (Ranked(link, priority) for link in page.links if link.rel in FOLLOWED)

    def refill(self, site: SiteView) -> tuple[Ranked, ...]:
        """Return nothing: the crawl ends when all links have been followed."""
        return ()
