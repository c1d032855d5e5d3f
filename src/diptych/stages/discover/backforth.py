"""Crawling back and forth (Barbosa et al. 2011).

Bilingual sites are cited together: who links to one links to others.  So the pages that link to a
bilingual site (back links) are looked up, and the sites that these link to (forward links) are
tested; forward pages are never followed further, and links within a site are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diptych.protocols import Ranking
from diptych.stages.discover.shared.following import first_found_first, outgoing_links
from diptych.stages.discover.shared.naive_bayes import fit
from diptych.types import Example, Lead, Link, Page, Role


@dataclass(frozen=True, slots=True)
class BackAndForth:
    """The part that both policies share: the links of back-link pages out of their sites."""

    # DEVIATION(barbosa): Algorithm 1 follows the links of back-link pages only; a seed of the
    # user's may be a list of links itself.
    follow_seeds: bool = True
    """whether seeds are treated as back-link pages"""

    looks_back: ClassVar[bool] = True
    per_site: ClassVar[int] = 1

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """The links of back-link pages that lead out of their sites."""
        is_followed = role is Role.BACK or (role is Role.SEED and self.follow_seeds)
        return outgoing_links(page) if is_followed else ()

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """1 if the site is bilingual, else 0."""
        return float(is_bilingual)


@dataclass(frozen=True, slots=True)
class Obfc(BackAndForth):
    """Back links of bilingual sites and what they link to, as they come."""

    learns_every: ClassVar[int] = 0

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Links in the order in which they were found."""
        return first_found_first


@dataclass(frozen=True, slots=True)
class Cobfc(BackAndForth):
    """Back and forward links, those first that two classifiers expect most of."""

    learns_every: int = 250
    """pages between the first learning steps; the paper learned once, after a fifth of all pages"""
    haste: float = 0.9
    """what a site that is expected behind a back link counts, against one that is at hand: the
    page must be fetched first, which is one download for some ten links"""

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """By the back-link classifier and the forward-link classifier.

        A forward link is good when its site is bilingual, a back link when the sites that its page
        links to are: both say how likely the next site is a bilingual one, so that the two queues
        of the paper can be one.
        """
        # DEVIATION(barbosa): the paper has two classes of back links, and two queues. Shares of
        # bilingual sites let one order hold for both, and a page is as good as what it leads to.
        back = [each for each in examples if each.role is Role.BACK]
        forward = [each for each in examples if each.role is Role.FORWARD]
        if not back and not forward:
            return first_found_first
        of_back = fit([each.words for each in back], [each.share for each in back])
        of_forward = fit([each.words for each in forward], [each.share for each in forward])

        def ranking(leads: Sequence[Lead]) -> Sequence[float]:
            words = [lead.words for lead in leads]
            backs, forwards = of_back.probabilities(words), of_forward.probabilities(words)
            return [
                self.haste * backs[place] if lead.role is Role.BACK else forwards[place]
                for place, lead in enumerate(leads)
            ]

        return ranking
