"""The forward crawler (FC of Barbosa et al. 2011): a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diptych.protocols import Ranking
from diptych.stages.discover.shared.following import page_links, random_order
from diptych.types import Example, Link, Page, Role


@dataclass(frozen=True, slots=True)
class Forward:
    """Follows all links of all pages, in random order."""

    looks_back: ClassVar[bool] = False
    per_site: ClassVar[int] = 0
    learns_every: ClassVar[int] = 0

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """Return all links of a page to other pages."""
        return page_links(page)

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """Return 1 if the site is bilingual, else 0."""
        return float(is_bilingual)

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Return a random ranking; the examples are ignored."""
        return random_order
