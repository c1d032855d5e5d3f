"""SQL queries for the memory of guides: snapshots, journals and the histories of sites.

A snapshot and the journal that follows it contain everything that a guide observed.  They are
written in the same transactions as the data that they describe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from diptych.run.database import Database
from diptych.run.queries import SQL
from diptych.text.urls import url_key
from diptych.types import Decision, Kind, Outlook, PagePair, Url, VerifiedPair


class UrlPast(NamedTuple):
    """A requested URL and its outcome."""

    url: Url
    kind: Kind
    state: int
    """a `frontier.queue.State`"""
    reason: str
    target: Url | None
    """the URL that this URL redirects to or is an alias of"""
    target_state: int | None
    is_page: bool


@dataclass(frozen=True, slots=True)
class GuideMemory:
    """The memory of a run's guides.

    `maker` identifies the snapshot format, the policy and the languages.  A snapshot can be
    restored only with the same `maker`.
    """

    store: Database
    maker: str

    def begin(self, site: int) -> None:
        """Register a new guide, which has no snapshot and no journal yet."""
        self.store.db.execute(SQL["begin_guide"], (site, self.maker))

    def begin_lost(self, site: int) -> None:
        """Register a guide whose memory is lost; the memory is rebuilt on the next event."""
        self.store.db.execute(SQL["begin_guide"], (site, ""))
        self.set_idle(site, True)

    def note(self, site: int, what: str, data: str) -> None:
        """Append an observation, given by its name and its data, to the journal of a guide."""
        self.store.db.execute(
            "INSERT INTO journal (site, what, data) VALUES (?, ?, ?)", (site, what, data)
        )

    def journal(self, site: int) -> list[tuple[str, str]]:
        """The observations of a guide since its last snapshot, in order, as (name, data)."""
        rows = self.store.db.execute(
            "SELECT what, data FROM journal WHERE site = ? ORDER BY id", (site,)
        )
        return rows.fetchall()

    def save(self, site: int, data: bytes) -> None:
        """Save a snapshot of a guide, and delete the journal that it replaces."""
        self.store.db.execute(SQL["save_guide"], (site, self.maker, data))
        self.store.db.execute("DELETE FROM journal WHERE site = ?", (site,))

    def snapshot(self, site: int) -> bytes | None:
        """The last snapshot of a site's guide; empty if none was saved, None if it is lost."""
        query = "SELECT data FROM guides WHERE site = ? AND maker = ?"
        row = self.store.db.execute(query, (site, self.maker)).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def is_begun(self, site: int) -> bool:
        """True if a guide is registered for a site."""
        return bool(self.store.count("SELECT count(*) FROM guides WHERE site = ?", site))

    def begun(self) -> set[int]:
        """The ids of the sites that have a guide."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM guides")}

    def set_idle(self, site: int, is_idle: bool) -> None:
        """Record whether a guide is idle; if so, it need not be restored before the next event."""
        change = "INSERT OR IGNORE INTO idle_guides (site) VALUES (?)"
        self.store.db.execute(
            change if is_idle else "DELETE FROM idle_guides WHERE site = ?", (site,)
        )

    def idle(self) -> set[int]:
        """The ids of the sites whose guides are idle."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM idle_guides")}

    def outlooks(self) -> dict[int, Outlook]:
        """The last saved numbers of pairs found and still expected, by site id.

        Sites with invalid numbers are left out.
        """
        rows = self.store.db.execute(SQL["outlooks"]).fetchall()
        return {site: Outlook(found, left) for site, found, left in rows}

    def set_refilled(self, site: int, is_refilled: bool) -> None:
        """Record whether the policy has been asked for more URLs since the site's last event."""
        self.store.db.execute("UPDATE guides SET refilled = ? WHERE site = ?", (is_refilled, site))

    def refilled(self) -> set[int]:
        """The ids of sites whose policy has been asked for more URLs since the last event."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM guides WHERE refilled")}

    # -- history, available without a snapshot ------------------------------------------------

    def history(self, site: int) -> Iterator[UrlPast]:
        """Yield a site's requested URLs and their outcomes, in the order of their last requests."""
        for url, kind, *rest in self.store.db.execute(SQL["site_history"], (site,)).fetchall():
            yield UrlPast(url, Kind(kind), *rest)

    def decisions(self, site: int) -> list[VerifiedPair]:
        """The pairs of a site with their decisions, in the order in which they were found."""
        rows = self.store.db.execute(SQL["site_decisions"], (site,)).fetchall()
        return [
            VerifiedPair(PagePair(*row[:6]), Decision(bool(row[6]), row[7], row[8])) for row in rows
        ]

    def refusal(self, url: Url) -> str:
        """The reason why a URL was refused; empty if it was not refused."""
        query = "SELECT reason FROM urls WHERE key = ? AND state = 4"
        row = self.store.db.execute(query, (url_key(url),)).fetchone()
        return row[0] if row else ""

    def alias_of(self, url: Url) -> Url | None:
        """The URL that `url` is an alias of; None if it is not an alias."""
        row = self.store.db.execute(SQL["alias_of"], (url_key(url),)).fetchone()
        return row[0] if row else None


@dataclass(frozen=True, slots=True)
class OpenSitemaps:
    """Partly read sitemaps, identified by the keys of their URLs."""

    store: Database

    def save(self, url: Url, start: int) -> None:
        """Record how many entries of a sitemap were read, and move it to the end of the queue."""
        row = (url_key(url), start)
        self.store.db.execute(
            "INSERT OR REPLACE INTO open_sitemaps (url, start) VALUES (?, ?)", row
        )

    def close(self, url: Url) -> None:
        """Remove a sitemap that was read completely."""
        self.store.db.execute("DELETE FROM open_sitemaps WHERE url = ?", (url_key(url),))

    def starts(self) -> dict[int, int]:
        """Map the key of each open sitemap to the number of entries read, in queue order."""
        rows = self.store.db.execute("SELECT url, start FROM open_sitemaps ORDER BY turn")
        return {
            key: max(0, start) if isinstance(start, int) else 0 for key, start in rows.fetchall()
        }  # a damaged value counts as 0
