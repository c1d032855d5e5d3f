"""Transactions of a store by hand, for tests whose subject is the moment of a commit."""

from __future__ import annotations

from diptych.run.database import Database


def begin(store: Database) -> None:
    """Start a transaction unless one is open."""
    if not store.db.in_transaction:
        store.db.execute("BEGIN IMMEDIATE")


def commit(store: Database) -> None:
    """Make all since `begin` durable."""
    if store.db.in_transaction:
        store.archive.sync()
        store.db.execute("COMMIT")
