"""Crawling back and forth between bilingual sites and pages that link to them.

Barbosa et al. 2011: a page that links to one bilingual site often links to others.  The policy
therefore looks up the pages that link to a bilingual site (backlinks), and tests the sites that
these pages link to (forward links).  Links on forward pages and links within a site are not
followed.
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
    """Base class of policies that follow links from backlink pages to other sites."""

    # DEVIATION(barbosa): Algorithm 1 follows only links of backlink pages; a seed may itself be a
    # list of links.
    follow_seeds: bool = True
    """True if seeds are treated as backlink pages"""

    looks_back: ClassVar[bool] = True
    per_site: ClassVar[int] = 1

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """Return the links of a backlink page to other sites, and no links for other pages."""
        is_followed = role is Role.BACK or (role is Role.SEED and self.follow_seeds)
        return outgoing_links(page) if is_followed else ()

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """Return 1 if the site is bilingual, else 0."""
        return float(is_bilingual)


@dataclass(frozen=True, slots=True)
class Obfc(BackAndForth):
    """Follows backlinks of bilingual sites, and links on backlink pages, in order of discovery."""

    learns_every: ClassVar[int] = 0

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Return a ranking that keeps leads in the order of their discovery."""
        return first_found_first


@dataclass(frozen=True, slots=True)
class Cobfc(BackAndForth):
    """Follows backlinks of bilingual sites, and links on backlink pages, ranked by classifiers."""

    learns_every: int = 250
    """number of pages between the first updates of the classifiers; the paper trained once, after a
    fifth of all pages"""
    haste: float = 0.9
    """factor for the score of a backlink; below 1, because the backlink page must be fetched first,
    which takes one download for about ten links"""

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Train the backlink and forward-link classifiers, and return a ranking based on them.

        A forward link is good if its site is bilingual, and a backlink is good if the sites that
        its page links to are bilingual.  Both classifiers predict the probability that the next
        site is bilingual, so one queue replaces the two queues of the paper.
        """
        # DEVIATION(barbosa): the paper has two classes of backlinks and two queues. Here, shares
        # of bilingual sites rank both kinds in one queue: a backlink is as good as the sites its
        # page links to.
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
