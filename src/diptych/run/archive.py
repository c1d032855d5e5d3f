"""The WARC files in a run folder: append, rotate and read them, and repair them after a crash.

A file that the database does not list is renamed, never deleted or truncated.  The only exception
is a file that this run was creating when it was killed.  Its name is kept in the lock file
`run.lock` until the file is committed.  Symbolic links are also renamed, whatever their names, so
that their targets are never truncated or written.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from diptych.errors import StoreError
from diptych.files import is_special, writing
from diptych.run.open_archives import OpenArchives
from diptych.run.queries import SQL
from diptych.run.warc import Pointer, compose_info
from diptych.types import Response

ROTATE_AT = 1_000_000_000  # bytes of a WARC file; Heritrix and Common Crawl use the same size
OWN = "path GLOB 'warc/diptych-[0-9][0-9][0-9][0-9][0-9].warc.gz'"
"""condition for files written by this run; archives given by the user have absolute paths"""
_MAX_NOTE = 100  # bytes read from `run.lock`


def _is_taken(path: Path) -> bool:
    return path.is_symlink() or path.exists()


class Archive:
    """The WARC files of a run; the table `warcs` records their ids, paths and committed sizes."""

    def __init__(
        self, folder: Path, db: sqlite3.Connection, *, agent: str, lock: BinaryIO | None = None
    ) -> None:
        self._folder = folder
        self._lock = lock
        self._is_noted = False
        """True if the lock contains the name of the current file, which is not committed yet"""
        self.notes: list[str] = []
        """messages about renamed files"""
        self._db = db
        self._agent = agent
        self._file: BinaryIO | None = None
        self._id = 0
        self._reading = OpenArchives(folder)
        self._paths: dict[int, str] = {}

    def add(self, path: str, size: int) -> int:
        """Register a WARC file and return its id; user-supplied archives have absolute paths."""
        self._db.execute(SQL["add_warc"], (path, size))
        row = self._db.execute("SELECT id FROM warcs WHERE path = ?", (path,)).fetchone()
        return int(row[0])

    def append(self, record: bytes, now: float) -> Pointer:
        """Write a record and return its location; the next `sync` and commit make it permanent."""
        with writing(self._folder / "warc", error=StoreError):
            if self._file is None or self._file.tell() >= ROTATE_AT:
                self._file = self._next_file(now)
            offset = self._file.tell()
            self._file.write(record)
        return Pointer(self._id, offset, len(record))

    def _next_file(self, now: float) -> BinaryIO:
        """Reopen the last file of an earlier invocation if it is not full; else create a file."""
        rows = self._own_files()
        if self._file is None and rows and rows[-1][2] < ROTATE_AT:
            self._id, path, _ = rows[-1]
            file: BinaryIO = (self._folder / path).open("ab")
            return file
        if self._file is not None:
            self.sync()
            self._file.close()
        name = self._next_name()
        (self._folder / "warc").mkdir(exist_ok=True)
        if _is_taken(self._folder / "warc" / name):
            self._set_aside(self._folder / "warc" / name)
        self._note(name)
        file = (self._folder / "warc" / name).open("xb")
        try:
            file.write(compose_info(agent=self._agent, name=name, now=now))
            self._id = self.add(f"warc/{name}", file.tell())
        except BaseException:
            with suppress(OSError):
                file.close()
            raise
        return file

    def _own_files(self) -> list[tuple[int, str, int]]:
        """The id, path and size of each file that this run has written, in order of creation."""
        rows = self._db.execute(f"SELECT id, path, size FROM warcs WHERE {OWN} ORDER BY id")
        return rows.fetchall()

    def _next_name(self) -> str:
        """The name of the next file to create."""
        last = self._db.execute(f"SELECT max(path) FROM warcs WHERE {OWN}").fetchone()[0]
        number = int(last.partition("-")[2].partition(".")[0]) + 1 if last else 1
        return f"diptych-{number:05d}.warc.gz"

    def _note(self, name: str) -> None:
        """Write the name of the file being created to the lock file; an empty name clears it."""
        self._is_noted = bool(name)
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.write(name.encode())

    def sync(self) -> None:
        """Flush all bytes to the operating system, and record the file size in the transaction."""
        if self._file is not None:
            with writing(self._folder / "warc", error=StoreError):
                self._file.flush()
            size = self._file.tell()
            self._db.execute("UPDATE warcs SET size = ? WHERE id = ?", (size, self._id))

    def confirm(self) -> None:
        """Clear the name in the lock file once a commit has recorded the WARC file."""
        if self._is_noted:
            with suppress(OSError):  # the next file overwrites the name anyway
                self._note("")

    def roll_back(self) -> None:
        """Discard the bytes written since the last commit."""
        self._reading.close()  # they may have buffered bytes that are discarded
        self._paths.clear()
        if self._file is None:
            return
        path, file, self._file = Path(self._file.name), self._file, None
        with suppress(OSError):  # full disk: the rest is truncated when the run is opened
            file.close()
        name = f"warc/{path.name}"
        row = self._db.execute("SELECT size FROM warcs WHERE path = ?", (name,)).fetchone()
        with suppress(OSError):
            if row is None:
                path.unlink()
                self.confirm()
            else:
                with path.open("r+b") as stream:
                    stream.truncate(row[0])

    def read(self, warc: int, offset: int) -> Response | None:
        """Read the response at an offset in a WARC file; None if there is no response there."""
        if self._file is not None and warc == self._id:
            self._file.flush()
        return self._reading.read(self.path(warc), offset)

    def path(self, warc: int) -> str:
        """The path of a WARC file; it is relative to the run folder if this run wrote the file."""
        if warc not in self._paths:
            row = self._db.execute("SELECT path FROM warcs WHERE id = ?", (warc,)).fetchone()
            self._paths[warc] = row[0]
        return self._paths[warc]

    def repair(self) -> None:
        """Restore the WARC files to the state recorded in the database, after a crash."""
        with writing(self._folder / "warc", error=StoreError):
            self._find_lost()
            self._cut_and_set_aside()
            self._note("")

    def _find_lost(self) -> None:
        """Requeue the URLs whose responses are missing from the WARC files."""
        for id, path, size in self._own_files():
            file = self._folder / path
            if is_special(file, follow_links=False):
                self._set_aside(file)
            actual = file.stat().st_size if file.exists() else 0
            if not isinstance(size, int) or not 0 <= size <= actual:  # if damaged, any value
                self._requeue_lost(id, actual)

    def _cut_and_set_aside(self) -> None:
        """Truncate uncommitted bytes, and rename files that do not belong to this run."""
        rows = self._own_files()
        for _, path, size in rows[-1:]:  # the file being written
            file = self._folder / path
            if file.exists() and file.stat().st_size > size:
                with file.open("r+b") as stream:
                    stream.truncate(size)
        known = {path for _, path, _ in rows}
        unfinished = self._unfinished_name()
        for file in sorted((self._folder / "warc").glob("diptych-*.warc.gz")):
            if file.name == unfinished and not is_special(file, follow_links=False):
                file.unlink()
            elif f"warc/{file.name}" not in known:
                self._set_aside(file)

    def _unfinished_name(self) -> str | None:
        """The name of the file that was being created when this run was killed, or None."""
        if self._lock is None:
            return None
        self._lock.seek(0)
        name = self._lock.read(_MAX_NOTE).decode(errors="replace")
        return name if name == self._next_name() else None

    def _set_aside(self, file: Path) -> None:
        """Rename a file that does not belong to this run."""
        names = (file.with_name(f"{file.name}.unknown-{number}") for number in count(1))
        target = file.rename(next(name for name in names if not _is_taken(name)))
        self.notes.append(f"{file} does not belong to this run; it was renamed to {target.name}")

    def _requeue_lost(self, warc: int, size: int) -> None:
        """Requeue the URLs whose records are not in the first `size` bytes of a WARC file.

        If no record is intact, the file is unregistered.  Records that were copied from a remote
        archive are all lost with their file, and the archive is read again.
        """
        size = 0 if self._db.execute(SQL["has_copies"], (warc,)).fetchone() else size
        whole: int | None = self._db.execute(SQL["whole_bytes"], (warc, size)).fetchone()[0]
        copied = self._last_copy(warc, size)
        if copied is not None:  # lengths of copied records are unknown: the last one is in doubt
            whole, size = copied, copied - 1
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute(SQL["queue_lost_urls"], (warc, size))
            self._db.execute("DELETE FROM archive WHERE warc = ? AND offset > ?", (warc, size))
            for table in ("guides", "journal", "sitemaps", "pages", "fetches"):
                self._db.execute(SQL[f"delete_lost_{table}"], (warc, size))
            self._db.execute(SQL["forget_remote_archives"])
            self._db.execute("DELETE FROM finished")  # their input has changed
            if whole:
                self._db.execute("UPDATE warcs SET size = ? WHERE id = ?", (whole, warc))
            else:
                self._db.execute("DELETE FROM warcs WHERE id = ?", (warc,))

    def _last_copy(self, warc: int, size: int) -> int | None:
        """The offset of the last copied record that begins before `size`.

        0 if no such record is left; None if no record in the file is a copy.
        """
        query = (
            "SELECT max(offset) FILTER (WHERE offset < ?2), count(*) FROM archive WHERE warc = ?1"
        )
        offset, count = self._db.execute(query, (warc, size)).fetchone()
        return (offset or 0) if count else None

    def close(self) -> None:
        """Close all files."""
        if self._file is not None:
            with suppress(OSError):  # full disk: unsynced bytes are not part of the run
                self._file.close()
        self._file = None
        self._reading.close()
