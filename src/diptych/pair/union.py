"""Several pairers at once, their evidence added up."""

from __future__ import annotations

from dataclasses import dataclass

from diptych.pair.langstrip import LangStrip
from diptych.pair.links import Links
from diptych.pair.settle import settle
from diptych.protocols import Pairer, SiteView
from diptych.types import PagePair

__all__ = ["Union"]


@dataclass(frozen=True, slots=True)
class Union:
    """The pairs of all pairers, settled together: what two of them say counts more."""

    pairers: tuple[Pairer, ...] = (Links(), LangStrip())
    """whose pairs are settled together"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Pairs, strongest first, with the names of all the evidence for them."""
        return settle(pair for pairer in self.pairers for pair in pairer.pair(site))
