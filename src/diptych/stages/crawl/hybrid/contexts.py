"""Factors for contexts in which pages are translated less often than the rest of their section.

A context is evidence other than the URL.  For example, a page is linked from an aligned page, but
the alignment found no counterpart for it; or nothing links to the URL that the site's keys predict.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_USUAL = {"unlinked_prediction": 0.5, "unaligned": 0.6}
"""factor of each context before any page of the site is counted; 1 for contexts not listed"""
_WEIGHT = 3.0  # weight of these factors, in translations


@dataclass(slots=True)
class Contexts:
    """Counts the translations found in each context, and those expected from the section alone.

    >>> contexts = Contexts()
    >>> contexts.add_page("unaligned", 0.5), contexts.add_translation("link", 1.0)
    (None, None)
    >>> round(contexts.factor("unaligned"), 2), round(contexts.factor("link"), 2)
    (0.51, 1.33)
    """

    found: dict[str, float] = field(default_factory=dict)
    expected: dict[str, float] = field(default_factory=dict)

    def add_page(self, context: str, expected: float) -> None:
        """Add the number of translations expected for a page."""
        self.expected[context] = self.expected.get(context, 0.0) + expected

    def add_translation(self, context: str, right: float) -> None:
        """Count a page whose translation is correct with probability `right`."""
        self.found[context] = self.found.get(context, 0.0) + right

    def factor(self, context: str) -> float:
        """The smoothed ratio of found to expected translations in a context."""
        found = self.found.get(context, 0.0) + _WEIGHT * _USUAL.get(context, 1.0)
        return found / (self.expected.get(context, 0.0) + _WEIGHT)
