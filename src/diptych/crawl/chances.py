"""How often something paid before, kind by kind.

A kind that was seldom tried is judged by the more general kind above it, and the most general one
by what is usual elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

__all__ = ["Chances"]


@dataclass(slots=True)
class Chances:
    """Counts of what was tried and what paid.

    >>> chances = Chances(weight=2.0)
    >>> for paid in (True, True, False):
    ...     chances.tried([("fr",), ("fr", "news")])
    ...     if paid:
    ...         chances.paid([("fr",), ("fr", "news")])
    >>> round(chances.of([("fr",)], 0.5), 2), round(chances.of([("fr",), ("fr", "blog")], 0.5), 2)
    (0.6, 0.6)
    """

    weight: float
    """trials that what is more general counts for"""
    _tried: dict[Hashable, int] = field(default_factory=dict)
    _paid: dict[Hashable, int] = field(default_factory=dict)

    def tried(self, kinds: Sequence[Hashable]) -> None:
        """Something of these kinds was tried."""
        for kind in kinds:
            self._tried[kind] = self._tried.get(kind, 0) + 1

    def paid(self, kinds: Sequence[Hashable], times: int = 1) -> None:
        """Something of these kinds that was tried has paid; with -1, it has not after all."""
        for kind in kinds:
            self._paid[kind] = self._paid.get(kind, 0) + times

    def of(self, kinds: Sequence[Hashable], usual: float) -> float:
        """How likely something pays that is of these kinds, the most general first."""
        chance = usual
        for kind in kinds:
            tried = self._tried.get(kind, 0)
            if tried:
                chance = (self._paid.get(kind, 0) + self.weight * chance) / (tried + self.weight)
        return chance
