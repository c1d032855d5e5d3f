"""Breadth-first crawling, as in Heritrix: a baseline in Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diptych.protocols import SiteView
from diptych.types import FOLLOWED, Page, Ranked


@dataclass(frozen=True, slots=True)
class Bfs:
    """Follows all links that may lead to pages, in order of distance from the seeds."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank all links on the page by the depth of their targets."""
        priority = -float(page.record.depth + 1)
        return (Ranked(link, priority) for link in page.links if link.rel in FOLLOWED)

    def refill(self, site: SiteView) -> tuple[Ranked, ...]:
        """Return no links, so that the crawl ends when the queue is empty."""
        return ()
