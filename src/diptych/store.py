"""One run on disk: SQLite for what is known, WARC for what was answered.

The order of writing makes a run survive being killed at any instant: bytes go to the WARC first,
then one transaction records them.  On opening, a WARC is cut back to what the database knows of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson

from diptych.errors import StoreError
from diptych.text.urls import url_key
from diptych.types import (
    Decision,
    LangScore,
    Link,
    Page,
    PagePair,
    PageRecord,
    Response,
    SegmentPair,
    Url,
)
from diptych.warc import Pointer, compose_info, read_at

__all__ = ["SCHEMA_VERSION", "Store"]

SCHEMA_VERSION = 1
ROTATE_AT = 1_000_000_000  # bytes of a WARC file; the size Heritrix and Common Crawl use
CACHE_KIB = 65_536


class Store:
    """A run folder, open.  One process writes it at a time; others may read it meanwhile."""

    def __init__(self, folder: Path, *, write: bool = True, agent: str = "") -> None:
        self.folder = folder
        self._agent = agent
        self._lock: IO[str] | None = None
        self._warc: BinaryIO | None = None
        self._warc_id = 0
        self._open_files: dict[int, BinaryIO] = {}
        path = folder / "run.sqlite"
        if write:
            self._take_lock()
        elif not path.exists():
            raise StoreError(
                f"{folder} holds no run; make one with: diptych mine SITE --out {folder}"
            )
        self.db = self._connect(path, write=write)
        self._check_schema(write=write)
        if write:
            self._mend()

    # -- opening and closing -----------------------------------------------------------------

    def _take_lock(self) -> None:
        """Keep a second process from writing the same run."""
        lock = (self.folder / "run.lock").open("w", encoding="utf-8")
        try:
            import fcntl
        except ImportError:  # no advisory locks here; SQLite's own locking still protects the data
            self._lock = lock
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise StoreError(
                f"{self.folder} is in use by another diptych; wait for it or choose another --out"
            ) from error
        self._lock = lock

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
            schema = resources.files("diptych").joinpath("schema.sql").read_text("utf-8")
            self.db.executescript(
                f"BEGIN; {schema}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder} has schema {version}, this diptych reads {SCHEMA_VERSION}: "
                "use the diptych that made it (its version is in run.toml), or mine again with "
                f"--warc {self.folder}/warc --out NEW"
            )

    def _mend(self) -> None:
        """Bring the WARCs to what the database knows of them, after a kill or a power cut."""
        for id, path, size in self.db.execute("SELECT id, path, size FROM warcs").fetchall():
            file = self.folder / path
            if not self._is_own(path):
                continue
            actual = file.stat().st_size if file.exists() else 0
            if actual > size:
                with file.open("r+b") as stream:
                    stream.truncate(size)
            elif actual < size:
                self._forget_after(id, actual)
        known = {path for (path,) in self.db.execute("SELECT path FROM warcs")}
        for file in (self.folder / "warc").glob("diptych-*.warc.gz"):
            if f"warc/{file.name}" not in known:
                file.unlink()

    @staticmethod
    def _is_own(path: str) -> bool:
        return not Path(path).is_absolute()

    def _forget_after(self, warc: int, size: int) -> None:
        """Queue again the pages whose bytes a power cut took."""
        lost = "SELECT url FROM fetches WHERE warc = ? AND offset + length > ?"
        self.db.execute("BEGIN")
        self.db.execute(f"UPDATE urls SET state = 0, due = 0 WHERE key IN ({lost})", (warc, size))
        self.db.execute("DELETE FROM pages WHERE warc = ? AND offset + length > ?", (warc, size))
        self.db.execute("DELETE FROM fetches WHERE warc = ? AND offset + length > ?", (warc, size))
        self.db.execute("UPDATE warcs SET size = ? WHERE id = ?", (size, warc))
        self.db.execute("COMMIT")

    def close(self) -> None:
        """Commit and let go of all files."""
        if self._lock is not None:
            self.commit()
        if self._warc is not None:
            self._warc.close()
        for stream in self._open_files.values():
            stream.close()
        self._open_files.clear()
        self.db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- transactions ------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a transaction unless one is open."""
        if not self.db.in_transaction:
            self.db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make all since `begin` durable: bytes first, then what is known of them."""
        if self._warc is not None and self.db.in_transaction:
            self._warc.flush()
            self.db.execute(
                "UPDATE warcs SET size = ? WHERE id = ?", (self._warc.tell(), self._warc_id)
            )
        if self.db.in_transaction:
            self.db.execute("COMMIT")

    # -- bytes -------------------------------------------------------------------------------

    def append(self, record: bytes, now: float) -> Pointer:
        """Write a composed WARC record; it belongs to the run from the next commit on."""
        if self._warc is None or self._warc.tell() >= ROTATE_AT:
            self._next_warc(now)
        assert self._warc is not None
        offset = self._warc.tell()
        self._warc.write(record)
        return Pointer(self._warc_id, offset, len(record))

    def _next_warc(self, now: float) -> None:
        if self._warc is not None:
            self._warc.flush()
            self.db.execute(
                "UPDATE warcs SET size = ? WHERE id = ?", (self._warc.tell(), self._warc_id)
            )
            self._warc.close()
        row = self.db.execute(
            "SELECT id, path FROM warcs WHERE path LIKE 'warc/%' AND size < ?"
            " ORDER BY id DESC LIMIT 1",
            (ROTATE_AT,),
        ).fetchone()
        if row is not None and self._warc is None:
            self._warc_id, path = row
            self._warc = (self.folder / path).open("ab")
            return
        count = self.db.execute("SELECT count(*) FROM warcs WHERE path LIKE 'warc/%'").fetchone()[0]
        name = f"diptych-{count + 1:05d}.warc.gz"
        (self.folder / "warc").mkdir(exist_ok=True)
        self._warc = (self.folder / "warc" / name).open("wb")
        self._warc.write(compose_info(agent=self._agent, name=name, now=now))
        self._warc_id = self.add_warc(f"warc/{name}", self._warc.tell())

    def add_warc(self, path: str, size: int) -> int:
        """Make a WARC known and return its number; one of the user's has an absolute path."""
        self.db.execute(
            "INSERT INTO warcs (path, size) VALUES (?, ?) ON CONFLICT (path) DO NOTHING",
            (path, size),
        )
        id: int = self.db.execute("SELECT id FROM warcs WHERE path = ?", (path,)).fetchone()[0]
        return id

    def read(self, warc: int, offset: int) -> Response | None:
        """A response out of a WARC of this run."""
        stream = self._open_files.get(warc)
        if stream is None:
            path = self.db.execute("SELECT path FROM warcs WHERE id = ?", (warc,)).fetchone()[0]
            if len(self._open_files) >= 64:
                self._open_files.pop(next(iter(self._open_files))).close()
            try:
                stream = self._open_files[warc] = (self.folder / path).open("rb")
            except OSError as error:
                raise StoreError(f"the run needs {path}: {error.strerror}") from error
        return read_at(stream, offset)

    def response(self, url: Url) -> Response | None:
        """The answer a page was read from."""
        row = self.db.execute(
            "SELECT warc, offset FROM pages WHERE url = ?", (url_key(url),)
        ).fetchone()
        return self.read(*row) if row else None

    # -- sites, pages, links -----------------------------------------------------------------

    def site_id(self, name: str) -> int:
        """The number of a site, made known if it is new."""
        self.db.execute("INSERT INTO sites (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
        id: int = self.db.execute("SELECT id FROM sites WHERE name = ?", (name,)).fetchone()[0]
        return id

    def save_page(self, site: int, page: Page, pointer: Pointer) -> None:
        """Remember a page and its links."""
        record = page.record
        self.db.execute(
            "INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                url_key(record.url), site, record.lang, _write_scores(record.langs), record.title,
                record.depth, record.size, record.text_length, record.digest, record.html_lang,
                record.content_language, record.canonical, record.fetched_at, *pointer,
                orjson.dumps(list(map(tuple, page.links))).decode(),
            ),
        )  # fmt: skip

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
        for row in self.db.execute(
            "SELECT urls.url, lang, langs, title, pages.depth, size, text_length, digest,"
            " html_lang, content_language, canonical, fetched_at"
            " FROM pages JOIN urls ON urls.key = pages.url"
            " WHERE site = ? ORDER BY urls.url",
            (site,),
        ):
            yield PageRecord(row[0], row[1], _read_scores(row[2]), *row[3:])

    # -- pairs and segments ------------------------------------------------------------------

    def replace_pairs(self, site: int, pairs: Iterable[PagePair]) -> None:
        """Settle the pairs of a site; what is known of pairs that stay is kept."""
        rows = [
            (
                site,
                url_key(p.left),
                url_key(p.right),
                p.left_lang,
                p.right_lang,
                p.score,
                p.evidence,
            )
            for p in pairs
        ]
        self.begin()
        self.db.execute("CREATE TEMP TABLE IF NOT EXISTS settled (left INTEGER, right INTEGER)")
        self.db.execute("DELETE FROM settled")
        self.db.executemany("INSERT INTO settled VALUES (?, ?)", [row[1:3] for row in rows])
        self.db.execute(
            "DELETE FROM pairs WHERE site = ?"
            " AND (left, right) NOT IN (SELECT left, right FROM settled)",
            (site,),
        )
        self.db.executemany(
            "INSERT INTO pairs (site, left, right, left_lang, right_lang, score, evidence)"
            " VALUES (?,?,?,?,?,?,?) ON CONFLICT (left, right)"
            " DO UPDATE SET score = excluded.score, evidence = excluded.evidence",
            rows,
        )
        self.commit()

    def pairs(self, site: int, *, where: str = "1") -> list[tuple[int, PagePair]]:
        """Pairs of a site with their numbers, by URL."""
        rows = self.db.execute(
            "SELECT pairs.id, l.url, r.url, left_lang, right_lang, pairs.score, evidence FROM pairs"
            " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
            " LEFT JOIN decisions ON decisions.pair = pairs.id"
            f" WHERE site = ? AND {where} ORDER BY l.url, r.url",
            (site,),
        )
        return [(row[0], PagePair(*row[1:])) for row in rows]

    def save_decision(self, pair: int, decision: Decision) -> None:
        """Remember whether a pair was verified."""
        self.db.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?,?,?,?)",
            (pair, decision.accept, decision.score, decision.reason),
        )

    def save_segments(self, pair: int, segments: Iterable[tuple[SegmentPair, Decision]]) -> None:
        """Remember all segments of a pair, kept or not, and that it is aligned."""
        self.db.execute("DELETE FROM segments WHERE pair = ?", (pair,))
        self.db.executemany(
            "INSERT INTO segments"
            " (pair, position, left, right, left_path, right_path, score, accept, reason)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            [
                (
                    pair, position, seg.left, seg.right, seg.left_path, seg.right_path,
                    decision.score, decision.accept, decision.reason,
                )
                for position, (seg, decision) in enumerate(segments)
            ],
        )  # fmt: skip
        self.db.execute("UPDATE pairs SET aligned = 1 WHERE id = ?", (pair,))

    def segments(self) -> Iterator[SegmentPair]:
        """The corpus: all segments that were kept, in an order independent of the crawl."""
        for row in self.db.execute(
            "SELECT s.left, s.right, left_lang, right_lang, l.url, r.url, left_path, right_path,"
            " s.score FROM segments s JOIN pairs ON pairs.id = s.pair"
            " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
            " WHERE s.accept = 1 ORDER BY l.url, r.url, position"
        ):
            yield SegmentPair(*row)

    def count(self, query: str, *values: Any) -> int:
        """One number out of the database."""
        number: int = self.db.execute(query, values).fetchone()[0] or 0
        return number


def _write_scores(scores: Iterable[LangScore]) -> str:
    return " ".join(f"{lang}:{score:.3f}" for lang, score in scores)


def _read_scores(text: str) -> tuple[LangScore, ...]:
    scores = []
    for item in text.split():
        lang, _, score = item.partition(":")
        with suppress(ValueError):
            scores.append(LangScore(lang, float(score)))
    return tuple(scores)
