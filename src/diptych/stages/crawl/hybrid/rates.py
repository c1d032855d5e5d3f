"""Success rates by kind, smoothed towards the rates of more general kinds.

The fewer trials a kind has, the more its rate depends on the next more general kind.  The rate of
the most general kind depends on a prior.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Rates:
    """Counts trials and successes by kind, and estimates success rates.

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
        """Count one trial for each of the kinds."""
        for kind in kinds:
            self.trials[kind] = self.trials.get(kind, 0) + 1

    def add_success(self, kinds: Sequence[Hashable], share: float = 1.0) -> None:
        """Count an earlier trial of each kind as a success, or as a fraction (`share`) of one."""
        for kind in kinds:
            self.successes[kind] = self.successes.get(kind, 0.0) + share

    def rate(self, kinds: Sequence[Hashable], prior: float) -> float:
        """The expected success rate for `kinds`, which are sorted from general to specific.

        The counts of each kind exclude the trials of the next more specific kind, so that no trial
        is counted twice.
        """
        rate, weight = prior, self.weight
        trials_of, successes_of = self.trials.get, self.successes.get
        for place, kind in enumerate(kinds, 1):
            all_trials = trials_of(kind)
            if not all_trials:
                continue
            inner = kinds[place] if place < len(kinds) else None
            trials = all_trials - trials_of(inner, 0)
            if trials > 0:
                successes = successes_of(kind, 0.0) - successes_of(inner, 0.0)
                rate = (successes + weight * rate) / (trials + weight)
        return rate
