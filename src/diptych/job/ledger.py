"""The ledger of a job: one small JSON file for each task that has finished or failed.

A file is written whole or not at all, so the ledger works on any shared file system, and a driver
that is started again only reads it.  A damaged file counts as missing: its task runs again, which
continues the run folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from diptych.errors import DiptychError, StoreError
from diptych.files import read_file, replace_file, writing

_MAX_BYTES = 1 << 20
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The record of a task: its result, or the reason why all attempts failed."""

    name: str
    signature: str = ""
    """signature of the task; if it differs, the task runs again"""
    result: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 1
    seconds: float = 0.0
    """duration of the last attempt"""
    host: str = ""
    """machine on which the last attempt ran"""
    error: str = ""
    """kind of the error, such as TimeoutError; empty if the task has finished"""
    message: str = ""
    """message of the error"""

    @property
    def is_done(self) -> bool:
        """True if the task has finished."""
        return not self.error

    @property
    def reason(self) -> str:
        """The reason why the task failed, in one line; empty if it has finished."""
        return f"{self.error}: {self.message}" if self.message else self.error


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entries in a folder."""

    folder: Path

    def write(self, entry: Entry) -> None:
        """Write an entry atomically."""
        data = orjson.dumps(asdict(entry))
        replace_file(self.folder / f"{entry.name}{_SUFFIX}", data, error=StoreError)

    def read(self, name: str) -> Entry | None:
        """The entry of a task; None if there is none, or if it is damaged."""
        path = self.folder / f"{name}{_SUFFIX}"
        try:
            raw = orjson.loads(read_file(path, _MAX_BYTES))
            found = Entry(**raw)
        except (DiptychError, ValueError, TypeError):
            return None
        return found if _is_sound(found) and found.name == name else None

    def clear(self) -> None:
        """Remove the folder with all its files."""
        with writing(self.folder, error=StoreError):
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()

    def entries(self) -> Iterator[Entry]:
        """All entries, sorted by name."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            if (entry := self.read(path.name.removesuffix(_SUFFIX))) is not None:
                yield entry


def _is_sound(entry: Entry) -> bool:
    """True if all values of an entry have the right types."""
    texts = (entry.name, entry.signature, entry.host, entry.error, entry.message)
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(entry.result, dict)
        and type(entry.attempts) is int
        and type(entry.seconds) in (int, float)
    )
