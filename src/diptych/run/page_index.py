"""A temporary index of archived pages, to find them by digest or URL if there is no run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from diptych.text.urls import url_key
from diptych.types import Url


class PagePlace(NamedTuple):
    """The location of a page in one of several archives."""

    digest: str
    url: Url
    file: int
    offset: int


class PageIndex:
    """An index of archived pages; it may be large, so it is stored in a temporary SQLite file."""

    def __init__(self, pages: Iterable[PagePlace]) -> None:
        self._db = sqlite3.connect("")
        self._db.execute(
            "CREATE TABLE pages (digest TEXT, url INTEGER, file INTEGER, offset INTEGER)"
        )
        self._db.executemany(
            "INSERT INTO pages VALUES (?, ?, ?, ?)",
            ((page.digest, url_key(page.url), page.file, page.offset) for page in pages),
        )
        self._db.execute("CREATE INDEX by_digest ON pages (digest)")
        self._db.execute("CREATE INDEX by_url ON pages (url)")

    def places(self, digest: str, url: Url, limit: int) -> list[tuple[int, int]]:
        """The file and offset of up to `limit` pages with this digest.

        Pages with the given URL come first.
        """
        return self._db.execute(
            "SELECT file, offset FROM pages WHERE digest = ? ORDER BY url != ?, file, offset"
            " LIMIT ?",
            (digest, url_key(url), limit),
        ).fetchall()

    def has(self, url: Url) -> bool:
        """True if there is a page with this URL, regardless of its content."""
        row = self._db.execute("SELECT 1 FROM pages WHERE url = ?", (url_key(url),)).fetchone()
        return row is not None
