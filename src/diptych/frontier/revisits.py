"""Visits of pages that were mined before: what is asked, and what the answers mean.

While an update is open (`run.updates`), a queued URL that has a page is visited again.  Requests
carry the validators of the last answer, which are read from the archive; an archive and a sitemap
are hostile, so all values are checked before they are sent or believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from diptych.frontier.hosts import SiteInfo
from diptych.frontier.queue import Claim, Frontier
from diptych.frontier.sitemaps import alternates_of, read_again
from diptych.page.sitemaps import Sitemap, SitemapEntry
from diptych.reason import Reason
from diptych.run.encoding import encode_page
from diptych.run.store import Store
from diptych.run.updates import Updates, Visited
from diptych.run.warc import Pointer
from diptych.text.urls import normalise, url_key
from diptych.types import Kind, Page, PageRecord, Response, Url

GONE = frozenset({"http_404", "http_410", Reason.CONTENT_TYPE, Reason.EMPTY})
"""failures that mean that there is no page any more; after others, the stored page stays"""
CLOCK_ERROR = 3600.0  # seconds by which the clocks of a site and of this machine may differ
CHECKED = 10  # one in so many pages is asked for although its sitemap says that it is unchanged
_MAX_VALIDATOR = 512  # characters; longer ones are not sent back
# RFC 9110, 8.8.3: no control characters, blanks or quotation marks inside.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
_DATE = re.compile(r"[A-Za-z]{3}, \d\d [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d GMT")


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of an earlier answer (RFC 9110, 8.8), and the time of that answer."""

    etag: str
    modified: str
    fetched_at: float

    def headers(self) -> dict[str, str]:
        """The headers of a conditional request.

        >>> Validators('"1"', "", 0.0).headers()
        {'If-None-Match': '"1"'}
        """
        known = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in known.items() if value}


def validators_of(response: Response) -> Validators | None:
    r"""The validators that a response has; None if it has none that can be sent back.

    >>> from diptych.types import Response
    >>> def of(*headers): return validators_of(Response("http://a.org/", 200, headers, b"", 0.0))
    >>> of(("ETag", 'W/"a"'), ("Last-Modified", "yesterday"))
    Validators(etag='W/"a"', modified='', fetched_at=0.0)
    >>> of(("ETag", '"a"\r\nHost: b.org')) is None
    True
    """
    etag, modified = (
        value if len(value) <= _MAX_VALIDATOR and form.fullmatch(value) else ""
        for value, form in (
            (response.header("ETag"), _ETAG),
            (response.header("Last-Modified"), _DATE),
        )
    )
    return Validators(etag, modified, response.fetched_at) if etag or modified else None


def comparison(known: PageRecord, page: Page, *, is_aligned_alike: bool) -> Visited:
    """Compare a page with the record of the same page when it was last fetched.

    `is_aligned_alike` is true if the trees of both are the same.
    """
    new = page.record
    if new.digest == known.digest:
        return Visited.UNCHANGED
    facts = ("text_key", "title", "lang", "html_lang", "content_language", "canonical", "flags")
    is_same = all(getattr(new, name) == getattr(known, name) for name in facts)
    return Visited.SAME_TEXT if is_same and is_aligned_alike else Visited.CHANGED


