"""Link source: Common Crawl's WAT files, which `diptych backlinks wat` indexes.

A WAT file contains a JSON record for each crawled page, which lists the page's links in the order
in which their elements end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from diptych.errors import SourceError
from diptych.files import parser_errors, reason_of
from diptych.sources.graph_files import CutOffError, blocks, part_files, size_of
from diptych.sources.link_index import LinkWriter
from diptych.text.urls import normalise, resolver
from diptych.types import Link, Url

COMMIT = 1_000  # pages between commits; if the process is killed, at most these are read again
MAX_RECORD = 20_000_000  # bytes of one page's JSON
_KINDS = {"A@/href": "a", "AREA@/href": "area", "FRAME@/src": "frame", "IFRAME@/src": "frame"}
_IMAGE = "IMG@/src"
_HTML = ("Envelope", "Payload-Metadata", "HTTP-Response-Metadata", "HTML-Metadata")


@dataclass(frozen=True, slots=True)
class WatFacts:
    """The result of indexing: counts of files, pages and links, and notes on damage."""

    files: int
    skipped: int
    """number of files skipped because they had been read before"""
    pages: int
    links: int
    bad: int
    """number of records that are not JSON"""
    notes: tuple[str, ...]


def index_wat(
    files: Iterable[str],
    out: Path,
    *,
    tick: Callable[[str, int], None] = lambda what, count: None,
) -> WatFacts:
    """Index WAT files in one SQLite file; files that have already been indexed are skipped.

    If the process is killed, the same call resumes with the interrupted file.  `tick` is called
    with a noun and a count to report progress.
    """
    paths = part_files(files)
    skipped = pages = links = bad = 0
    notes: list[str] = []
    try:
        with LinkWriter(out) as writer:
            for path in paths:
                size = size_of(path)
                if writer.has_read(path, size):
                    skipped += 1
                    continue
                reading = _WatFile(path)
                for url, found in reading.pages():
                    pages += 1
                    links += writer.add(url, found)
                    if pages % COMMIT == 0:
                        writer.commit()
                        tick("pages", pages)
                writer.save_file(path, size, reading.count, reading.note())
                writer.commit()
                bad += reading.bad
                notes += [f"{path}: {reading.note()}"] if reading.note() else []
    except sqlite3.Error as error:
        raise SourceError(f"cannot write {out}: {error}") from error
    return WatFacts(len(paths) - skipped, skipped, pages, links, bad, tuple(notes))


class _WatStream:
    """The content of a file as a stream for FastWARC; the stream ends where the file is damaged."""

    def __init__(self, path: str) -> None:
        self._pieces = blocks(path)
        self._piece, self._at, self._before = b"", 0, 0
        self.damage = ""

    def read(self, size: int) -> bytes:
        if self._at == len(self._piece):
            self._before += len(self._piece)
            try:
                self._piece, self._at = next(self._pieces, b""), 0
            except CutOffError as error:
                self._piece, self._at, self.damage = b"", 0, str(error)
        found = self._piece[self._at : self._at + size]
        self._at += len(found)
        return found

    def tell(self) -> int:
        return self._before + self._at


class _WatFile:
    """Reads the pages of a WAT file, and counts invalid records."""

    def __init__(self, path: str) -> None:
        self._text = _WatStream(path)
        self._error = ""
        self.count, self.bad, self.records = 0, 0, 0

    def pages(self) -> Iterator[tuple[Url, list[Link]]]:
        """Yield the URL and links of each page."""
        from fastwarc.warc import ArchiveIterator, WarcRecordType

        stream: Any = self._text  # FastWARC only calls read and tell
        try:
            for record in ArchiveIterator(stream, WarcRecordType.metadata, strict_mode=False):
                self.records += 1
                found = self._page(record)
                if found is not None:
                    self.count += 1
                    yield found
        except parser_errors() as error:
            self._error = reason_of(error)

    def _page(self, record: Any) -> tuple[Url, list[Link]] | None:
        if record.content_length > MAX_RECORD:
            self.bad += 1
            return None
        data = record.reader.read()
        try:
            content = orjson.loads(data)
        except ValueError:
            self.bad += 1
            return None
        return page_links(content)

    def note(self) -> str:
        """A message about problems with the file; empty if there are none."""
        notes = []
        damage = self._text.damage or self._error
        if damage:
            notes.append(
                f"damaged after page {self.count:,} ({damage}); the pages before that are used"
            )
        if self.bad:
            notes.append(f"skipped records that are not JSON: {self.bad:,}")
        if not self.records and not damage:
            notes.append("no metadata record: is it a WAT file?")
        return "; ".join(notes)


def page_links(content: object) -> tuple[Url, list[Link]] | None:
    """The URL and links of the page in a JSON record; None if the record is not an HTML page."""
    header = _inside(content, ("Envelope", "WARC-Header-Metadata"))
    html = _inside(content, _HTML)
    url = normalise(_text(header, "WARC-Target-URI"))
    if url is None or not html:
        return None
    head = _inside(html, ("Head",))
    base = resolver(url)(_text(head, "Base")) if _text(head, "Base") else None
    to_url = resolver(base or url)
    links = [*_alternates(_items(head, "Link"), to_url), *_anchors(_items(html, "Links"), to_url)]
    return url, links


def _anchors(
    items: Iterable[dict[str, Any]], to_url: Callable[[str], Url | None]
) -> Iterator[Link]:
    """Yield the links in the body of a page.

    An image inside a link is listed before the link, because the image element ends first.
    """
    image: dict[str, Any] = {}
    for item in items:
        path = _text(item, "path")
        url = to_url(_text(item, "url")) if path in _KINDS else None
        if url is not None:
            anchor = _text(item, "text").strip()
            alt, src = ("", "") if anchor else (_text(image, "alt"), _text(image, "url"))
            title = _text(item, "title")
            yield Link(url, _KINDS[path], _text(item, "hreflang"), anchor or title, "", alt, src)
        image = item if path == _IMAGE else {}


def _alternates(
    items: Iterable[dict[str, Any]], to_url: Callable[[str], Url | None]
) -> Iterator[Link]:
    """Yield links to the translations that the head of a page announces."""
    for item in items:
        url = to_url(_text(item, "url"))
        if url is not None and "alternate" in _text(item, "rel").lower() and not item.get("type"):
            yield Link(url, "alternate", _text(item, "hreflang"))


def _inside(content: object, keys: Iterable[str]) -> dict[str, Any]:
    """The object at a path of keys in nested JSON objects; empty if there is no such object."""
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


def _items(content: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = content.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _text(content: dict[str, Any], key: str) -> str:
    found = content.get(key)
    return found if isinstance(found, str) else ""
