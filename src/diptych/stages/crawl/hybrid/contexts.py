"""Corrects the translation rate of a section for contexts in which fewer pages are translated.

A context summarises what is known about a page apart from its section.  In one context, the page
was found through a link that has no counterpart, although the links of the linking page were
aligned with those of that page's translation.  In another, keys predict the URL of the page's
translation, but no page links to that URL.
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
        """Count a page in a context, with the number of translations expected for it."""
        self.expected[context] = self.expected.get(context, 0.0) + expected

    def add_translation(self, context: str, right: float) -> None:
        """Count a translation in a context; it is correct with probability `right`."""
        self.found[context] = self.found.get(context, 0.0) + right

    def factor(self, context: str) -> float:
        """The smoothed ratio of found to expected translations in a context."""
        found = self.found.get(context, 0.0) + _WEIGHT * _USUAL.get(context, 1.0)
        return found / (self.expected.get(context, 0.0) + _WEIGHT)