@dataclass(slots=True)
class Revisits:
    """The visits of the open update; without one, every method does nothing."""

    store: Store
    frontier: Frontier
    updates: Updates = field(init=False)
    number: int | None = field(init=False)
    """id of the open update"""
    _liars: set[int] = field(default_factory=set)
    """sites whose sitemaps say of changed pages that they have not changed"""

    def __post_init__(self) -> None:
        self.updates = Updates(self.store)
        self.number = self.updates.open()

    def known(self, claim: Claim) -> PageRecord | None:
        """The record of the page that a claim visits again; None if it had no page."""
        if self.number is None or claim.kind is not Kind.PAGE:
            return None
        return self.store.record(claim.url)

    def validators(self, claim: Claim) -> Validators | None:
        """The validators to send with the request for a claim; None if there are none."""
        is_known = claim.kind is Kind.SITEMAP or self.known(claim) is not None
        if self.number is None or not is_known:
            return None
        response = self.store.good_answer(claim.url)
        return validators_of(response) if response else None

    def unchanged_sitemap(self, claim: Claim) -> Sitemap | None:
        """The sitemap that the server says is still valid; None if it is lost, and for a page."""
        return read_again(self.store, claim.url) if claim.kind is Kind.SITEMAP else None

    # -- pages -------------------------------------------------------------------------------

    def see(self, claim: Claim, site: SiteInfo, now: float) -> None:
        """Record that a page has not changed."""
        if claim.kind is not Kind.PAGE:
            return
        site.visited += 1
        self.updates.visit(claim.url, Visited.UNCHANGED, now)

    def save(self, page: Page, pointer: Pointer, known: PageRecord | None, site: SiteInfo) -> bool:
        """Save a page that was fetched; return False if it is the same as before.

        A page with the same text in the same tree keeps its record, because the places of its
        segments refer to it; only its links are replaced.
        """
        is_alike = known is not None and self.updates.has_same_content(page)
        outcome = comparison(known, page, is_aligned_alike=is_alike) if known else Visited.NEW
        site.visited += 1
        site.pages += known is None
        if outcome is Visited.UNCHANGED:
            self.updates.visit(page.url, outcome, page.record.fetched_at)
            return False
        if outcome is Visited.SAME_TEXT:
            self.updates.save_links(page.url, encode_page(page).links)
        else:
            if outcome is Visited.CHANGED:
                self.updates.withdraw_pairs(page.url)
                self._notice_lie(page.url, site)
            self.store.save_page(site.id, page, pointer)
        if self.number is not None:
            self.updates.visit(page.url, outcome, page.record.fetched_at)
            self.updates.ask_missing(link.url for link in page.links)
            self.frontier.wake_all()
        return True

    def lose(self, claim: Claim, known: PageRecord | None, site: SiteInfo, reason: str) -> None:
        """Record that a URL has no page: the page has vanished, or there was none before.

        After other failures than those in `GONE`, the stored page stays.
        """
        if self.number is None or claim.kind is not Kind.PAGE or reason not in GONE:
            return
        if known is None:
            self.updates.visit(claim.url, Visited.MISSING, None)
            return
        self._vanish(claim.url, site)

    def move(self, claim: Claim, known: PageRecord | None, site: SiteInfo) -> None:
        """Record that the URL of a page redirects to another now."""
        if known is not None:
            self._vanish(claim.url, site)

    def _vanish(self, url: Url, site: SiteInfo) -> None:
        self.updates.remove_page(url)
        self.updates.visit(url, Visited.VANISHED, None)
        self.updates.ask_redirects(url, site.id)
        site.pages -= 1
        self.frontier.wake_all()

    # -- sitemaps ----------------------------------------------------------------------------

    def awaits_sitemap(self, site: SiteInfo) -> bool:
        """True if a sitemap of the site is being read, which may say what has not changed."""
        return self.number is not None and self.updates.is_reading_sitemap(site.id)

    def read_sitemap(self, entries: Sequence[SitemapEntry], site: SiteInfo, now: float) -> None:
        """Leave out the pages that have not changed since they were seen, as a sitemap says.

        One in `CHECKED` of them is asked for all the same.
        """
        if self.number is None:
            return
        found = {
            url: entry.lastmod for entry in entries if (url := normalise(entry.url)) is not None
        }
        self.updates.ask_missing(found)
        by_key = {url_key(url): lastmod for url, lastmod in found.items()}
        for key, seen_at, was_stable in self.updates.listed(found):
            lastmod = by_key[key]
            if lastmod is None or lastmod + CLOCK_ERROR > seen_at or not was_stable:
                continue
            if site.id in self._liars:
                continue
            is_checked = (key + self.number) % CHECKED == 0
            self.updates.leave_out(key, now, is_checked=is_checked)
        self.frontier.wake_all()

    def keep_announced(self) -> None:
        """Keep the translations that were announced by sitemaps that the update could not read."""
        if self.number is None:
            return
        for site, url in self.updates.unread_sitemaps(GONE):
            sitemap = read_again(self.store, url)
            if sitemap is not None:
                self.store.announce(site, alternates_of(sitemap))

    def _notice_lie(self, url: Url, site: SiteInfo) -> None:
        """If a sitemap said that a page had not changed, ask for all pages of its site."""
        if site.id not in self._liars and self.updates.is_checked(url):
            self._liars.add(site.id)
            self.updates.ask_left_out(site.id)
