"""One run on disk: SQLite for what is known, WARC for what was answered.

The order of writing makes a run survive being killed at any instant: bytes go to the WARC first,
then one transaction records them.  On opening, a WARC is cut back to what the database knows of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import IO, Any

import orjson

from diptych.errors import StoreError
from diptych.language.codes import wanted_language
from diptych.run.archive import Archive
from diptych.run.encoding import (
    read_scores,
    read_sketch,
    whole,
    write_links,
    write_scores,
    write_sketch,
)
from diptych.run.pairs import Findings
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Link, Outlook, Page, PageRecord, Response, Sketch, Url

__all__ = ["SCHEMA_VERSION", "Store"]

SCHEMA_VERSION = 6
CACHE_KIB = 65_536
_RECORD = (
    "SELECT urls.url, lang, langs, title, pages.depth, size, text_length, digest, html_lang,"
    " content_language, canonical, fetched_at, flags FROM pages JOIN urls ON urls.key = pages.url"
)


class Store(Findings):
    """A run folder, open.  One process writes it at a time; others may read it meanwhile."""

    def __init__(self, folder: Path, *, write: bool = True, agent: str = "") -> None:
        self.folder = folder
        self._lock: IO[str] | None = None
        path = folder / "run.sqlite"
        if write:
            self._lock = self._take_lock()
        elif not path.exists():
            raise StoreError(
                f"{folder} holds no run; make one with: diptych mine SITE --out {folder}"
            )
        opened = False
        try:
            self.db = self._connect(path, write=write)
            self.archive = Archive(folder, self.db, agent=agent)
            self._check_schema(write=write)
            if write:
                self.archive.mend()
            opened = True
        finally:
            if not opened:
                if hasattr(self, "db"):
                    self.db.close()
                self._unlock()

    # -- opening and closing -----------------------------------------------------------------

    def _take_lock(self) -> IO[str]:
        """Keep a second process from writing the same run."""
        lock = (self.folder / "run.lock").open("w", encoding="utf-8")
        try:
            import fcntl
        except ImportError:  # no advisory locks here; SQLite's own locking still protects the data
            return lock
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise StoreError(
                f"{self.folder} is in use by another diptych; wait for it or choose another --out"
            ) from error
        return lock

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @staticmethod
    def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
        try:
            db = sqlite3.connect(
                path if write else f"{path.resolve().as_uri()}?mode=ro",
                uri=not write,
                isolation_level=None,
                timeout=30.0,
                cached_statements=256,
                check_same_thread=False,
            )
            if write:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {path}: {error}") from error
        return db

    def _check_schema(self, *, write: bool) -> None:
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        empty = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if empty and write:
            if any((self.folder / "warc").glob("diptych-*.warc.gz")):
                raise StoreError(
                    f"{self.folder} has lost its run.sqlite; mine what it fetched again with: "
                    f"--warc {self.folder}/warc --out NEW"
                )
            schema = resources.files("diptych.run").joinpath("schema.sql").read_text("utf-8")
            self.db.executescript(
                f"BEGIN; {schema}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder} has schema {version}, this diptych reads {SCHEMA_VERSION}: "
                "use the diptych that made it (its version is in run.toml), or mine again with "
                f"--warc {self.folder}/warc --out NEW"
            )

    def close(self) -> None:
        """Commit and let go of all files."""
        if self._lock is not None:
            self.commit()
        self.archive.close()
        self.db.close()
        self._unlock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- sites and pages ---------------------------------------------------------------------

    def response(self, url: Url) -> Response | None:
        """The answer a page was read from."""
        row = self.db.execute(
            "SELECT warc, offset FROM pages WHERE url = ?", (url_key(url),)
        ).fetchone()
        return self.archive.read(*row) if row else None

    def answer(self, url: Url) -> Response | None:
        """The last answer that a URL gave, whatever it was."""
        row = self.db.execute(
            "SELECT warc, offset FROM fetches WHERE url = ? AND warc IS NOT NULL"
            " ORDER BY id DESC LIMIT 1",
            (url_key(url),),
        ).fetchone()
        return self.archive.read(*row) if row else None

    def page(self, url: Url) -> Page | None:
        """A page as it was read: its record and its links."""
        record = self.record(url)
        row = self.db.execute("SELECT links FROM pages WHERE url = ?", (url_key(url),)).fetchone()
        if record is None or row is None:
            return None
        return Page(record, tuple(Link(*link) for link in orjson.loads(row[0])))

    def events(self, site: int) -> list[tuple[str, str]]:
        """What the crawl of a site has met with, in order."""
        rows = self.db.execute("SELECT what, data FROM events WHERE site = ? ORDER BY id", (site,))
        return rows.fetchall()

    def site_id(self, name: str) -> int:
        """The number of a site, made known if it is new."""
        self.db.execute("INSERT INTO sites (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
        id: int = self.db.execute("SELECT id FROM sites WHERE name = ?", (name,)).fetchone()[0]
        return id

    def save_outlook(self, site: int, outlook: Outlook) -> None:
        """Remember what the crawl of a site has brought and may still bring."""
        self.db.execute(
            "UPDATE sites SET found = ?, left = ? WHERE id = ?",
            (outlook.found, outlook.left, site),
        )

    def outlook(self) -> Outlook | None:
        """What the crawls of all sites have brought and may still bring, if that is known."""
        found, left = self.db.execute("SELECT sum(found), sum(left) FROM sites").fetchone()
        return Outlook(found, left) if left is not None else None

    def save_page(self, site: int, page: Page, pointer: Pointer) -> None:
        """Remember a page and its links."""
        record = page.record
        row = (
            url_key(record.url), site, record.lang, write_scores(record.langs),
            whole(record.title), record.depth, record.size, record.text_length, record.digest,
            whole(record.html_lang), whole(record.content_language), record.canonical,
            record.fetched_at, *pointer, write_links(page.links), " ".join(record.flags),
        )  # fmt: skip
        marks = ",".join("?" * len(row))
        self.db.execute(f"INSERT OR REPLACE INTO pages VALUES ({marks})", row)
        # Of a page that was fetched again the old sketch no longer holds.
        self.db.execute("DELETE FROM sketches WHERE url = ?", (row[0],))
        if page.sketch is not None:
            self.save_sketch(record.url, page.sketch)

    def save_sketch(self, url: Url, sketch: Sketch) -> None:
        """Remember what of a page's content tells its counterpart."""
        self.db.execute(
            "INSERT OR REPLACE INTO sketches VALUES (?, ?)", (url_key(url), write_sketch(sketch))
        )

    def sketches(self, site: int) -> Iterator[tuple[Url, Sketch]]:
        """The sketches of a site's pages, by URL."""
        for url, data in self.db.execute(
            "SELECT urls.url, data FROM sketches JOIN pages ON pages.url = sketches.url"
            " JOIN urls ON urls.key = pages.url WHERE site = ? ORDER BY urls.url",
            (site,),
        ):
            yield url, read_sketch(data)

    def sketch(self, url: Url) -> Sketch | None:
        """The sketch of one page."""
        row = self.db.execute("SELECT data FROM sketches WHERE url = ?", (url_key(url),)).fetchone()
        return read_sketch(row[0]) if row else None

    def without_sketch(self, langs: Sequence[str]) -> list[Url]:
        """Pages in some languages that have no sketch yet, by URL."""
        rows = self.db.execute(
            "SELECT urls.url, langs FROM pages JOIN urls ON urls.key = pages.url"
            " WHERE pages.url NOT IN (SELECT url FROM sketches) ORDER BY urls.url"
        )
        return [url for url, scores in rows if wanted_language(read_scores(scores), langs)]

    def announce(self, site: int, links: Iterable[tuple[Url, Link]]) -> None:
        """Remember translations that a sitemap announces, as (page, link)."""
        self.db.executemany(
            "INSERT OR IGNORE INTO announced VALUES (?, ?, ?, ?)",
            [(site, source, link.url, link.hreflang) for source, link in links],
        )

    def links(self, site: int) -> Iterator[tuple[Url, list[Link]]]:
        """The links of each page of a site, and those that sitemaps announce, by page."""
        for url, links in self.db.execute(
            "SELECT urls.url, links FROM pages JOIN urls ON urls.key = pages.url"
            " WHERE site = ? ORDER BY urls.url",
            (site,),
        ):
            yield url, [Link(*link) for link in orjson.loads(links)]
        for source, target, hreflang in self.db.execute(
            "SELECT source, target, hreflang FROM announced WHERE site = ?", (site,)
        ):
            yield source, [Link(target, "alternate", hreflang)]

    def save_fetch(
        self, site: int, url: Url, at: float, *, status: int, size: int, reason: str,
        pointer: Pointer | None,
    ) -> None:  # fmt: skip
        """Remember that an answer came, or why none did."""
        self.db.execute(
            "INSERT INTO fetches (url, site, at, status, size, reason, warc, offset, length)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            (url_key(url), site, at, status, size, reason, *(pointer or (None, None, None))),
        )

    def records(self, site: int) -> Iterator[PageRecord]:
        """All pages of a site, by URL."""
        for row in self.db.execute(f"{_RECORD} WHERE site = ? ORDER BY urls.url", (site,)):
            yield _record(row)

    def record(self, url: Url) -> PageRecord | None:
        """What is known of one page."""
        row = self.db.execute(f"{_RECORD} WHERE pages.url = ?", (url_key(url),)).fetchone()
        return _record(row) if row else None


def _record(row: Sequence[Any]) -> PageRecord:
    record = PageRecord(row[0], row[1], read_scores(row[2]), *row[3:-1])
    return replace(record, flags=tuple(row[-1].split())) if row[-1] else record
