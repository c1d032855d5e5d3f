"""Stores by hand: transactions of tests whose subject is the commit, and a page."""

from __future__ import annotations

from pathlib import Path

from diptych.run.database import Database
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.types import Page, PageRecord, Url

HOME = Url("http://example.org/")


def add_page(folder: Path) -> None:
    """Let a run have fetched a page."""
    with Store(folder) as store, store.transaction():
        store.save_fetch(1, HOME, 1.0, status=200, size=9, reason="", pointer=None)
        store.db.execute("INSERT INTO warcs (path, size) VALUES ('x', 9)")
        record = PageRecord(HOME, "en", (), "", 0, 9, 9, "digest")
        store.save_page(1, Page(record, ()), Pointer(1, 0, 9))


def begin(store: Database) -> None:
    """Start a transaction unless one is open."""
    if not store.db.in_transaction:
        store.db.execute("BEGIN IMMEDIATE")


def commit(store: Database) -> None:
    """Make all since `begin` durable."""
    if store.db.in_transaction:
        store.archive.sync()
        store.db.execute("COMMIT")
