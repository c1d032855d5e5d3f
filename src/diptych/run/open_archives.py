"""WARC files that are open for reading."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from diptych.errors import StoreError, machine_advice
from diptych.files import reason_of
from diptych.run.warc import read_at
from diptych.types import Response

MAX_OPEN = 64  # files open for reading


class OpenArchives:
    """Reads responses from the WARC files of a run, and keeps some of the files open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._streams: dict[str, BinaryIO] = {}

    def read(self, path: str, offset: int) -> Response | None:
        """Read the response at an offset in a WARC file; None if there is no response there.

        `path` is absolute or relative to the run folder.
        """
        stream = self._streams.get(path)
        if stream is None:
            if len(self._streams) >= MAX_OPEN:
                self._streams.pop(next(iter(self._streams))).close()
            try:
                stream = self._streams[path] = (self._folder / path).open("rb")
            except OSError as error:
                said = f"cannot read {path}, which the run requires: {reason_of(error)}"
                advice = machine_advice(error)
                raise StoreError("; ".join(filter(None, [said, advice]))) from error
        return read_at(stream, offset)

    def close(self) -> None:
        """Close all files; the next call of `read` opens its file again."""
        for stream in self._streams.values():
            with suppress(OSError):
                stream.close()
        self._streams.clear()
