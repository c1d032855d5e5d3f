"""Factors by which pages are translated less often in some contexts than in their sections.

A context is what is known of a page beside its address: that no link of an aligned page leads to a
translation, or that nothing links to where the keys of the site predict it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_USUAL = {"unlinked_prediction": 0.5, "unaligned": 0.6}
"""factors of contexts before the site was counted; 1 for others"""
_WEIGHT = 3.0  # translations that they count for


@dataclass(slots=True)
class Contexts:
    """Translations that were found in each context, and those expected by sections alone.

    >>> contexts = Contexts()
    >>> contexts.add_page("unaligned", 0.5), contexts.add_translation("link", 1.0)
    (None, None)
    >>> round(contexts.factor("unaligned"), 2), round(contexts.factor("link"), 2)
    (0.51, 1.33)
    """

    found: dict[str, float] = field(default_factory=dict)
    expected: dict[str, float] = field(default_factory=dict)

    def add_page(self, context: str, expected: float) -> None:
        """Count a page of which so many translations are expected."""
        self.expected[context] = self.expected.get(context, 0.0) + expected

    def add_translation(self, context: str, right: float) -> None:
        """Count a page that has a translation, or has one with a probability."""
        self.found[context] = self.found.get(context, 0.0) + right

    def factor(self, context: str) -> float:
        """Translations in a context as a share of those expected."""
        found = self.found.get(context, 0.0) + _WEIGHT * _USUAL.get(context, 1.0)
        return found / (self.expected.get(context, 0.0) + _WEIGHT)
