"""Detects bilingual sites by the languages of many pages (BITS, Ma & Liberman 1999).

All pages on the first levels of a site are fetched in breadth-first order, and their languages are
identified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diptych.protocols import SiteTest
from diptych.reason import Reason
from diptych.stages.detect.shared.site_pages import ShownLanguages, site_links
from diptych.types import Decision, Link, Page, Url


@dataclass(frozen=True, slots=True)
class Bits:
    """Accepts a site if two requested languages each have a minimum share of its pages."""

    levels: int = 3
    """number of levels to fetch, including the start page; the paper uses three or four"""
    most: int = 100
    """maximum number of pages fetched per site; the paper has no limit"""
    share: float = 0.05
    """minimum share of the fetched pages that each of two languages must have"""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """Create a test of whether one site is bilingual."""
        return _SiteTest(self, tuple(langs))


class _SiteTest:
    """Tests whether one site is bilingual by reading its pages level by level."""

    def __init__(self, settings: Bits, langs: tuple[str, ...]) -> None:
        self._settings = settings
        self._shown = ShownLanguages(langs)
        self._start: Url | None = None
        self._seen: set[Url] = set()
        self._next: list[Link] = []
        self._level = 1
        self._waiting = 0
        self._read = 0

    def read(self, page: Page) -> None:
        """Count the language of a page, and keep its links for the next level."""
        if self._start is None:
            self._start = page.url
        self._seen.add(page.url)
        self._shown.add_page(page)
        self._read += 1
        self._waiting = max(0, self._waiting - 1)
        for link in site_links(page, self._start):
            if link.url not in self._seen:
                self._seen.add(link.url)
                self._next.append(link)

    def miss(self, url: Url) -> None:
        """Record that a requested page could not be fetched."""
        self._waiting = max(0, self._waiting - 1)

    def wanted_links(self) -> Sequence[Link]:
        """Return the links to all pages on the next level, up to the page limit."""
        if self._waiting or self._level >= self._settings.levels:
            return ()
        self._level += 1
        links = tuple(self._next[: max(0, self._settings.most - self._read)])
        self._next = []
        self._waiting = len(links)
        return links

    def decision(self) -> Decision:
        """Accept the site if two languages each have the minimum share of its pages."""
        counts = sorted((self._shown.count(lang) for lang in self._shown.langs), reverse=True)
        second = counts[1] / self._read if len(counts) > 1 and self._read else 0.0
        if second and second >= self._settings.share:
            return Decision(True, min(1.0, 2 * second))
        return Decision(False, min(1.0, 2 * second), self._reason())

    def _reason(self) -> str:
        if not self._read:
            return Reason.NOT_FETCHED
        shown = self._shown.shown
        return (Reason.OTHER_LANGUAGES, Reason.ONE_LANGUAGE, Reason.TOO_FEW_PAGES)[
            min(2, len(shown))
        ]

    def pages(self) -> Sequence[tuple[str, Url]]:
        """The first page found in each language."""
        return [(lang, url) for lang, url, _ in self._shown.example_pages()]
