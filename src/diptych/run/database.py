"""The SQLite connection of a run (`run.sqlite`), and its transactions."""

from __future__ import annotations

import sqlite3
from typing import Any

from diptych.run.archive import Archive


class Database:
    """A connection to `run.sqlite`, with the archive whose bytes it knows of."""

    db: sqlite3.Connection
    archive: Archive

    def begin(self) -> None:
        """Start a transaction unless one is open."""
        if not self.db.in_transaction:
            self.db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make all since `begin` durable: bytes first, then what is known of them."""
        if self.db.in_transaction:
            self.archive.sync()
            self.db.execute("COMMIT")

    def count(self, query: str, *values: Any) -> int:
        """One number out of the database."""
        row = self.db.execute(query, values).fetchone()
        number: int = (row[0] if row else 0) or 0
        return number
