"""SQL for what guides know: snapshots, the journal since the last one, and the past of a site.

A snapshot and the journal that came after it say all that a guide observed.  They are written in
the transactions of what they describe.
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
    """The outcome of a URL that was asked for."""

    url: Url
    kind: Kind
    state: int
    """a `frontier.queue.State`"""
    reason: str
    target: Url | None
    """where it leads"""
    target_state: int | None
    is_page: bool


@dataclass(frozen=True, slots=True)
class GuideMemory:
    """The knowledge of the guides of a run; `maker` names a version, a policy and languages."""

    store: Database
    maker: str

    def begin(self, site: int) -> None:
        """Note that a guide knows nothing yet but what the journal will say."""
        self.store.db.execute(SQL["begin_guide"], (site, self.maker))

    def begin_lost(self, site: int) -> None:
        """Note that what a guide knew is lost: it is rebuilt with the first news."""
        self.store.db.execute(SQL["begin_guide"], (site, ""))
        self.set_idle(site, True)

    def note(self, site: int, what: str, data: str) -> None:
        """Write down something that a guide observes."""
        self.store.db.execute(
            "INSERT INTO journal (site, what, data) VALUES (?, ?, ?)", (site, what, data)
        )

    def journal(self, site: int) -> list[tuple[str, str]]:
        """The observations of a guide since its last snapshot, in order."""
        rows = self.store.db.execute(
            "SELECT what, data FROM journal WHERE site = ? ORDER BY id", (site,)
        )
        return rows.fetchall()

    def save(self, site: int, data: bytes) -> None:
        """Save a snapshot, which takes the place of the journal."""
        self.store.db.execute(SQL["save_guide"], (site, self.maker, data))
        self.store.db.execute("DELETE FROM journal WHERE site = ?", (site,))

    def snapshot(self, site: int) -> bytes | None:
        """The last snapshot of the same maker; empty before the first, None if there is none."""
        query = "SELECT data FROM guides WHERE site = ? AND maker = ?"
        row = self.store.db.execute(query, (site, self.maker)).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def is_begun(self, site: int) -> bool:
        """True if anything is known of a guide."""
        return bool(self.store.count("SELECT count(*) FROM guides WHERE site = ?", site))

    def begun(self) -> set[int]:
        """The sites that have a guide."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM guides")}

    def set_idle(self, site: int, is_idle: bool) -> None:
        """Note that a guide waits for nothing, or that it may ask something."""
        change = "INSERT OR IGNORE INTO idle_guides (site) VALUES (?)"
        self.store.db.execute(
            change if is_idle else "DELETE FROM idle_guides WHERE site = ?", (site,)
        )

    def idle(self) -> set[int]:
        """The sites whose guides wait for nothing."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM idle_guides")}

    def outlooks(self) -> dict[int, Outlook]:
        """The last outlooks of guides; damaged ones are left out."""
        rows = self.store.db.execute(SQL["outlooks"]).fetchall()
        return {site: Outlook(found, left) for site, found, left in rows}

    def set_refilled(self, site: int, is_refilled: bool) -> None:
        """Note that a policy was asked for more URLs of a site, or that there was news since."""
        self.store.db.execute("UPDATE guides SET refilled = ? WHERE site = ?", (is_refilled, site))

    def refilled(self) -> set[int]:
        """The sites for which the policy was asked for more URLs, without any news since."""
        return {site for (site,) in self.store.db.execute("SELECT site FROM guides WHERE refilled")}

    # -- what can be told without a snapshot -------------------------------------------------

    def history(self, site: int) -> Iterator[UrlPast]:
        """All that was asked for, in order."""
        for url, kind, *rest in self.store.db.execute(SQL["site_history"], (site,)).fetchall():
            yield UrlPast(url, Kind(kind), *rest)

    def decisions(self, site: int) -> list[VerifiedPair]:
        """The decisions on pairs, in the order in which pairs were found."""
        rows = self.store.db.execute(SQL["site_decisions"], (site,)).fetchall()
        return [
            VerifiedPair(PagePair(*row[:6]), Decision(bool(row[6]), row[7], row[8])) for row in rows
        ]

    def refusal(self, url: Url) -> str:
        """The reason why a URL was refused; empty if it was not."""
        query = "SELECT reason FROM urls WHERE key = ? AND state = 4"
        row = self.store.db.execute(query, (url_key(url),)).fetchone()
        return row[0] if row else ""

    def alias_of(self, url: Url) -> Url | None:
        """The URL that stands for another one, by a rule; None if it is no alias."""
        row = self.store.db.execute(SQL["alias_of"], (url_key(url),)).fetchone()
        return row[0] if row else None


@dataclass(frozen=True, slots=True)
class OpenSitemaps:
    """Sitemaps that are not read to their end, by the keys of their URLs."""

    store: Database

    def save(self, url: Url, start: int) -> None:
        """Note how many entries of a sitemap were read; it is its turn again after all others."""
        row = (url_key(url), start)
        self.store.db.execute(
            "INSERT OR REPLACE INTO open_sitemaps (url, start) VALUES (?, ?)", row
        )

    def close(self, url: Url) -> None:
        """Note that a sitemap was read to its end."""
        self.store.db.execute("DELETE FROM open_sitemaps WHERE url = ?", (url_key(url),))

    def starts(self) -> dict[int, int]:
        """The number of entries read of each, in the order of their turns."""
        rows = self.store.db.execute("SELECT url, start FROM open_sitemaps ORDER BY turn")
        return {
            key: max(0, start) if isinstance(start, int) else 0 for key, start in rows.fetchall()
        }  # a value that is damaged says nothing
