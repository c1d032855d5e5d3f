"""Connections to the database of a run: for writing, or for reading, also from a read-only disk."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from diptych.errors import StoreError
from diptych.files import is_special

CACHE_KIB = 65_536
READ_CACHE_KIB = 8_192  # of a process that only reads: it reads the pages of one site or pair
_LOG_PAGES = 8_192  # of 4 kB in the log: copying them to the database blocks until they are on disk
_VIEWS = ("links", "segments", "frontier")
_RECURSIVE = 33  # SQLITE_RECURSIVE, a code for authorizers, which Python does not name
_UNWRITABLE = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
"""errors if the log cannot be opened because nothing may be written to the folder"""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a database for reading and writing, with a log, so that others can read meanwhile."""
    db = _connect(f"{path.resolve().as_uri()}?mode=rwc", CACHE_KIB)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    return db


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a database for reading; nothing has to be writable.

    SQLite shares the log of a database with other processes through a file beside it.  If that file
    cannot be created, nobody writes to the database either, and it is read without a log.  A log
    that a killed run has left is read from a temporary copy.
    """
    _require_files(path)
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return _connect(uri, READ_CACHE_KIB)
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(_UNWRITABLE):
            raise
        log = _log_of(path)
        if log.exists() and log.stat().st_size:
            return _connect_to_copy(path)
        return _connect(f"{uri}&immutable=1", READ_CACHE_KIB)


def _require_files(path: Path) -> None:
    """Raise `StoreError` if a database or a file beside it is a pipe: opening it may never end."""
    for each in (path, _log_of(path), path.with_name(f"{path.name}-shm")):
        if is_special(each):
            raise StoreError(f"{each} is not a regular file, so it is not opened")


def _connect(uri: str, cache: int) -> sqlite3.Connection:
    db = sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=30.0, cached_statements=256,
        check_same_thread=False,
    )  # fmt: skip
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute(f"PRAGMA cache_size = -{cache}")
        db.execute("SELECT count(*) FROM sqlite_master")  # opens the log
    except BaseException:
        db.close()
        raise
    return db


def strange_part(db: sqlite3.Connection) -> str:
    """A view or trigger of the database that no run has; empty if there is none.

    Reading from a view of somebody else may never end.
    """
    query = "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    for kind, name in db.execute(query).fetchall():
        if kind == "trigger" or name not in _VIEWS or _is_recursive(db, name):
            return f"{kind} {name}"
    return ""


def _is_recursive(db: sqlite3.Connection, view: str) -> bool:
    """True if a view is defined by a recursive query; the view is compiled, but not read."""
    actions: list[int] = []

    def allow(action: int, *_: object) -> int:
        actions.append(action)
        return sqlite3.SQLITE_OK

    db.set_authorizer(allow)
    try:
        with suppress(sqlite3.OperationalError):  # a view of an earlier version
            db.execute(f"EXPLAIN SELECT * FROM {view}").close()
    finally:
        db.set_authorizer(None)
    return _RECURSIVE in actions


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _connect_to_copy(path: Path) -> sqlite3.Connection:
    """Copy a database with its log to a temporary folder, and open the copy.

    The copies have no name when this function returns, so that nothing is left of them.
    """
    with tempfile.TemporaryDirectory(prefix="diptych-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(_log_of(path), _log_of(copy))
        return _connect(copy.as_uri(), READ_CACHE_KIB)
