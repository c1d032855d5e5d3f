"""Tests the given sites and no others: the policy of `diptych detect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diptych.protocols import Ranking
from diptych.stages.discover.shared.following import first_found_first
from diptych.types import Example, Link, Page, Role


@dataclass(frozen=True, slots=True)
class SeedsOnly:
    """Tests the given sites and follows no links."""

    looks_back: ClassVar[bool] = False
    per_site: ClassVar[int] = 1
    learns_every: ClassVar[int] = 0

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """Return no links."""
        return ()

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """Return 1 if the site is bilingual, else 0."""
        return float(is_bilingual)

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Return a ranking that keeps the seeds in the given order."""
        return first_found_first
