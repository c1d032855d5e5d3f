"""Check that the values in the database of a run have the declared types and are possible.

SQLite stores a value of any type in any column.  A program of somebody else, or a fault of a disk,
can put bytes where the code expects a text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache

from diptych.files import shipped_text

_STORED = {
    "INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",), "BLOB": ("blob",),
}  # fmt: skip
"""for each declared type, the types of values"""
_LATEST = 253_402_300_799  # seconds: the end of the year 9999, the last date that can be written
_POSSIBLE = {
    ("fetches", "at"): f"BETWEEN -{_LATEST} AND {_LATEST}",
    ("pages", "fetched_at"): f"BETWEEN 0 AND {_LATEST}",
    ("occurrences", "copies"): ">= 0",
    ("occurrences", "text"): "IN (SELECT id FROM segment_texts)",
}
"""conditions on the values of columns"""


def wrong_values(db: sqlite3.Connection) -> Iterator[str]:
    """Describe each column of a run's database with a value of a wrong type, or out of range.

    >>> db = sqlite3.connect(":memory:")
    >>> _ = db.execute("CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT, found REAL)")
    >>> _ = db.execute("INSERT INTO sites VALUES (1, 'a.org', NULL), (2, x'00', 'b')")
    >>> list(wrong_values(db))
    ['sites.name has a value of the type blob', 'sites.found has a value of the type text']
    """
    for table, columns in _declared().items():
        known = {row[1] for row in db.execute("SELECT * FROM pragma_table_info(?)", (table,))}
        for column in sorted(known & set(columns), key=[*columns].index):
            allowed = ", ".join(f"'{kind}'" for kind in columns[column])
            query = f"SELECT typeof({column}) FROM {table} WHERE typeof({column})"
            row = db.execute(f"{query} NOT IN ({allowed}) LIMIT 1").fetchone()
            if row is not None:
                yield f"{table}.{column} has a value of the type {row[0]}"
            condition = _POSSIBLE.get((table, column))
            if condition and _has(db, table, f"NOT {column} {condition}"):
                yield f"{table}.{column} has an impossible value"


def _has(db: sqlite3.Connection, table: str, condition: str) -> bool:
    return db.execute(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1").fetchone() is not None


@cache
def _declared() -> dict[str, dict[str, tuple[str, ...]]]:
    """For each table and column of the schema, the types of values that it may have."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(shipped_text("diptych.run", "schema.sql"))
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
        return {table: _columns(db, table) for (table,) in tables.fetchall()}


def _columns(db: sqlite3.Connection, table: str) -> dict[str, tuple[str, ...]]:
    rows = db.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()
    return {
        name: (*_STORED[kind], *(() if required or key else ("null",)))
        for _, name, kind, required, _, key in rows
    }
