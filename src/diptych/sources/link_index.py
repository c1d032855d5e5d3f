"""A SQLite index of links between pages of different sites, by source and by target.

Rows are ordered by hashes of URLs.  If a page or host has many back links, its first rows are
therefore a random but reproducible sample.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from diptych.errors import SourceError
from diptych.files import reading, shipped_text
from diptych.run.encoding import read_links, valid_text, write_links
from diptych.text.urls import host_of, site_name, url_key
from diptych.types import Link, Url

APPLICATION = 0x44504C4B  # distinguishes the file from other databases
FORMAT = 1
POOL = 4  # factor by which more pages are considered than requested, to leave out hubs
MAX_LINKS = 5_000  # per page; a page with more links is not meant for people
MAX_TEXT = 500  # characters of an anchor
_IN_STEP = 500  # values per query


def _page_key(url: str) -> int:
    """The key of a page, which is the same for http and https, and with and without `www`.

    >>> _page_key("http://www.example.org/a") == _page_key("https://example.org/a")
    True
    """
    return url_key(url.partition("://")[2].removeprefix("www."))


def _host_key(url: str) -> int:
    return url_key(host_of(url).removeprefix("www."))


class LinkWriter:
    """Writes a link index; `commit` makes additions durable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.db = _connect(path, is_read_only=False)
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise SourceError(f"cannot write {path}: {error}") from error

    def _prepare(self) -> None:
        if self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            self.db.execute("PRAGMA journal_mode = WAL")
            schema = shipped_text("diptych.sources", "link_index.sql")
            self.db.executescript(
                f"BEGIN; {schema}; PRAGMA application_id = {APPLICATION};"
                f"PRAGMA user_version = {FORMAT}; COMMIT;"
            )
        _check(self.db, self.path)
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("PRAGMA cache_size = -65536")

    def add(self, source: Url, links: Iterable[Link]) -> int:
        """Save a page's links to other sites, and return the number of links saved."""
        site = site_name(source)
        kept = [_shortened(link) for link in links if site_name(link.url) != site][:MAX_LINKS]
        key = _page_key(source)
        self._begin()
        self.db.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (key, source, write_links(kept))
        )
        self.db.executemany(
            "INSERT OR IGNORE INTO backs VALUES (?, ?, ?)",
            [(_host_key(link.url), _page_key(link.url), key) for link in kept],
        )
        return len(kept)

    def has_read(self, path: str, size: int) -> bool:
        """True if a file has been read completely and its size has not changed since."""
        row = self.db.execute("SELECT size FROM files WHERE path = ?", (path,)).fetchone()
        return row is not None and row[0] == size

    def save_file(self, path: str, size: int, pages: int, note: str) -> None:
        """Record that a file has been read, with its number of pages and a note on any damage."""
        self._begin()
        row = (path, size, pages, valid_text(note))
        self.db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", row)

    def save_about(self, key: str, value: str) -> None:
        """Save a property of the whole index."""
        self._begin()
        self.db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def _begin(self) -> None:
        if not self.db.in_transaction:
            self.db.execute("BEGIN")

    def commit(self) -> None:
        """Make all additions durable."""
        if self.db.in_transaction:
            self.db.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):  # a single file can be moved; otherwise it is still readable
            self.db.execute("PRAGMA journal_mode = DELETE")
        self.db.close()


@dataclass(frozen=True, slots=True)
class LinkIndex:
    """A link index opened for reading, as a `LinkSource`."""

    path: Path
    db: sqlite3.Connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an index; raise a `SourceError` if the file is not a valid index."""
        with _reading(path):
            db = _connect(path, is_read_only=True)
            _check(db, path)
        return cls(path, db)

    def back_links(self, url: Url, limit: int) -> Sequence[Link]:
        """Back links from pages on other sites to a page, or to its host if the page has none.

        The first page of each site comes before any second page; pages with few links are
        preferred.
        """
        host, target, site = _host_key(url), _page_key(url), site_name(url)
        pool = POOL * max(limit, 0)
        rows = self._query(
            "SELECT source FROM backs WHERE host = ? AND target = ? LIMIT ?", (host, target, pool)
        )
        is_page = bool(rows)
        if not rows:
            rows = self._query("SELECT source FROM backs WHERE host = ? LIMIT ?", (host, pool))
        key_of, key = (_page_key, target) if is_page else (_host_key, host)
        found = []
        for source, links in self._pages([row[0] for row in rows]):
            aims = [link for link in links if key_of(link.url) == key]
            if aims and site_name(source) != site:
                found.append((len(links), _back_link(source, aims)))
        return _sites_in_turn(sorted(found))[: max(limit, 0)]

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | None:
        """A page's links to other sites; None if the page is not in the index."""
        for _, links in self._pages([_page_key(url)]):
            return links[: max(limit, 0)]
        return None

    def notes(self) -> list[str]:
        """The notes on damaged input files."""
        rows = self._query("SELECT path, note FROM files WHERE note != '' ORDER BY path", ())
        return [f"{path}: {note}" for path, note in rows]

    def _pages(self, keys: Sequence[int]) -> Iterator[tuple[Url, list[Link]]]:
        distinct = list(dict.fromkeys(keys))
        for start in range(0, len(distinct), _IN_STEP):
            some = distinct[start : start + _IN_STEP]
            marks = ",".join("?" * len(some))
            query = f"SELECT url, links FROM pages WHERE key IN ({marks}) ORDER BY key"
            for url, text in self._query(query, some):
                with _reading(self.path):
                    links = read_links(text)
                yield url, links

    def _query(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with _reading(self.path):
            return self.db.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the database."""
        self.db.close()


def _reading(path: Path) -> AbstractContextManager[None]:
    return reading(path, "readable link index", "rebuild it", error=SourceError)


def _connect(path: Path, *, is_read_only: bool) -> sqlite3.Connection:
    mode = "ro" if is_read_only else "rwc"
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True, isolation_level=None, timeout=30.0, check_same_thread=False,
    )  # fmt: skip


def _check(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise SourceError(f"{path} is not a link index; make one with: diptych backlinks wat")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        raise SourceError(
            f"{path} is a link index of format {version}; this version of Diptych reads"
            f" {FORMAT}: rebuild it"
        )


def _shortened(link: Link) -> Link:
    """Return the link with overlong texts truncated to `MAX_TEXT` characters."""
    anchor, around, alt = (text[:MAX_TEXT] for text in (link.anchor, link.around, link.alt))
    return link._replace(anchor=anchor, around=around, alt=alt)


def _back_link(source: Url, aims: Sequence[Link]) -> Link:
    """A back link from the page `source`, with the texts of the most descriptive of its links.

    `aims` are the links on that page to the target.
    """
    best = max(aims, key=lambda link: bool(link.anchor) + bool(link.around or link.alt))
    return Link(source, "back", "", best.anchor, best.around, best.alt, best.src)


def _sites_in_turn(ordered: Sequence[tuple[int, Link]]) -> list[Link]:
    """Reorder links: the first page of each site, then the second page of each site, and so on."""
    seen: Counter[str] = Counter()
    rounds = []
    for _, link in ordered:
        site = site_name(link.url)
        rounds.append((seen[site], link))
        seen[site] += 1
    return [link for _, link in sorted(rounds, key=lambda item: item[0])]
