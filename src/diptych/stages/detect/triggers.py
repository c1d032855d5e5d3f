"""Detects bilingual sites by trigger words (Shi, Niu, Zhou & Gao 2006): a baseline.

The detector searches the start page and the pages it links to for links whose text, or whose
image's `alt` text, is a trigger word such as `English version`.  A site with trigger words for both
languages is bilingual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diptych.language.codes import primary
from diptych.protocols import SiteTest
from diptych.reason import Reason
from diptych.stages.detect.shared.naming import trigger_languages
from diptych.stages.detect.shared.site_pages import site_links
from diptych.types import Decision, Link, Page, Url


@dataclass(frozen=True, slots=True)
class Triggers:
    """Searches for links whose text is a trigger word, without identifying page languages."""

    most: int = 10
    """maximum number of pages searched besides the start page; the paper gives no number"""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """Create a test of whether one site is bilingual."""
        return _SiteTest(self.most, tuple(langs))


class _SiteTest:
    """Tests whether one site is bilingual by collecting trigger words."""

    def __init__(self, most: int, langs: tuple[str, ...]) -> None:
        self._most = most
        self._langs = langs
        self._found: dict[str, Url] = {}
        """language -> target of the link with its trigger word"""
        self._queue: list[Link] = []
        self._waiting = 0
        self._read = 0

    def read(self, page: Page) -> None:
        """Search a page for trigger words; if it is the start page, queue its links."""
        start = page.url
        links = list(site_links(page, start))
        for link in links:
            for lang in trigger_languages(f"{link.anchor} {link.alt}", self._langs):
                self._found.setdefault(lang, link.url)
        if not self._read:
            urls = {link.url: link for link in reversed(links)}
            self._queue = [urls[url] for url in dict.fromkeys(link.url for link in links)]
            self._queue = self._queue[: self._most]
        self._read += 1
        self._waiting = max(0, self._waiting - 1)

    def miss(self, url: Url) -> None:
        """Record that a requested page could not be fetched."""
        self._waiting = max(0, self._waiting - 1)

    def wanted_links(self) -> Sequence[Link]:
        """Return the next link of the start page, or none once two languages have been found."""
        if self._waiting or len(self._found) > 1 or not self._queue:
            return ()
        self._waiting = 1
        return (self._queue.pop(0),)

    def decision(self) -> Decision:
        """Accept the site if trigger words for two languages were found."""
        if len(self._found) > 1:
            return Decision(True, 1.0)
        reason = Reason.ONE_LANGUAGE if self._found else Reason.NO_CANDIDATE
        return Decision(False, 0.0, reason if self._read else Reason.NOT_FETCHED)

    def pages(self) -> Sequence[tuple[str, Url]]:
        """For each language found, the target of the first link with a trigger word for it.

        The targets have not necessarily been fetched.
        """
        order = [primary(lang) for lang in self._langs]
        return sorted(self._found.items(), key=lambda item: order.index(primary(item[0])))
