"""The store of a run: the database `run.sqlite` with its schema, the WARC archive and the lock.

A run can be killed at any time without damage.  Bytes are first written to the WARC file, and then
recorded in a single transaction.  On opening, the WARC file that was being written is truncated to
the length recorded in the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from diptych.errors import StoreError, in_one_line, machine_advice, option_name
from diptych.files import (
    is_special,
    open_without_links,
    reason_of,
    refuse_links,
    shipped_text,
    writing,
)
from diptych.run.archive import Archive
from diptych.run.connection import connect_to_read, connect_to_write, strange_part
from diptych.run.pages import Pages
from diptych.run.pairs import Pairs
from diptych.run.segments import VIEWS
from diptych.run.upgrade import show_as_upgraded, upgrade
from diptych.types import LangPair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

SCHEMA_VERSION = 11
_UPGRADED = (6, 7, 8, 9, 10)  # schema versions that can be read and upgraded
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)  # the latter if a name in the schema is damaged
_OF_VALUES = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""what code raises for a value of a type that it does not expect"""


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Context manager that turns SQLite errors into a `StoreError` with a file name and advice."""
    try:
        yield
    except _DAMAGE as error:
        kind = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")  # no name: a value is damaged
        advice = machine_advice(error)
        if kind.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            advice = f"to mine its archives again, use {option_name('warc')} {folder}/warc"
        said = f"cannot use {folder / 'run.sqlite'}: {reason_of(error)}"
        raise StoreError("; ".join(filter(None, [said, advice]))) from error


class Store(Pages, Pairs):
    """An open run folder.  Only one process can write at a time; others can read meanwhile."""

    def __init__(self, folder: Path, *, write: bool = True, agent: str = "") -> None:
        self.folder = folder
        self._lock: BinaryIO | None = None
        path = folder / "run.sqlite"
        if write:
            refuse_links(folder, is_deep=False, error=StoreError)  # `Archive` renames those below
            self._lock = self._take_lock()
        elif not path.exists():
            raise StoreError(f"{folder} holds no run; mine a site into it first")
        try:
            with _named(folder):
                self.db = connect_to_write(path) if write else connect_to_read(path)
                self.archive = Archive(folder, self.db, agent=agent, lock=self._lock)
                self._check_schema(write=write)
                if write:
                    self.archive.repair()
        except BaseException:
            if hasattr(self, "db"):
                self.db.close()
            self._unlock()
            raise

    # -- opening and closing -----------------------------------------------------------------

    def _open_lock(self) -> BinaryIO:
        """Open run.lock, which must be a regular file because its content is overwritten later."""
        path = self.folder / "run.lock"
        if is_special(path, follow_links=False):
            raise StoreError(
                f"{path} is not a regular file; remove it and run the same command again"
            )
        with writing(path, error=StoreError):
            return open(path, "a+b", buffering=0, opener=open_without_links)

    def _take_lock(self) -> BinaryIO:
        """Lock the run, so that no other process writes to it."""
        lock = self._open_lock()
        try:
            import fcntl
        except ImportError:  # no advisory locks here; SQLite's own locking still protects the data
            return lock
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise StoreError(
                f"{self.folder} is in use by another process; wait until it finishes, or choose"
                f" another folder with {option_name('out')}"
            ) from error
        return lock

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_schema(self, *, write: bool) -> None:
        if strange := strange_part(self.db):
            raise StoreError(
                f"cannot use {self.folder / 'run.sqlite'}: it has the {in_one_line(strange)}, which"
                " no run has"
            )
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        empty = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if empty and write:
            if any((self.folder / "warc").glob("diptych-*.warc.gz")):
                raise StoreError(
                    f"run.sqlite is missing from {self.folder}; to mine its archives again, use "
                    f"{option_name('warc')} {self.folder}/warc"
                )
            schema = shipped_text("diptych.run", "schema.sql")
            self.db.executescript(
                f"BEGIN; {schema}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
                " PRAGMA wal_checkpoint;"  # even if the power fails, the run can be continued
            )
        elif version in _UPGRADED and write:
            upgrade(self.db, SCHEMA_VERSION)
        elif version in _UPGRADED:
            show_as_upgraded(self.db)
        elif version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder} has schema {version}; this version of Diptych reads"
                f" {SCHEMA_VERSION}: use the version of Diptych that created it (see run.toml), or"
                f" mine again with {option_name('warc')} {self.folder}/warc"
            )
        self.db.executescript(VIEWS)
        if write:
            self.db.executescript(f"BEGIN; {shipped_text('diptych.run', 'indexes.sql')} COMMIT;")

    def close(self) -> None:
        """Close all files; an open transaction is rolled back."""
        try:
            self.archive.close()
        finally:
            self.db.close()
            self._unlock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with _named(self.folder):
            wrong = self._wrong_value() if isinstance(error, _OF_VALUES) else ""
            self.close()
            if isinstance(error, _DAMAGE):
                raise error
            if wrong:
                raise sqlite3.DatabaseError(wrong) from error

    def _wrong_value(self) -> str:
        """Say which value may be the reason for an error; empty if the error is one of ours."""
        from diptych.run.value_types import wrong_values

        return next(wrong_values(self.db), "")

    def learned_lexicons(self) -> dict[LangPair, Lexicon]:
        """The lexicons learned in this run, by language pair."""
        from diptych.learn.lexicon.lexicon import Lexicon

        name = f"the learned lexicon of {self.folder}"
        return {langs: Lexicon.from_bytes(data, name) for langs, data in self.lexicons().items()}
