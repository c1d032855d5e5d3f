"""Decide which URLs to queue, based on the crawl's scope, signs of crawler traps, and file types.

Each URL is queued, refused (as a trap, or because its extension rules out HTML), or marked as
outside the crawl's scope.
"""

from __future__ import annotations

from diptych.frontier import traps
from diptych.frontier.hosts import Hosts
from diptych.frontier.queries import SQL
from diptych.frontier.queue import Entry, State, Turn
from diptych.frontier.scope import Anywhere, Scope
from diptych.reason import Reason
from diptych.run.store import Store
from diptych.text.caches import TextMap
from diptych.text.urls import NOT_HTML, extension, url_key
from diptych.types import Kind, Url

MAX_KNOWN = 48_000_000  # bytes; about 200,000 URLs
_UNKNOWN = "?"  # not the name of any site


class Admission:
    """Decides which new URLs are queued.

    The number of queued URLs in each trap family is kept in the store.
    """

    def __init__(self, store: Store, hosts: Hosts, scope: Scope | Anywhere) -> None:
        self._store = store
        self._hosts = hosts
        self._scope = scope
        self._known: TextMap[str | None] = TextMap(MAX_KNOWN)
        """cache of each URL's site, because pages of a site share most of their links"""

    def entry(
        self, url: Url, depth: int, priority: float = 0.0, *, turn: Turn = Turn.PAGE,
        is_queued: bool = False,
    ) -> Entry:  # fmt: skip
        """Create the frontier entry for a URL: queued, refused, or outside the scope.

        `turn` tells whether the URL is a page, a seed, a sitemap or a robots.txt.  Only pages and
        seeds are checked for traps and file types, because a sitemap may end in .gz.  A URL that is
        known to have been queued (`is_queued`) was checked then.
        """
        name = self._scope.site_of(url)
        if name is None:
            return Entry(url, 0, 0.0, depth, state=State.OUTSIDE, reason=Reason.OUTSIDE)
        host = self._hosts.of(url, name).id
        reason = self._refusal(url) if turn.kind is Kind.PAGE and not is_queued else ""
        if reason:
            return Entry(url, host, 0.0, depth, state=State.REFUSED, reason=reason)
        return Entry(url, host, priority, depth, turn)

    def forget(self) -> None:
        """Free the cache after the crawl."""
        self._known.clear()

    def may_be_page_of(self, url: Url, site: str) -> bool:
        """True if a URL may lead to an HTML page of `site`, judging by the URL alone."""
        known = self._known.get(url, _UNKNOWN)
        if known is _UNKNOWN:
            known = self._known.keep(url, self._scope.site_of(url) if self.is_page(url) else None)
        return known == site

    def is_page(self, url: Url) -> bool:
        """True if a URL may lead to an HTML page, judging by the URL alone."""
        is_robots = url.partition("://")[2].partition("/")[2] == "robots.txt"
        return extension(url) not in NOT_HTML and not is_robots and not traps.refusal(url)

    def _refusal(self, url: Url) -> str:
        if extension(url) in NOT_HTML:
            return Reason.NOT_HTML
        return traps.refusal(url) or self._family_refusal(url)

    def _family_refusal(self, url: Url) -> str:
        """Return the reason to refuse a URL if its trap family is full, or else an empty string.

        A new URL that is not refused is added to its family's count.  For a known URL, the
        earlier decision is repeated.
        """
        family = traps.family_of(url)
        if family is None:
            return ""
        db = self._store.db
        known = db.execute("SELECT state FROM urls WHERE key = ?", (url_key(url),)).fetchone()
        if known is not None:
            return family.reason if known[0] == State.REFUSED else ""
        row = db.execute("SELECT count FROM trap_counts WHERE key = ?", (family.key,)).fetchone()
        if row is not None and row[0] >= family.limit:
            return family.reason
        db.execute(SQL["count_trap"], (family.key,))
        return ""
