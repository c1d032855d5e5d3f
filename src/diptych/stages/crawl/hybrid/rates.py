"""Success rates by kind.

If a kind has few trials, its rate is estimated from the next more general kind; the rate of the
most general kind is estimated from a prior.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Rates:
    """Counts trials and successes by kind.

    >>> rates = Rates(weight=2.0)
    >>> for is_success in (True, True, False):
    ...     rates.add_trial([("fr",), ("fr", "news")])
    ...     if is_success:
    ...         rates.add_success([("fr",), ("fr", "news")])
    >>> round(rates.rate([("fr",)], 0.5), 2), round(rates.rate([("fr",), ("fr", "blog")], 0.5), 2)
    (0.6, 0.6)
    """

    weight: float
    """weight of the more general kind's rate, as a number of trials"""
    trials: dict[Hashable, int] = field(default_factory=dict)
    successes: dict[Hashable, float] = field(default_factory=dict)

    def add_trial(self, kinds: Sequence[Hashable]) -> None:
        """Count a trial of these kinds."""
        for kind in kinds:
            self.trials[kind] = self.trials.get(kind, 0) + 1

    def add_success(self, kinds: Sequence[Hashable], share: float = 1.0) -> None:
        """Count an earlier trial of these kinds as a success, or as a fraction of one."""
        for kind in kinds:
            self.successes[kind] = self.successes.get(kind, 0.0) + share

    def rate(self, kinds: Sequence[Hashable], prior: float) -> float:
        """The expected success rate for `kinds`, which are sorted from general to specific.

        Each kind's counts leave out the trials of the next more specific kind, so that no trial
        counts twice.
        """
        rate = prior
        below = [*kinds[1:], None]
        for kind, inner in zip(kinds, below, strict=True):
            trials = self.trials.get(kind, 0) - self.trials.get(inner, 0)
            if trials > 0:
                successes = self.successes.get(kind, 0.0) - self.successes.get(inner, 0.0)
                rate = (successes + self.weight * rate) / (trials + self.weight)
        return rate
