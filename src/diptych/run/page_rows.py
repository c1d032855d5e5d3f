"""Parsed pages as rows of plain values, which one process writes and another stores in a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from diptych.page.answer import ReadAnswer
from diptych.page.template import EncodedPage
from diptych.run.encoding import decoding, encode_page, read_links, valid_text
from diptych.text.urls import url_key
from diptych.types import LangScore, Page, PageRecord, Url


class PageRow(NamedTuple):
    """An archived response; if it is a page that could be parsed, with the values of the page."""

    url: str
    offset: int
    """offset of the record in its archive"""
    is_page: bool
    body_size: int = 0
    fetched_at: float = 0.0
    lang: str = ""
    langs: str = ""
    """language scores, as JSON"""
    title: str = ""
    size: int = 0
    text_length: int = 0
    digest: str = ""
    """digest of the body; empty if the page was not parsed"""
    html_lang: str = ""
    content_language: str = ""
    canonical: str | None = None
    flags: str = ""
    text_key: int = 0
    links: str = ""
    """as in the table `pages`"""
    sketch: bytes = b""
    """as in the table `sketches`"""
    blocks: bytes = b""
    """the blocks of the sketch, as JSON"""
    content: bytes = b""
    """as in the table `contents`"""


def row_of(reading: ReadAnswer, offset: int) -> PageRow:
    """The row of a response to the URL of a page that has been parsed, or could not be."""
    page = reading.page
    if page is None:
        return PageRow(reading.url, offset, is_page=True)
    record, encoded = page.record, encode_page(page)
    langs = orjson.dumps([tuple(each) for each in record.langs]).decode()
    return PageRow(
        reading.url, offset, True, reading.size, reading.fetched_at, record.lang,
        langs, valid_text(record.title), record.size, record.text_length, record.digest,
        valid_text(record.html_lang), valid_text(record.content_language), record.canonical,
        " ".join(record.flags), record.text_key, encoded.links, encoded.sketch,
        orjson.dumps(encoded.blocks), page.content,
    )  # fmt: skip


def answer_of(row: PageRow, depth: int) -> ReadAnswer:
    """The response that a row was made from; raises `sqlite3.DatabaseError` if it is damaged."""
    with decoding(f"the row of {row.url}"):
        langs = tuple(LangScore(str(lang), float(score)) for lang, score in orjson.loads(row.langs))
        canonical = None if row.canonical is None else Url(row.canonical)
        record = PageRecord(
            Url(row.url), row.lang, langs, row.title, depth, row.size, row.text_length, row.digest,
            row.html_lang, row.content_language, canonical, row.fetched_at,
            tuple(row.flags.split()), row.text_key,
        )  # fmt: skip
        blocks = [(int(hash), float(length)) for hash, length in orjson.loads(row.blocks)]
        encoded = EncodedPage(row.links, row.sketch, blocks)
        page = Page(record, tuple(read_links(row.links)), content=row.content, encoded=encoded)
    return ReadAnswer(Url(row.url), 200, row.body_size, row.fetched_at, page)


class StagedPages:
    """The rows of the pages that a run has still to crawl, in a temporary SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.unlink(missing_ok=True)  # of a process that was killed
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        names = ", ".join(PageRow._fields[1:])
        self._db.execute(f"CREATE TABLE pages (key INTEGER PRIMARY KEY, url, {names})")

    def add(self, rows: Iterable[PageRow]) -> None:
        """Add rows in the order of the archives: of a URL with several pages, the last counts."""
        marks = ", ".join("?" * (1 + len(PageRow._fields)))
        self._db.execute("BEGIN")
        for row in rows:
            if row.digest:
                values = (url_key(Url(row.url)), *row)
                self._db.execute(f"INSERT OR REPLACE INTO pages VALUES ({marks})", values)
            elif row.is_page:
                self._db.execute("DELETE FROM pages WHERE key = ?", (url_key(Url(row.url)),))
        self._db.execute("COMMIT")

    def answer(self, url: Url, depth: int) -> ReadAnswer | None:
        """The parsed page at a URL; None if it must be read from its archive."""
        names = ", ".join(PageRow._fields)
        query = f"SELECT {names} FROM pages WHERE key = ?"
        found = self._db.execute(query, (url_key(url),)).fetchone()
        return None if found is None else answer_of(PageRow(*found), depth)

    def __enter__(self) -> StagedPages:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()
        with suppress(OSError):
            self._path.unlink()
