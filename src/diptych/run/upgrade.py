"""Supply the database columns and tables that runs of earlier versions lack.

If such a run is opened for writing, they are added to it; if it is opened for reading, temporary
views and tables supply them.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from diptych.files import shipped_text


class _Column(NamedTuple):
    table: str
    name: str
    type: str
    earlier: str
    """SQL expression for the column's value in a run that lacks the column"""


_TURN = """CASE WHEN kind = 1 THEN 0 WHEN kind = 2 AND priority >= 1e6 THEN 1
    WHEN kind = 2 THEN 3 WHEN priority >= 1000 THEN 2 ELSE 4 END"""
"""The turn of a URL, derived from the priorities in version 6.

The priorities were 1e9 for robots.txt, 1e6 for sitemaps, 1000 for seeds and 999 for child sitemaps.
"""
_COLUMNS = (
    _Column("urls", "turn", "INTEGER NOT NULL DEFAULT 4", _TURN),
    _Column("sites", "ended", "TEXT NOT NULL DEFAULT ''", "''"),
    _Column("pages", "text_key", "INTEGER NOT NULL DEFAULT 0", "0"),
    _Column("segments", "partial", "INTEGER NOT NULL DEFAULT 0", "0"),
    _Column("segments", "first_seen", "REAL", "NULL"),
)
_TABLES = ("contents", "updates", "visits", "vanished_pairs", "vanished")
"""tables that earlier versions lack; they are empty at first"""
_REALIGNED = "DROP TABLE segments; UPDATE pairs SET aligned = 0;"
"""has all pairs aligned again, because scores have another scale since version 9, and texts are
stored once since version 10"""
_NEW = ("TABLE segment_texts", "TABLE occurrences", "VIEW segments")
"""what replaces the table `segments`"""
_STORED_ONCE = 10  # since this version, `segments` is a view
_DATED = "ALTER TABLE segment_texts ADD COLUMN first_seen REAL; DROP VIEW segments;"
"""adds the dates of segments to version 10"""
_OUTDATED = """DROP INDEX IF EXISTS urls_ready; DROP INDEX IF EXISTS urls_claimed;
    DROP VIEW IF EXISTS frontier;"""
"""drops outdated indexes and views, which indexes.sql then recreates"""


def upgrade(db: sqlite3.Connection, version: int) -> None:
    """Add what a database of an earlier version lacks, and set its schema version."""
    columns = "".join(
        f"ALTER TABLE {table} ADD COLUMN {name} {type};"
        f"UPDATE {table} SET {name} = {earlier} WHERE {name} != {earlier};"
        for table, name, type, earlier in _lacking(db)
        if table != "segments"
    )
    added = columns + "".join(_lacking_tables(db))
    is_stored_once = db.execute("PRAGMA user_version").fetchone()[0] >= _STORED_ONCE
    replaced = (
        _DATED + _created("VIEW segments")
        if is_stored_once
        else _REALIGNED + "".join(map(_created, _NEW))
    )
    db.executescript(
        f"BEGIN; {added} {replaced} {_OUTDATED} PRAGMA user_version = {version}; COMMIT;"
    )


def show_as_upgraded(db: sqlite3.Connection) -> None:
    """Create temporary views and tables with what a database of an earlier version lacks.

    Nothing is written to the database.
    """
    supplied: dict[str, str] = {}
    for table, name, _, earlier in _lacking(db):
        supplied[table] = f"{supplied.get(table, '')}, {earlier} AS {name}"
    for table, columns in supplied.items():
        db.execute(f"CREATE TEMP VIEW {table} AS SELECT *{columns} FROM main.{table}")
    for statement in _lacking_tables(db):
        db.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))


def _lacking(db: sqlite3.Connection) -> list[_Column]:
    return [
        column
        for column in _COLUMNS
        if column.name not in {row[1] for row in db.execute(f"PRAGMA table_info({column.table})")}
    ]


def _lacking_tables(db: sqlite3.Connection) -> list[str]:
    """The statements that create the tables that a database lacks."""
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [_created(f"TABLE {name}") for name in _TABLES if name not in known]


def _created(what: str) -> str:
    """The statement in schema.sql that creates a table or view, such as `TABLE contents`."""
    schema = shipped_text("diptych.run", "schema.sql")
    start = schema.index(f"CREATE {what} ")
    return schema[start : schema.index(";\n\n", start) + 1]
