"""The SQLite connection of a run (`run.sqlite`), and its transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from diptych.errors import StoreError
from diptych.run.archive import Archive

DatabaseError = sqlite3.Error
"""any database error"""
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Database:
    """A connection to `run.sqlite`, and the WARC archive that its rows refer to."""

    db: sqlite3.Connection
    archive: Archive
    is_broken: bool = False
    """True if an exception has escaped from a nested transaction"""

    def transaction(self) -> Transaction:
        """Open a transaction, or join the open one: `with store.transaction(): ...`."""
        return Transaction(self)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Context manager for reading a consistent snapshot while another process may write."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            if self.db.in_transaction:  # SQLite rolls back by itself after some errors
                self.db.execute("ROLLBACK")

    def is_finished(self, step: str, key: str) -> bool:
        """True if a step was finished with the same `key`, and its input has not changed since.

        `key` describes the settings of the step and, if it writes a file, the state of the file.
        """
        return self.finished_key(step) == key

    def finished_key(self, step: str) -> str | None:
        """The key of a finished step; None if it is not finished, or its input has changed."""
        row = self.db.execute("SELECT key FROM finished WHERE step = ?", (step,)).fetchone()
        return None if row is None else str(row[0])

    def finish(self, step: str, key: str) -> None:
        """Record that a step is finished; `key` is described in `is_finished`."""
        self.db.execute("INSERT OR REPLACE INTO finished VALUES (?, ?)", (step, key))

    def begin_again(self) -> None:
        """Mark all steps as unfinished, because their input has changed."""
        self.db.execute("DELETE FROM finished")

    def count(self, query: str, *values: Any) -> int:
        """The number that a query returns; 0 if it returns NULL or no row."""
        row = self.db.execute(query, values).fetchone()
        number: int = (row[0] if row else 0) or 0
        return number


class Transaction:
    """Writes that are either all committed or all rolled back.

    Only the outermost transaction commits; an exception at any level rolls back everything.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_outermost = False

    def __enter__(self) -> Transaction:
        self._is_outermost = not self._database.db.in_transaction
        if self._is_outermost:
            self._begin()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not self._is_outermost:
            self._database.is_broken = self._database.is_broken or error is not None
        elif error is None:
            self._commit()
        else:
            self._roll_back()

    def checkpoint(self) -> None:
        """Commit everything so far; a later exception rolls back only subsequent writes."""
        if self._is_outermost:
            self._commit()
            self._begin()

    def _begin(self) -> None:
        self._database.is_broken = False
        self._database.db.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        """Flush the archive first, then commit the rows that refer to it."""
        try:
            if self._database.is_broken:
                raise StoreError("part of this transaction failed; it was rolled back")
            self._database.archive.sync()
            self._database.db.execute("COMMIT")
            self._database.archive.confirm()
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._database.db.in_transaction:  # SQLite rolls back by itself if the disk is full
            self._database.db.execute("ROLLBACK")
        self._database.archive.roll_back()


class _HasStore(Protocol):
    @property
    def store(self) -> Database: ...


_Self = TypeVar("_Self", bound=_HasStore)


def in_transaction(
    method: Callable[Concatenate[_Self, _Arguments], _Result],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """Decorate a method so that it runs in a transaction of `self.store`."""

    @wraps(method)
    def inside(self: _Self, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        with self.store.transaction():
            return method(self, *args, **kwargs)

    return inside
