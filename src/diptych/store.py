"""One run on disk: SQLite for what is known, WARC for what was answered.

The order of writing makes a run survive being killed at any instant: bytes go to the WARC first,
then one transaction records them.  On opening, a WARC is cut back to what the database knows of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import IO, Any

import orjson

from diptych.archive import Archive
from diptych.errors import StoreError
from diptych.rows import read_scores, whole, write_links, write_scores
from diptych.text.urls import url_key
from diptych.types import (
    Decision,
    LangPair,
    Link,
    Page,
    PagePair,
    PageRecord,
    Response,
    SegmentPair,
    Url,
)
from diptych.warc import Pointer

__all__ = ["SCHEMA_VERSION", "Store"]

SCHEMA_VERSION = 2
CACHE_KIB = 65_536


class Store:
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

    # -- transactions ------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a transaction unless one is open."""
        if not self.db.in_transaction:
            self.db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make all since `begin` durable: bytes first, then what is known of them."""
        if self.db.in_transaction:
            self.archive.sync()
            self.db.execute("COMMIT")

    # -- sites and pages ---------------------------------------------------------------------

    def response(self, url: Url) -> Response | None:
        """The answer a page was read from."""
        row = self.db.execute(
            "SELECT warc, offset FROM pages WHERE url = ?", (url_key(url),)
        ).fetchone()
        return self.archive.read(*row) if row else None

    def site_id(self, name: str) -> int:
        """The number of a site, made known if it is new."""
        self.db.execute("INSERT INTO sites (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
        id: int = self.db.execute("SELECT id FROM sites WHERE name = ?", (name,)).fetchone()[0]
        return id

    def save_page(self, site: int, page: Page, pointer: Pointer) -> None:
        """Remember a page and its links."""
        record = page.record
        row = (
            url_key(record.url), site, record.lang, write_scores(record.langs),
            whole(record.title), record.depth, record.size, record.text_length, record.digest,
            whole(record.html_lang), whole(record.content_language), record.canonical,
            record.fetched_at, *pointer, write_links(page.links),
        )  # fmt: skip
        marks = ",".join("?" * len(row))
        self.db.execute(f"INSERT OR REPLACE INTO pages VALUES ({marks})", row)

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
            yield PageRecord(row[0], row[1], read_scores(row[2]), *row[3:])

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

    def sites(self) -> list[tuple[int, str]]:
        """Sites with their numbers, by name."""
        return self.db.execute("SELECT id, name FROM sites ORDER BY name").fetchall()

    def lang_pairs(self) -> list[LangPair]:
        """The languages that pairs are in."""
        rows = self.db.execute(
            "SELECT DISTINCT left_lang, right_lang FROM pairs ORDER BY left_lang, right_lang"
        )
        return [LangPair(*row) for row in rows]

    def pairs_to_align(self, site: int, langs: LangPair, number: int) -> list[tuple[int, PagePair]]:
        """Pairs of two languages that have not been through a pass; rejected ones need but one."""
        return [
            (id, pair)
            for id, pair in self.pairs(
                site,
                where="(decisions.pair IS NULL OR aligned = 0"
                f" OR (aligned < {number:d} AND decisions.accept))",
            )
            if (pair.left_lang, pair.right_lang) == langs
        ]

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

    def save_segments(
        self, pair: int, segments: Sequence[tuple[SegmentPair, Decision]], number: int = 1
    ) -> tuple[int, int]:
        """Remember all segments of a pair, kept or not, and which pass it has been through.

        How many were kept before and are now.
        """
        before = self.count("SELECT count(*) FROM segments WHERE pair = ? AND accept", pair)
        self.db.execute("DELETE FROM segments WHERE pair = ?", (pair,))
        self.db.executemany(
            "INSERT INTO segments"
            " (pair, position, left, right, left_path, right_path, score, accept, reason)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            [
                (
                    pair, position, whole(seg.left), whole(seg.right),
                    seg.left_path, seg.right_path,
                    decision.score, decision.accept, decision.reason,
                )
                for position, (seg, decision) in enumerate(segments)
            ],
        )  # fmt: skip
        self.db.execute("UPDATE pairs SET aligned = ? WHERE id = ?", (number, pair))
        return before, sum(decision.accept for _, decision in segments)

    def begin_alignment(self, langs: LangPair) -> None:
        """Forget what pairs of two languages were aligned to when others were there."""
        digest = blake2b(digest_size=16)
        for row in self.db.execute(
            "SELECT l.url, r.url, a.digest, b.digest FROM pairs"
            " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
            " JOIN pages a ON a.url = pairs.left JOIN pages b ON b.url = pairs.right"
            " WHERE left_lang = ? AND right_lang = ? ORDER BY l.url, r.url",
            langs,
        ):
            digest.update("\0".join(row).encode() + b"\n")
        basis = digest.hexdigest()
        if self.count(
            "SELECT count(*) FROM lexicons WHERE left_lang = ? AND right_lang = ? AND basis = ?",
            *langs, basis,
        ):  # fmt: skip
            return
        self.begin()
        self.db.execute(
            "UPDATE pairs SET aligned = 0 WHERE left_lang = ? AND right_lang = ?", langs
        )
        self.db.execute("INSERT OR REPLACE INTO lexicons VALUES (?,?,?,NULL)", (*langs, basis))
        self.commit()

    def lexicon(self, langs: LangPair) -> bytes | None:
        """What was learned of two languages, if it was."""
        row = self.db.execute(
            "SELECT data FROM lexicons WHERE left_lang = ? AND right_lang = ?", langs
        ).fetchone()
        return row[0] if row else None

    def save_lexicon(self, langs: LangPair, data: bytes) -> None:
        """Remember what was learned."""
        self.begin()
        self.db.execute(
            "UPDATE lexicons SET data = ? WHERE left_lang = ? AND right_lang = ?", (data, *langs)
        )
        self.commit()

    def taught(self, langs: LangPair, *, least: float, most: int) -> list[tuple[str, str]]:
        """Segments of two languages that were kept with such a score at least, each once.

        Of too many, some from all over.
        """
        kept = (
            " FROM segments s JOIN pairs ON pairs.id = s.pair WHERE s.accept"
            " AND left_lang = ? AND right_lang = ? AND s.score >= ?"
        )
        every = max(1, -(-self.count(f"SELECT count(*){kept}", *langs, least) // most))
        return self.db.execute(
            "SELECT left, right FROM (SELECT s.left, s.right,"
            f" row_number() OVER (ORDER BY s.left, s.right) AS n{kept})"
            " WHERE n % ? = 0 GROUP BY left, right ORDER BY left, right",
            (*langs, least, every),
        ).fetchall()

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
