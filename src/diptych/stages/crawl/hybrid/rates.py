"""How often something paid before, kind by kind.

A kind that was seldom tried is judged by the more general kind above it, and the most general one
by what is usual elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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
    _paid: dict[Hashable, float] = field(default_factory=dict)

    def tried(self, kinds: Sequence[Hashable]) -> None:
        """Something of these kinds was tried."""
        for kind in kinds:
            self._tried[kind] = self._tried.get(kind, 0) + 1

    def paid(self, kinds: Sequence[Hashable], share: float = 1.0) -> None:
        """Something of these kinds that was tried has paid, or has with such a probability."""
        for kind in kinds:
            self._paid[kind] = self._paid.get(kind, 0.0) + share

    def of(
        self, kinds: Sequence[Hashable], usual: float, less: Mapping[Hashable, float] | None = None
    ) -> float:
        """How likely something pays that is of these kinds, the most general first.

        A kind teaches the one below it what it knows from elsewhere: no trial counts twice.  Where
        `less` has a factor for a kind, so much less is expected of it than of the one above.
        """
        chance = usual
        below = [*kinds[1:], None]
        for kind, inner in zip(kinds, below, strict=True):
            chance *= less.get(kind, 1.0) if less else 1.0
            tried = self._tried.get(kind, 0) - self._tried.get(inner, 0)
            if tried > 0:
                paid = self._paid.get(kind, 0.0) - self._paid.get(inner, 0.0)
                chance = (paid + self.weight * chance) / (tried + self.weight)
        return chance
