"""Estimates the value of a page's links before the page is fetched.

Only links to URLs that are not known yet have a value.  The estimate is learned from pages in the
same section: each page is credited with the value of the URLs that it was the first to link to.
Yields fall as more of the site becomes known, so a factor tracks the actual yield of recent pages
relative to the expected yield.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from diptych.stages.crawl.hybrid.rates import Rates
from diptych.types import Url

_PRIOR_LINKS = 2.0  # new URLs per page before any page is counted
_PRIOR_WORTH = 0.4  # pairs that they lead to
_MOST = 0.6  # upper limit: a pair that is almost certain comes first
_RECENT = 0.9  # decay of earlier pages with each new page
_CACHED = 1 << 14  # URLs whose kinds are kept: each is looked up many times while it is pending
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class LinkYields:
    """Counts, for each section, its pages and the new URLs that they link to."""

    worth: Rates = field(default_factory=lambda: Rates(2.0))
    links: Rates = field(default_factory=lambda: Rates(2.0))
    seen: float = 1.0
    """value of the links of recent pages"""
    foreseen: float = 1.0
    """expected value of the same links"""
    _rates: dict[tuple[tuple[str, ...], ...], tuple[float, float]] = field(
        default_factory=dict, compare=False
    )
    """cache, valid until the next page or link: the most specific kinds -> value and links"""

    def add_page(self, url: Url, lang: str) -> None:
        """Count a fetched page, and add the expected value of its links to `foreseen`."""
        kinds = place(url, lang)
        self.foreseen = _RECENT * self.foreseen + self.worth.rate(kinds, _PRIOR_WORTH)
        self.seen *= _RECENT
        self.worth.add_trial(kinds)
        self.links.add_trial(kinds)
        self._rates.clear()

    def add_link(self, url: Url, lang: str, worth: float) -> None:
        """Count a new URL with the value `worth`, first linked from the page at `url`."""
        kinds = place(url, lang)
        self.seen += worth
        self.worth.add_success(kinds, worth)
        self.links.add_success(kinds, 1.0)
        self._rates.clear()

    def expected(self, url: Url, lang: str, least: float) -> float:
        """The expected value of the new URLs on a page, minus `least` for each of these URLs.

        `url` and `lang` are the URL and the probable language of the page.
        """
        kinds = place(url, lang)
        factor = min(1.0, (self.seen + 0.1) / (self.foreseen + 0.1))
        known = self._rates.get(kinds[2:])
        if known is None:
            worth = self.worth.rate(kinds, _PRIOR_WORTH)
            known = self._rates[kinds[2:]] = worth, self.links.rate(kinds, _PRIOR_LINKS)
        worth, links = known
        return min(_MOST, factor * max(0.0, worth - least * links))


@lru_cache(maxsize=_CACHED)
def place(url: Url, lang: str) -> tuple[tuple[str, ...], ...]:
    """The kinds under which a page is counted, from general to specific: site, language, folders.

    >>> place(Url("http://x.org/news/page/12/"), "fr")
    (('site',), ('fr',), ('fr', '/news'), ('fr', '/news/page/'))
    """
    path = "/" + url.partition("://")[2].partition("/")[2]
    shape = _DIGITS.sub("0", path)
    folder = "/".join(shape.split("/")[:2])
    parent = "/".join([*shape.rstrip("/").split("/")[:-1], ""])
    return ("site",), (lang,), (lang, folder), (lang, parent)
