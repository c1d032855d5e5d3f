"""The data that a guide stores about its site."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from diptych.stages.crawl.hybrid.known_urls import KnownUrl, KnownUrls
from diptych.stages.crawl.hybrid.matches import Matches
from diptych.stages.crawl.hybrid.value import UrlValues
from diptych.text.url_edits import EditRules, UrlPair
from diptych.types import Link

MAX_BLOCKS = 100_000  # maximum blocks stored; blocks that many pages share are seen early
_BLOCK_KEY = (1 << 32) - 1
MILLION = 1_000_000
MIN_HELD = 2  # minimum number of pairs for which a key must hold to be used
_FIRST_PAIRING = 2  # unpaired pages in each of two languages at which pages are paired by content


class Memory:
    """The complete state of a guide; its snapshots contain exactly this data."""

    def __init__(self, langs: Sequence[str], weight: float) -> None:
        self.urls = KnownUrls()
        self.values = UrlValues(langs, weight)
        self.matches = Matches(self.values)
        self.digests: dict[str, KnownUrl] = {}
        self.name_links: dict[KnownUrl, int] = {}
        self.pairs: list[UrlPair] = []
        self.edit_rules = EditRules()
        self.next_rules = MIN_HELD
        self.guesses = 0
        self.is_pairing = False
        self.next_pairing = _FIRST_PAIRING
        self.to_refresh: dict[KnownUrl, None] = {}
        """pending URLs and pages without a translation, least recently evaluated first"""
        self.unread_links: deque[tuple[KnownUrl, tuple[Link, ...]]] = deque()
        """links not read yet, with their page"""
        self.unread = 0
        """number of links not read yet"""
        self.overflow: list[Link] = []
        """links to URLs that were not added because the limit was reached"""
        self.blocks: set[int] = set()
        """truncated hashes of the text blocks seen on pages"""
        self.pending_value = 0
        """sum of the values of all pending URLs, in millionths of a pair"""

    def new_letters(self, blocks: Iterable[tuple[int, float]]) -> float:
        """Return the number of letters in blocks not seen before, and record the blocks as seen."""
        keys = [(block & _BLOCK_KEY, length) for block, length in blocks]
        letters = sum(length for key, length in keys if key not in self.blocks)
        if len(self.blocks) < MAX_BLOCKS:
            self.blocks.update(key for key, _ in keys)
        return letters

    def add_unread(self, known: KnownUrl, links: tuple[Link, ...]) -> None:
        """Queue links from a page to be read later."""
        self.unread_links.append((known, links))
        self.unread += len(links)

    def take_unread(self, count: int) -> tuple[KnownUrl, tuple[Link, ...]]:
        """Dequeue up to `count` links of one page, and return the page and these links.

        The page is the one queued first; if it has more links, they are queued again at the end.
        """
        known, links = self.unread_links.popleft()
        self.unread -= len(links)
        if len(links) > count:
            self.add_unread(known, links[count:])
        return known, links[:count]
