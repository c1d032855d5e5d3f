"""Check a run folder: its database, its WARC files, and the records of its pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from diptych.errors import ArchiveError, DiptychError, StoreError
from diptych.files import reason_of
from diptych.page.body import decompress
from diptych.run.archive import OWN
from diptych.run.encoding import read_links, read_sketch, read_snapshot
from diptych.run.queries import SQL
from diptych.run.scan import records
from diptych.run.store import Store
from diptych.run.value_types import wrong_values
from diptych.text.digests import body_digest
from diptych.types import Response

MAX_ROWS = 100  # faults of the database that SQLite lists


class Fault(NamedTuple):
    """A fault of a run: the part of the run, and what is wrong."""

    part: str
    """database, archive, page, segment or corpus"""
    said: str


def database_faults(store: Store) -> Iterator[Fault]:
    """Faults of the database: those that SQLite finds, and values that cannot be used."""
    try:
        for (said,) in store.db.execute(f"PRAGMA integrity_check({MAX_ROWS})"):
            if said != "ok":
                yield Fault("database", f"run.sqlite: {said}")
        for table, row, parent, _ in store.db.execute("PRAGMA foreign_key_check"):
            said = f"run.sqlite: row {row} of {table} refers to a missing row of {parent}"
            yield Fault("database", said)
        for said in wrong_values(store.db):
            yield Fault("database", f"run.sqlite: {said}")
        if count := store.count(SQL["count_pages_without_url"]):
            yield Fault("database", f"run.sqlite: URLs of pages that are missing: {count:,}")
    except sqlite3.DatabaseError as error:
        yield Fault("database", f"run.sqlite: {reason_of(error)}")


def memory_faults(store: Store) -> Iterator[Fault]:
    """Faults of what a run has learned: lexicons, and snapshots of crawl policies."""
    try:
        store.learned_lexicons()
    except DiptychError as error:
        yield Fault("database", f"run.sqlite: {error}")
    for site, data in store.db.execute(SQL["snapshots"]):
        try:
            read_snapshot(data)
        except sqlite3.DatabaseError as error:
            yield Fault("database", f"run.sqlite: crawl of {site}: {reason_of(error)}")


def archive_faults(store: Store) -> Iterator[Fault | None]:
    """Yield a fault or None for each record in the WARC files that the run has written.

    A record must be whole, have its own digest, and be known to the run under its URL, once.
    Bytes after the committed part of a file are no fault: the next command removes them.
    """
    files = store.db.execute(f"SELECT id, path, size FROM warcs WHERE {OWN}").fetchall()
    for id, path, size in files:
        file = store.folder / path
        if not file.is_file():
            yield Fault("archive", f"{path} is missing")
            continue
        if (actual := file.stat().st_size) < size:
            yield Fault("archive", f"{path} has {actual:,} bytes of {size:,}")
        yield from _record_faults(store, id, path, min(size, actual))


def _record_faults(store: Store, id: int, path: str, size: int) -> Iterator[Fault | None]:
    """Yield a fault or None for each record in the first `size` bytes of a WARC file."""
    known: dict[int, str] = dict(store.db.execute(SQL["recorded_places"], (id,)))
    # Of several copies of one URL in another archive, the run knows the latest only.
    has_copies = store.has_copies()
    try:
        for record in records(store.folder / path, size):
            url = known.pop(record.offset, None)
            said = f"the record of {record.url} at byte {record.offset:,} of {path}"
            if url is None and not has_copies:
                yield Fault("archive", f"{said} is unknown to the run")
            elif url not in (None, record.url):
                yield Fault("archive", f"{said} should be that of {url}")
            elif not record.is_whole:
                yield Fault("archive", f"{said} does not have its digest")
            else:
                yield None
    except ArchiveError as error:
        yield Fault("archive", str(error))
    for offset, url in known.items():
        yield Fault("archive", f"{path} has no record of {url} at byte {offset:,}")


def page_faults(store: Store) -> Iterator[list[Fault]]:
    """Yield the faults of each page: its record must have its URL and its content."""
    for url, warc, path, offset, digest, times, *encoded in store.db.execute(SQL["page_places"]):
        faults = [*_unreadable(url, *encoded)]
        if times > 1:
            faults.append(Fault("page", f"{url} was downloaded {times} times"))
        try:
            response = store.archive.read(warc, offset)
        except (ArchiveError, StoreError) as error:
            faults.append(Fault("page", f"{url}: {error}"))
        else:
            if response is None or response.url != url:
                faults.append(Fault("page", f"{url} is not at byte {offset:,} of {path}"))
            elif _digest(response) != digest:
                said = f"{url} has another content at byte {offset:,} of {path}"
                faults.append(Fault("page", said))
        yield faults


def _unreadable(url: str, links: str, sketch: bytes | None) -> Iterator[Fault]:
    """The faults of the links and of the sketch of a page, if it has one."""
    try:
        read_links(links)
        if sketch is not None:
            read_sketch(sketch)
    except sqlite3.DatabaseError as error:
        yield Fault("page", f"{url}: {reason_of(error)}")


def _digest(response: Response) -> str:
    """The digest of the unpacked body of a response."""
    return body_digest(decompress(response.body, response.header("content-encoding"))[0])
