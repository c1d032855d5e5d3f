"""The probability that a URL leads to a new page, learned from responses to similar URLs.

As in `language_guess`, the method is a decision list: the most informative feature of a link
decides.  Features are folders, extension, parameters and the linking page.  A response counts as a
failure if it is not a page, is a copy of a known page, or redirects to one.  Such a response costs
a download and yields nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

_PRIOR = 0.85  # share of links that lead to a new page, before any is counted
_PRIOR_WEIGHT = 3.0  # weight of the prior, in links
_UNTRIED = 0.5  # minimum probability for a kind of link that was never followed
_WEIGHT = 1.0  # weight of the site's share for a feature, in links


@dataclass(slots=True)
class PageChances:
    """Counts the requested URLs with each feature, and those that led to new pages."""

    trials: dict[int, int] = field(default_factory=dict)
    """feature id -> number of requested URLs"""
    pages: dict[int, float] = field(default_factory=dict)
    """feature id -> number of URLs that led to new pages"""
    fading: float = math.inf
    """number of trials of a feature after which the weight of the site's share is halved"""
    all_trials: int = 0
    all_pages: float = 0.0
    _by_feature: dict[int, tuple[float, float]] = field(default_factory=dict)
    """cache, valid until the next URL: feature id -> its probability and the difference from that
    of the whole site"""
    _by_url: dict[tuple[int, ...], float] = field(default_factory=dict)
    """the same for all features of a URL -> its probability"""

    def add(self, features: Iterable[int], share: float) -> None:
        """Count a requested URL; `share` is its degree of success, from 0 to 1."""
        self._by_feature.clear()
        self._by_url.clear()
        self.all_trials += 1
        self.all_pages += share
        for feature in features:
            self.trials[feature] = self.trials.get(feature, 0) + 1
            if share:
                self.pages[feature] = self.pages.get(feature, 0) + share

    @property
    def usual(self) -> float:
        """The smoothed share of the site's requested URLs that led to new pages."""
        return (self.all_pages + _PRIOR_WEIGHT * _PRIOR) / (self.all_trials + _PRIOR_WEIGHT)

    def chance(self, features: tuple[int, ...]) -> float:
        """The probability that a URL leads to a new page, given its most informative feature.

        A feature that all URLs have carries no information.  The first feature is the kind of the
        link; if no link of that kind was followed yet, the probability has a lower bound.

        >>> chances = PageChances()
        >>> for _ in range(9):
        ...     chances.add([1, 2], 1.0)
        ...     chances.add([1, 3], 0.0)
        >>> [round(chances.chance(each), 2) for each in ((1,), (1, 2), (1, 3))]
        [0.55, 0.96, 0.06]
        """
        known = self._by_url.get(features)
        if known is not None:
            return known
        best, furthest = self.usual, 0.0
        for feature in features:
            chance, distance = self._by_feature.get(feature) or self._by_one(feature)
            if distance > furthest:
                best, furthest = chance, distance
        if features and features[0] not in self.trials:
            best = max(best, _UNTRIED)
        self._by_url[features] = best
        return best

    def _by_one(self, feature: int) -> tuple[float, float]:
        """The probability given one feature, and its distance in log odds from the site's share."""
        usual, trials = self.usual, self.trials.get(feature, 0)
        found = usual, 0.0
        if 0 < trials < self.all_trials:
            prior = _WEIGHT * usual / (1 + trials / self.fading)
            chance = (self.pages.get(feature, 0.0) + prior) / (trials + _WEIGHT)
            found = chance, abs(math.log(chance / (1 - chance) * (1 - usual) / usual))
        self._by_feature[feature] = found
        return found
