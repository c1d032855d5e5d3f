"""SQL queries for the pages of a run: records, links, sketches, contents, fetches and sites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from diptych.errors import ArchiveError
from diptych.language.codes import wanted_language
from diptych.page.content import READER, Content, unpack_outline
from diptych.page.declarations import Checked
from diptych.page.template import Blocks
from diptych.run.archive import OWN
from diptych.run.database import Database
from diptych.run.encoding import (
    decoding,
    encode_page,
    read_blocks,
    read_links,
    read_scores,
    read_sketch,
    valid_text,
    write_scores,
    write_sketch,
)
from diptych.run.queries import SQL
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Link, Outlook, Page, PageRecord, Response, Sketch, Url

_RECORD = (
    "SELECT urls.url, lang, langs, title, pages.depth, size, text_length, digest, html_lang,"
    " content_language, canonical, fetched_at, flags, text_key"
    " FROM pages JOIN urls ON urls.key = pages.url"
)


class Pages(Database):
    """The part of the store for crawl data: pages, links, sketches, contents, fetches, sites."""

    def response(self, url: Url) -> Response | None:
        """The response that a page was parsed from; None if the page is not stored."""
        row = self.db.execute(
            "SELECT warc, offset FROM pages WHERE url = ?", (url_key(url),)
        ).fetchone()
        return self.archive.read(*row) if row else None

    def answer(self, url: Url) -> Response | None:
        """The last response to a URL, whether or not it is a page; None if it cannot be read."""
        return self._read_if_whole(SQL["last_answer"], url)

    def good_answer(self, url: Url) -> Response | None:
        """The last response to a URL that could be used; None if it cannot be read."""
        return self._read_if_whole(SQL["last_good_answer"], url)

    def _read_if_whole(self, query: str, url: Url) -> Response | None:
        """The response at the place that a query finds; None if there is none or it is damaged."""
        row = self.db.execute(query, (url_key(url),)).fetchone()
        with suppress(ArchiveError):
            return self.archive.read(*row) if row else None
        return None

    def page(self, url: Url) -> Page | None:
        """Load a page with its record and links; None if the page is not stored."""
        record = self.record(url)
        row = self.db.execute("SELECT links FROM pages WHERE url = ?", (url_key(url),)).fetchone()
        if record is None or row is None:
            return None
        return Page(record, tuple(read_links(row[0])))

    def stored(self, urls: Iterable[Url]) -> set[Url]:
        """Those of some URLs whose pages are stored; a query for all takes hardly longer."""
        keys = {url_key(url): url for url in urls}
        marks = ",".join("?" * len(keys))
        rows = self.db.execute(f"SELECT url FROM pages WHERE url IN ({marks})", tuple(keys))
        return {keys[key] for (key,) in rows}

    def has_pages(self) -> bool:
        """True if at least one page has been fetched."""
        return bool(self.count("SELECT EXISTS (SELECT 1 FROM pages)"))

    def is_answered(self) -> bool:
        """True if any server has answered a request, or an index has listed captures."""
        return bool(
            self.count("SELECT EXISTS (SELECT 1 FROM fetches WHERE status > 0)")
            or self.count("SELECT EXISTS (SELECT 1 FROM captures)")
        )

    def has_copies(self) -> bool:
        """True if records of other archives have been copied into this run."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM archive WHERE warc IN (SELECT id FROM warcs WHERE {}))"
        )
        return bool(self.count(query.format(OWN)))

    def site_id(self, name: str) -> int:
        """Return the id of a site; a new site is registered first."""
        self.db.execute("INSERT INTO sites (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
        id: int = self.db.execute("SELECT id FROM sites WHERE name = ?", (name,)).fetchone()[0]
        return id

    def save_outlook(self, site: int, outlook: Outlook) -> None:
        """Save the numbers of pairs found and still expected on a site."""
        self.db.execute(
            "UPDATE sites SET found = ?, left = ? WHERE id = ?",
            (outlook.found, outlook.left, site),
        )

    def outlook(self) -> Outlook | None:
        """The numbers of pairs found and still expected on all sites; None without an estimate."""
        found, left = self.db.execute(SQL["outlook"]).fetchone()
        return Outlook(found, left) if left is not None else None

    def save_page(self, site: int, page: Page, pointer: Pointer) -> None:
        """Save a page, its links, its sketch and its content."""
        self.begin_again()
        record, encoded = page.record, encode_page(page)
        row = (
            url_key(record.url), site, record.lang, write_scores(record.langs),
            valid_text(record.title), record.depth, record.size, record.text_length, record.digest,
            valid_text(record.html_lang), valid_text(record.content_language), record.canonical,
            record.fetched_at, *pointer, encoded.links, " ".join(record.flags),
            record.text_key,
        )  # fmt: skip
        marks = ",".join("?" * len(row))
        self.db.execute(f"INSERT OR REPLACE INTO pages VALUES ({marks})", row)
        # If the page was fetched again, its old sketch and content are outdated.
        if not encoded.sketch:
            self.db.execute("DELETE FROM sketches WHERE url = ?", (row[0],))
        if not encoded.sketch or not page.content:
            self.db.execute("DELETE FROM contents WHERE url = ?", (row[0],))
        if encoded.sketch:
            self._save_sketch(record.url, encoded.sketch, page.content)

    def save_sketch(self, url: Url, sketch: Sketch, content: bytes = b"") -> None:
        """Save the sketch of a page, and its content unless that is empty.

        All pages must then be paired again.
        """
        self.begin_again()
        self.db.execute("UPDATE learning SET is_done = 0")
        self._save_sketch(url, write_sketch(sketch), content)

    def _save_sketch(self, url: Url, data: bytes, content: bytes) -> None:
        key = url_key(url)
        self.db.execute("INSERT OR REPLACE INTO sketches VALUES (?, ?)", (key, data))
        if content:
            row = (key, READER, content)
            self.db.execute("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", row)

    def content(self, url: Url) -> Content | None:
        """The blocks and the tree of a page; None if they must be read from the archive.

        That is so if they were not stored, if another version stored them, or if they are damaged.
        """
        row = self.db.execute(
            "SELECT data FROM contents WHERE url = ? AND reader = ?", (url_key(url), READER)
        ).fetchone()
        return unpack_outline(row[0]) if row and isinstance(row[0], bytes) else None

    def sketches(self, site: int) -> Iterator[tuple[Url, Sketch]]:
        """Yield the URL and sketch of each page of a site, sorted by URL."""
        for url, data in self.db.execute(SQL["sketches"], (site,)):
            yield url, read_sketch(data)

    def blocks(self, site: int) -> Iterator[tuple[Url, Blocks]]:
        """Yield the URL and blocks of each page of a site that has a sketch, sorted by URL."""
        for url, data in self.db.execute(SQL["sketches"], (site,)):
            yield url, read_blocks(data)

    def blocks_of(self, url: Url) -> Blocks | None:
        """The blocks of a page; None if it has no sketch."""
        row = self.db.execute("SELECT data FROM sketches WHERE url = ?", (url_key(url),)).fetchone()
        return read_blocks(row[0]) if row else None

    def sketch(self, url: Url) -> Sketch | None:
        """The sketch of a page; None if it has no sketch."""
        row = self.db.execute("SELECT data FROM sketches WHERE url = ?", (url_key(url),)).fetchone()
        return read_sketch(row[0]) if row else None

    def without_sketch(self, langs: Sequence[str]) -> list[Url]:
        """The URLs of the pages in the given languages that have no sketch yet, sorted."""
        rows = self.db.execute(SQL["pages_without_sketch"])
        return [url for url, scores in rows if wanted_language(read_scores(scores), langs)]

    def save_declarations(self, site: int, checked: Iterable[Checked]) -> None:
        """Save the results of checking a site's declarations."""
        with self.transaction():
            self.db.execute("DELETE FROM declarations WHERE site = ?", (site,))
            rows = [(site, *each) for each in checked]
            self.db.executemany("INSERT INTO declarations VALUES (?, ?, ?, ?, ?, ?)", rows)

    def announce(self, site: int, links: Iterable[tuple[Url, Link]]) -> None:
        """Save the translations that a sitemap announces, given as (page, link)."""
        self.db.executemany(
            "INSERT OR IGNORE INTO announced VALUES (?, ?, ?, ?)",
            [(site, source, link.url, link.hreflang) for source, link in links],
        )

    def links(self, site: int) -> Iterator[tuple[Url, list[Link]]]:
        """Yield (page, links): first the links on a site's pages, then those in its sitemaps."""
        for url, links in self.db.execute(SQL["links"], (site,)):
            yield url, read_links(links)
        for source, target, hreflang in self.db.execute(
            "SELECT source, target, hreflang FROM announced WHERE site = ?", (site,)
        ):
            yield source, [Link(target, "alternate", hreflang)]

    def save_fetch(
        self, site: int, url: Url, at: float, *, status: int, size: int, reason: str,
        pointer: Pointer | None,
    ) -> None:  # fmt: skip
        """Save the outcome of a request: a response, or the reason why there is none."""
        place = pointer or (None, None, None)
        row = (url_key(url), site, at, status, size, reason, *place)
        self.db.execute(SQL["save_fetch"], row)

    def records(self, site: int) -> Iterator[PageRecord]:
        """Yield the records of all pages of a site, sorted by URL."""
        for row in self.db.execute(f"{_RECORD} WHERE site = ? ORDER BY urls.url", (site,)):
            yield _record(row)

    def titles(self, site: int, lang: str | None = None) -> Iterator[str]:
        """Yield the distinct titles of a site's pages in a language, or in all languages."""
        return (title for (title,) in self.db.execute(SQL["titles"], (site, lang)))

    def page_languages(self, site: int) -> list[str]:
        """The main languages of a site's pages, sorted."""
        query = "SELECT DISTINCT lang FROM pages WHERE site = ? ORDER BY lang"
        return [lang for (lang,) in self.db.execute(query, (site,))]

    def record(self, url: Url) -> PageRecord | None:
        """The record of a page; None if the page is not stored."""
        row = self.db.execute(f"{_RECORD} WHERE pages.url = ?", (url_key(url),)).fetchone()
        return _record(row) if row else None


def _record(row: Sequence[Any]) -> PageRecord:
    with decoding("the record of a page"):
        *facts, flags, text_key = row
        facts[2] = read_scores(facts[2])
        facts += (tuple(flags.split()), int(text_key))
        return PageRecord(*facts)
