"""WARC files that are open for reading."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from diptych.errors import StoreError, in_one_line, machine_advice
from diptych.files import is_special, reason_of
from diptych.run.warc import read_at
from diptych.types import Response

MAX_OPEN = 64  # files open for reading
_OWN_FOLDERS = (("warc",), ("..", "..", "warc"))
"""folders of the archives of a run, and of the archives of a job that all its runs share"""


class OpenArchives:
    """Reads responses from the WARC files of a run, and keeps some of the files open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._streams: dict[str, BinaryIO] = {}

    def read(self, path: str, offset: int) -> Response | None:
        """Read the response at an offset in a WARC file; None if there is no response there.

        `path` must be one that `archive_file` allows.
        """
        stream = self._streams.get(path)
        if stream is None:
            if len(self._streams) >= MAX_OPEN:
                self._streams.pop(next(iter(self._streams))).close()
            stream = self._streams[path] = self._opened(path)
        return read_at(stream, offset)

    def _opened(self, path: str) -> BinaryIO:
        file, name = archive_file(self._folder, path), in_one_line(path)
        try:
            return file.open("rb")
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from error

    def close(self) -> None:
        """Close all files; the next call of `read` opens its file again."""
        for stream in self._streams.values():
            with suppress(OSError):
                stream.close()
        self._streams.clear()


def archive_file(folder: Path, path: str) -> Path:
    """The archive that a run in `folder` names; raise `StoreError` if it must not be opened.

    `path` is absolute or relative to the run folder.  It comes from a database that may be hostile:
    a relative path must be that of an archive of the run or of its job.
    """
    file, name = Path(path), in_one_line(path)
    if not file.is_absolute() and file.parts[:-1] not in _OWN_FOLDERS:
        raise StoreError(f"run.sqlite names the archive {name}, which is outside of the run")
    try:
        file = folder / file
        if is_special(file):  # reading a pipe or a device may never end
            raise StoreError(f"cannot read {name}, which the run requires: it is no file")
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error
    return file


def _unreadable(name: str, error: OSError | ValueError) -> StoreError:
    said = f"cannot read {name}, which the run requires: {reason_of(error)}"
    return StoreError("; ".join(filter(None, [said, machine_advice(error)])))
