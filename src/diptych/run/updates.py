"""SQL queries for updates: visits of pages that were mined before, and their outcomes.

An update is open from its first request until its corpus is written.  Everything about it is in the
store, so that the same command continues it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import orjson

from diptych.page.content import READER
from diptych.run.database import Database, in_transaction
from diptych.run.encoding import encode_page
from diptych.run.queries import SQL
from diptych.run.vanished import forget_found, set_aside
from diptych.text.urls import url_key
from diptych.types import Page, Url


class Visited(StrEnum):
    """The outcome of visiting a URL in an update."""

    UNCHANGED = "unchanged"
    """the server said so, or sent the same bytes"""
    SAME_TEXT = "same_text"
    """other bytes, but the same text in the same tree, title and declarations"""
    CHANGED = "changed"
    NEW = "new"
    VANISHED = "vanished"
    """404, 410, a redirect, or no longer an HTML page"""
    NOT_ASKED = "not_asked"
    """its sitemap says that it has not changed"""
    CHECKED = "checked"
    """its sitemap says that it has not changed, and it is still to be asked for to check that"""
    MISSING = "missing"
    """there was no page before, and there is none now"""


_AS_BEFORE = frozenset({Visited.UNCHANGED, Visited.SAME_TEXT, Visited.NOT_ASKED, ""})


class Listed(NamedTuple):
    """A queued page that a sitemap lists."""

    key: int
    seen_at: float
    was_stable: bool
    """True unless the last update found that the page had changed"""


class UpdateCounts(NamedTuple):
    """The figures of an update."""

    started_at: float
    is_finished: bool
    pages: dict[str, int]
    """number of pages by `Visited`, and those that were not visited as `unvisited`"""
    pairs: tuple[int, int]
    """number of verified pairs before and after"""
    segments: tuple[int, int]
    """number of kept segments before and after"""
    new_segments: int
    requests: int
    bytes: int
    whole: tuple[int, int]
    """requests and bytes that a crawl of all pages would take"""

    @property
    def kept_segments(self) -> int:
        """The number of segments that were in the corpus before and after."""
        return self.segments[1] - self.new_segments

    @property
    def gone_segments(self) -> int:
        """The number of segments that are no longer in the corpus."""
        return self.segments[0] - self.kept_segments


@dataclass(frozen=True, slots=True)
class Updates:
    """The updates of a run."""

    store: Database

    def open(self) -> int | None:
        """The id of the unfinished update; None if there is none."""
        row = self.store.db.execute("SELECT id FROM updates WHERE finished_at IS NULL").fetchone()
        return int(row[0]) if row else None

    def first_fetch(self) -> int:
        """The last fetch before the open update; 0 if no update is open."""
        return self.store.count("SELECT first_fetch FROM updates WHERE finished_at IS NULL")

    @in_transaction
    def begin(self, now: float, *, forbidden: str, retried: Collection[str]) -> int:
        """Return the id of the open update; if there is none, begin one and queue all pages.

        `forbidden` is the reason of URLs that robots.txt forbade, and `retried` are the reasons of
        failures that may be over.
        """
        if (known := self.open()) is not None:
            return known
        db = self.store.db
        db.execute(SQL["stamp_segments"], (self.date(),))
        db.execute(SQL["begin_update"], (now,))
        db.execute("DROP TABLE IF EXISTS temp.paired")
        db.execute(SQL["make_paired"])
        db.execute(SQL["queue_pages"], (now,))
        db.execute(SQL["queue_others"], (forbidden, _json(sorted(retried))))
        db.execute("UPDATE hosts SET robots_at = NULL")
        for table in ("samples", "open_sitemaps", "announced"):
            db.execute(f"DELETE FROM {table}")
        db.execute("UPDATE guides SET refilled = 0")
        begun = self.open()
        assert begun is not None
        return begun

    @in_transaction
    def settle(self, *, is_whole: bool) -> None:
        """Date the segments that the open update has found, before the corpus is written.

        If `is_whole`, the crawl has ended: pages that were not visited are left as they were.
        """
        db = self.store.db
        forget_found(self.store)
        new = self.store.count(SQL["new_segments"])
        query = "UPDATE updates SET new_segments = new_segments + ? WHERE finished_at IS NULL"
        db.execute(query, (new,))
        db.execute(SQL["stamp_segments"], (self.date(),))
        if is_whole:
            db.execute(SQL["leave_pages"])
            db.execute(SQL["settle_update"])
        self.store.begin_again()

    def unread_sitemaps(self, gone: Collection[str]) -> list[tuple[int, Url]]:
        """The site and URL of each sitemap that was not read, unless its failure is in `gone`."""
        rows = self.store.db.execute(SQL["unread_sitemaps"], (_json(sorted(gone)),)).fetchall()
        return [(site, Url(url)) for site, url in rows]

    @in_transaction
    def close(self, now: float) -> None:
        """End the open update; the next one visits all pages again."""
        self.store.db.execute(SQL["end_update"], (now,))

    def date(self) -> float:
        """The time of the last download, which is the date of segments that are not dated yet."""
        row = self.store.db.execute(SQL["last_download"]).fetchone()
        return float(row[0])

    def visit(self, url: Url, outcome: Visited, seen_at: float | None) -> None:
        """Record the outcome of visiting a URL; does nothing if no update is open.

        `seen_at` is the time when the page was seen; None if it was not.
        """
        number = self.open()
        if number is not None:
            self.store.db.execute(SQL["save_visit"], (url_key(url), number, outcome, seen_at))

    def withdraw_pairs(self, url: Url) -> None:
        """Set aside the segments of a page that is about to change, and undo its decisions."""
        key = url_key(url)
        set_aside(self.store, SQL["pairs_of_page"], (key,))
        for table in ("decisions", "occurrences"):
            query = f"DELETE FROM {table} WHERE pair IN ({SQL['pairs_of_page']})"
            self.store.db.execute(query, (key,))

    def remove_page(self, url: Url) -> None:
        """Remove a page that has vanished, with its pairs; its archive record stays."""
        self.withdraw_pairs(url)
        key = url_key(url)
        db = self.store.db
        db.execute(f"DELETE FROM pairs WHERE id IN ({SQL['pairs_of_page']})", (key,))
        for table in ("pages", "sketches", "contents"):
            db.execute(f"DELETE FROM {table} WHERE url = ?", (key,))
        self.store.begin_again()

    def has_same_content(self, page: Page) -> bool:
        """True if a page would be paired and aligned as it is in the store, but for its links."""
        query = """SELECT sketches.data, contents.data FROM sketches JOIN contents USING (url)
            WHERE url = ? AND reader = ?"""
        known = self.store.db.execute(query, (url_key(page.url), READER)).fetchone()
        return bool(known == (encode_page(page).sketch, page.content))

    def save_links(self, url: Url, links: str) -> None:
        """Replace the links of a page whose text has not changed."""
        db, key = self.store.db, url_key(url)
        query = "UPDATE pages SET links = ?1 WHERE url = ?2 AND links != ?1"
        if db.execute(query, (links, key)).rowcount:
            self.store.begin_again()
            db.execute("UPDATE learning SET basis = ''")  # pages are paired by their links too

    # -- sitemaps and missing pages ----------------------------------------------------------

    def is_reading_sitemap(self, site: int) -> bool:
        """True if a sitemap of a site is being fetched or read."""
        return bool(self.store.count(SQL["is_reading_sitemap"], site))

    def listed(self, urls: Iterable[Url]) -> list[Listed]:
        """The queued pages among the URLs of a sitemap."""
        keys = _json([url_key(url) for url in urls])
        rows = self.store.db.execute(SQL["listed_pages"], (keys,)).fetchall()
        return [Listed(key, seen_at, outcome in _AS_BEFORE) for key, seen_at, outcome in rows]

    def leave_out(self, key: int, now: float, *, is_checked: bool) -> None:
        """Do not ask for a queued page, because its sitemap says that it has not changed.

        If `is_checked` is True, the page is asked for all the same, to check the sitemap.
        """
        outcome, seen_at = (Visited.CHECKED, None) if is_checked else (Visited.NOT_ASKED, now)
        if not is_checked:
            self.store.db.execute(SQL["pages_left_out"], (key,))
        self.store.db.execute(SQL["save_visit"], (key, self.open(), outcome, seen_at))

    def is_checked(self, url: Url) -> bool:
        """True if a page is asked for to check what its sitemap says."""
        query = "SELECT count(*) FROM visits WHERE url = ? AND number = ? AND outcome = ?"
        return bool(self.store.count(query, url_key(url), self.open(), Visited.CHECKED))

    def ask_left_out(self, site: int) -> None:
        """Queue the pages of a site that were left out, because its sitemap is not reliable."""
        row = self.open(), Visited.NOT_ASKED, site
        self.store.db.execute(SQL["ask_left_out"], row)
        self.store.db.execute(SQL["check_left_out"], (Visited.CHECKED, *row))

    def ask_missing(self, urls: Iterable[Url]) -> None:
        """Queue URLs that had no page and are now listed or linked again."""
        keys = _json([url_key(url) for url in urls])
        self.store.db.execute(SQL["ask_missing"], (keys, self.open()))

    def ask_redirects(self, url: Url, site: int) -> None:
        """Queue the URLs that redirected to a page that has vanished."""
        self.store.db.execute(SQL["ask_redirects"], (url_key(url), self.open(), site))

    # -- figures -----------------------------------------------------------------------------

    def visited_pages(self) -> dict[int, int]:
        """The number of pages asked for in the open update, by site id."""
        rows = self.store.db.execute(
            SQL["visited_pages"], (self.open(), _json((Visited.NOT_ASKED, Visited.CHECKED)))
        )
        return dict(rows.fetchall())

    def last(self) -> UpdateCounts | None:
        """The figures of the last update; None if there was none."""
        row = self.store.db.execute(SQL["last_update"]).fetchone()
        if row is None:
            return None
        id, started_at, is_settled, first, last, pairs, pairs_after, *segments, new = row
        db = self.store.db
        pages = dict(db.execute(SQL["visits_by_outcome"], (id,)).fetchall())
        unvisited = self.store.count(SQL["unvisited_pages"], id) + pages.pop(Visited.CHECKED, 0)
        if unvisited:
            pages["unvisited"] = unvisited
        requests, size = db.execute(SQL["update_costs"], (first, last)).fetchone()
        return UpdateCounts(
            started_at, bool(is_settled), pages, (pairs, pairs_after),
            (segments[0], segments[1]), new, requests, size,
            db.execute(SQL["whole_crawl"]).fetchone(),
        )  # fmt: skip


def _json(values: Collection[int] | Collection[str]) -> str:
    return orjson.dumps(list(values)).decode()
