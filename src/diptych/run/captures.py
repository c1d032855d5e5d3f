"""The captures of a run that mines a crawl archive: what its index lists, and what was copied.

The list is stored while the index is read, so that a killed run goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from diptych.run.copied_records import Capture
from diptych.run.database import Database, in_transaction
from diptych.run.queries import SQL
from diptych.text.urls import url_key
from diptych.types import Url

AT_ONCE = 10_000
"""number of captures read from the store at once"""


class Block(NamedTuple):
    """A compressed part of an index: its file, and the place of its bytes."""

    file: str
    offset: int
    length: int


class CaptureCounts(NamedTuple):
    """The numbers of captures of a site."""

    listed: int
    """captures in the index"""
    skipped: Mapping[str, int]
    """captures that are of no use, by reason"""
    pages: int
    """pages to copy, without regard to limits"""


@dataclass(frozen=True, slots=True)
class Captures:
    """The table of captures; the parts of an index are read once."""

    store: Database

    # -- the index -------------------------------------------------------------------------------

    def is_searched(self, crawl: str, site: str) -> bool:
        """True if it is known which blocks of the index list the captures of a site."""
        query = "SELECT EXISTS (SELECT 1 FROM index_blocks WHERE crawl = ? AND site = ?)"
        return bool(self.store.count(query, crawl, site))

    @in_transaction
    def save_blocks(self, crawl: str, site: str, blocks: Iterable[Block]) -> None:
        """Save the blocks that list the captures of a site."""
        rows = ((crawl, site, number, *block) for number, block in enumerate(blocks))
        self.store.db.executemany(SQL["save_index_block"], rows)

    def unread_blocks(self, crawl: str, site: str) -> list[Block]:
        """The blocks of a site that have not been read, in order."""
        rows = self.store.db.execute(SQL["unread_index_blocks"], (crawl, site))
        return [Block(*row) for row in rows]

    @in_transaction
    def save(
        self,
        crawl: str,
        site: str,
        block: Block,
        found: Iterable[tuple[str, Capture]],
        skipped: Mapping[tuple[str, str], int],
    ) -> None:
        """Save the captures in a block, and mark it as read.

        `found` are sites and captures; `skipped` counts the others by site and reason.  Only the
        last capture of a URL is kept.
        """
        db = self.store.db
        values = (crawl, site, *block)
        db.execute(SQL["mark_index_block"], values)
        rows = ((url_key(each.url), of, _depth(each.url), *each) for of, each in found)
        db.executemany(SQL["save_capture"], rows)
        counts = ((of, reason, count) for (of, reason), count in skipped.items())
        db.executemany(SQL["count_skipped_captures"], counts)

    def sites(self) -> list[str]:
        """The sites that have captures, sorted."""
        rows = self.store.db.execute("SELECT DISTINCT site FROM captures ORDER BY site")
        return [site for (site,) in rows]

    def counts(self) -> dict[str, CaptureCounts]:
        """The numbers of captures by site."""
        db = self.store.db
        pages = dict(db.execute("SELECT site, count(*) FROM captures GROUP BY site"))
        skipped: dict[str, dict[str, int]] = {}
        for site, reason, count in db.execute("SELECT * FROM skipped_captures ORDER BY 1, 2"):
            skipped.setdefault(site, {})[reason] = count
        found = {}
        for site in sorted({*pages, *skipped}):
            reasons = skipped.get(site, {})
            listed = reasons.pop(LISTED, 0)
            found[site] = CaptureCounts(listed, reasons, pages.get(site, 0))
        return found

    # -- records ---------------------------------------------------------------------------------

    def choose(self, limit: int | None) -> int:
        """Choose at most `limit` captures per site, and return the number of those not copied yet.

        Languages take turns; pages near the root of the site come first.
        """
        db = self.store.db
        db.execute(SQL["make_wanted"])
        db.execute("DELETE FROM temp.wanted")
        db.execute(SQL["choose_captures"], (-1 if limit is None else limit,))
        return self.store.count("SELECT count(*) FROM temp.wanted")

    def wanted(self) -> Iterator[Capture]:
        """The chosen captures that are not copied yet, by file and offset."""
        last = 0
        while rows := self.store.db.execute(SQL["wanted_captures"], (last, AT_ONCE)).fetchall():
            for url, *rest, _ in rows:
                yield Capture(Url(url), *rest)
            last = rows[-1][-1]

    def fail(self, capture: Capture, reason: str) -> None:
        """Record why a capture has no record; it is not requested again before `try_again`."""
        values = (reason, url_key(capture.url))
        self.store.db.execute("UPDATE captures SET reason = ? WHERE key = ?", values)

    @in_transaction
    def try_again(self, reason: str) -> None:
        """Request the records again that could not be copied for a reason."""
        self.store.db.execute("UPDATE captures SET reason = '' WHERE reason = ?", (reason,))

    def failures(self) -> dict[str, int]:
        """The number of captures without a record, by reason."""
        query = "SELECT reason, count(*) FROM captures WHERE reason != '' GROUP BY reason"
        return dict(self.store.db.execute(query).fetchall())

    def copied(self) -> int:
        """The number of captures whose records have been copied."""
        query = "SELECT count(*) FROM captures WHERE key IN (SELECT key FROM archive)"
        return self.store.count(query)

    def copied_file(self) -> str:
        """An archive from which a record has been copied; empty if there is none."""
        query = "SELECT file FROM captures WHERE key IN (SELECT key FROM archive) LIMIT 1"
        row = self.store.db.execute(query).fetchone()
        return str(row[0]) if row else ""


LISTED = "listed"
"""the name under which all captures of a site are counted"""


def _depth(url: str) -> int:
    """The number of folders in the path of a URL.

    >>> _depth("http://a.org/"), _depth("http://a.org/en/b/c.html?d=/")
    (0, 2)
    """
    return url.partition("://")[2].partition("?")[0].count("/") - 1
