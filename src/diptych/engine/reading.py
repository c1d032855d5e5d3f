"""The task of a worker process: parse a response, and compose its WARC record."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import orjson

from diptych.engine.worker import Failed, attempt
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.sitemaps import SitemapEntry
from diptych.page.template import EncodedPage
from diptych.run.encoding import encode_page, read_links
from diptych.run.open_archives import OpenArchives
from diptych.run.warc import compose
from diptych.types import Failure, Kind, Page, PageRecord, Response, Url

_PART = 1000  # entries of a sitemap per part
_FIELDS = tuple(field.name for field in fields(PageRecord))


class ReadTask(NamedTuple):
    """A task that parses a response; its result is packed for the parent process."""

    kind: Kind
    response: Response
    depth: int
    langs: tuple[str, ...]
    with_sketch: bool = False
    with_record: bool = True
    """True if the WARC record is to be composed too"""

    def run(self, context: None) -> bytes:
        """Parse the response, and return it with its WARC record, serialised by `pack`."""
        reading = read_answer(
            self.kind, self.response,
            depth=self.depth, langs=self.langs, with_sketch=self.with_sketch,
        )  # fmt: skip
        return pack(reading, compose(self.response) if self.with_record else b"")


class ArchivedTask(NamedTuple):
    """A task that reads a response from an archive, and parses it."""

    kind: Kind
    path: str
    offset: int
    depth: int
    langs: tuple[str, ...]

    def run(self, archives: OpenArchives) -> bytes | None:
        """Return the parsed response, serialised by `pack`; None if it is not in the archive."""
        response = archives.read(self.path, self.offset)
        if response is None:
            return None
        task = ReadTask(
            self.kind, response, self.depth, self.langs, with_sketch=True, with_record=False
        )
        return task.run(None)


class ArchivedPagesTask(NamedTuple):
    """A task that reads several responses, because a message for each takes a tenth of the time."""

    folder: str
    """folder of the run"""
    tasks: tuple[ArchivedTask, ...]

    @property
    def is_batch(self) -> bool:
        """True if there are several responses; each is read alone if the task fails."""
        return len(self.tasks) > 1

    def run(self, context: None) -> list[bytes | Failed | None]:
        """Return the result of each task; one that raises an exception does not affect others.

        The archives are opened for this task only: that takes far less time than parsing a page.
        """
        with closing(OpenArchives(Path(self.folder))) as archives:
            return [attempt(task, archives) for task in self.tasks]


def read_result(
    url: Url, result: bytes | Failed
) -> Iterator[tuple[ReadAnswer | Failure, bytes] | None]:
    """Unpack the result of a `ReadTask`, in short steps.

    Each step yields None, except the last, which yields the parsed response and its WARC record.
    If the task failed, a `Failure` for `url` and an empty record are yielded.
    """
    if isinstance(result, Failed):
        yield Failure(url, result.reason), b""
    else:
        yield from unpack(result)


def pack(reading: ReadAnswer, record: bytes) -> bytes:
    """Serialise a parsed response and its record for the parent process.

    The links and the sketch of a page are sent as they are stored, because unpickling them takes
    longer than parsing the page.  Sitemap entries are sent in parts, which are unpacked one by one:
    there may be 50,000.
    """
    page: tuple[object, ...] = ()
    parts: tuple[bytes, ...] = ()
    if reading.page is not None:
        encoded = encode_page(reading.page)
        values = tuple([getattr(reading.page.record, name) for name in _FIELDS])
        blocks = orjson.dumps(encoded.blocks)
        page = values, reading.page.content, encoded.links, encoded.sketch, blocks
        reading = reading._replace(page=None)
    if reading.sitemap is not None:
        entries = reading.sitemap.entries
        starts = range(0, len(entries), _PART)
        parts = tuple(pickle.dumps(entries[start : start + _PART]) for start in starts)
        reading = reading._replace(sitemap=replace(reading.sitemap, entries=()))
    return pickle.dumps((reading, page, parts, record), pickle.HIGHEST_PROTOCOL)


def unpack(frame: bytes) -> Iterator[tuple[ReadAnswer, bytes] | None]:
    """Unpack data that `pack` has produced, in short steps.

    Each step yields None, except the last, which yields the parsed response and its WARC record.
    """
    reading: ReadAnswer
    reading, page, parts, record = pickle.loads(frame)
    if page:
        values, content, links, sketch, blocks = page
        encoded = EncodedPage(links, sketch, orjson.loads(blocks))
        own = Page(PageRecord(*values), tuple(read_links(links)), content=content, encoded=encoded)
        reading = reading._replace(page=own)
    if reading.sitemap is not None:
        entries: list[SitemapEntry] = []
        for part in parts:
            entries.extend(pickle.loads(part))
            yield None
        reading = reading._replace(sitemap=replace(reading.sitemap, entries=tuple(entries)))
    yield reading, record
