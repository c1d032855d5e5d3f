"""SQL queries for the archives that a run mines: the files read so far and their responses."""

from __future__ import annotations

from dataclasses import dataclass

from diptych.reason import Reason
from diptych.run.database import Database
from diptych.run.queries import SQL
from diptych.text.urls import url_key
from diptych.types import Url


@dataclass(frozen=True, slots=True)
class ArchiveIndex:
    """An index of the responses in a run's archives; the caller manages the transaction."""

    store: Database

    def has(self, path: str, size: int) -> bool:
        """True if this archive has already been read and its size has not changed since."""
        row = self.store.db.execute("SELECT size FROM warcs WHERE path = ?", (path,)).fetchone()
        return bool(row == (size,))

    def is_read(self, path: str) -> bool:
        """True if this archive has been read, whatever its size was."""
        row = self.store.db.execute("SELECT size FROM warcs WHERE path = ?", (path,)).fetchone()
        return row is not None and row[0] >= 0

    def forget(self, warc: int, error: str) -> None:
        """Mark an archive as not read, with an error message."""
        self.store.db.execute("UPDATE warcs SET size = -1, error = ? WHERE id = ?", (error, warc))

    def add(self, url: Url, warc: int, offset: int, *, is_page: bool) -> None:
        """Add the location of a response to a URL.

        A response that is not a page does not replace a page.
        """
        row = (url_key(url), url, warc, offset, is_page)
        self.store.db.execute(SQL["save_archived_answer"], row)

    def finish(self, warc: int, size: int, error: str) -> None:
        """Mark an archive as read, with its size and an error message, which is usually empty.

        URLs that could not be found in the archives read before are queued again.
        """
        values = (size, error, warc)
        self.store.db.execute("UPDATE warcs SET size = ?, error = ? WHERE id = ?", values)
        self.queue_missing()

    def queue_missing(self) -> None:
        """Queue the URLs again that were not archived before."""
        self.store.db.execute(SQL["queue_urls_by_reason"], (Reason.NOT_ARCHIVED,))

    def has_answers(self) -> bool:
        """True if there is a response in any archive."""
        return self.store.db.execute("SELECT 1 FROM archive LIMIT 1").fetchone() is not None

    def errors(self) -> list[str]:
        """Error messages about archives, sorted by path."""
        rows = self.store.db.execute("SELECT error FROM warcs WHERE error != '' ORDER BY path")
        return [error for (error,) in rows]

    def pages(self) -> list[Url]:
        """The URLs of all pages in the archives, sorted."""
        rows = self.store.db.execute("SELECT url FROM archive WHERE page = 1 ORDER BY url")
        return [url for (url,) in rows]

    def place(self, url: Url) -> tuple[int, int] | None:
        """The archive id and offset of the response to a URL; None if it is not archived."""
        query = "SELECT warc, offset FROM archive WHERE key = ?"
        found: tuple[int, int] | None = self.store.db.execute(query, (url_key(url),)).fetchone()
        return found
