"""Check a corpus: each text is found where it says, and no segment is there twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from diptych.corpus.key_table import KeyTable
from diptych.corpus.rebuild import read_page
from diptych.errors import ArchiveError, StoreError
from diptych.files import reading
from diptych.run.integrity import Fault
from diptych.run.open_archives import archive_file
from diptych.text.digests import signed_hash
from diptych.text.spans import texts_at
from diptych.units import Side, Unit

_PAGES = 64  # pages whose text is kept: segments are ordered by page pair
_DATES = {
    ".tsv": re.compile(rb"\t[^\t\n]*\t[^\t\n]*\n\Z"),  # the last two columns
    ".tmx": re.compile(rb' *<prop type="(?:first|last)_seen">[^<]*</prop>\n\Z'),
}
"""the parts of a line, by the file's extension, that may change while nothing is written: whatever
is new was found with the last download"""
_NOTHING = re.compile(rb"\Z")
_OF_A_SEGMENT = ("left_lang", "right_lang", "left", "right")


class Places:
    """Looks up the texts of segments in the archives that they name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._page = lru_cache(maxsize=_PAGES)(read_page)

    def faults(self, unit: Unit) -> Iterator[Fault]:
        """Yield a fault for each side whose text is not found."""
        for side in unit.sides:
            if not self._is_found(side):
                yield Fault("segment", f"the text is not in its page {side.url}: {side.text}")

    def _is_found(self, side: Side) -> bool:
        """True if the record of a side still has its text at the stated place."""
        try:
            page = self._page(archive_file(self._folder, side.warc), side.offset)
            return (
                page is not None
                and page.url == side.url
                and page.digest == side.digest
                and side.text in texts_at(page.texts, side.path, side.at)
            )
        except (ArchiveError, StoreError, ValueError):  # the latter if the place is damaged
            return False


def file_faults(path: Path) -> Iterator[Fault | None]:
    """Yield a fault or None for each line of `corpus.tsv`; a segment must be there only once."""
    with KeyTable() as table, reading(path, error=StoreError), path.open("rb") as stream:
        names = stream.readline().decode(errors="replace").rstrip("\n").split("\t")
        if missing := [name for name in _OF_A_SEGMENT if name not in names]:
            yield Fault("corpus", f"{path.name} has no column {', '.join(missing)}")
            return
        places = [names.index(name) for name in _OF_A_SEGMENT]
        for number, line in enumerate(stream, 2):
            values = line.rstrip(b"\n").split(b"\t")
            if len(values) != len(names) or not line.endswith(b"\n"):
                yield Fault("corpus", f"line {number:,} of {path.name} is damaged")
                continue
            table.add(signed_hash(b"\t".join(values[place] for place in places)), 0.0, 1)
            yield None
        if repeated := len(table) - table.kept().distinct:
            said = f"lines of {path.name} that repeat the segment of another line: {repeated:,}"
            yield Fault("corpus", said)


def line_faults(path: Path, lines: Iterable[bytes], *, dated: bool) -> Iterator[Fault | None]:
    """Yield None for each line of a file that is as it was written; end with a fault at another.

    If the lines are `dated`, their dates may differ.
    """
    if not path.is_file():
        yield Fault("corpus", f"{path.name} is missing")
        return
    dates = _DATES[path.suffix] if dated else _NOTHING
    with reading(path, error=StoreError), path.open("rb") as stream:
        for number, (found, line) in enumerate(zip_longest(stream, lines, fillvalue=b""), 1):
            if found != line and dates.sub(b"", found) != dates.sub(b"", line):
                said = f"line {number:,} of {path.name} is not that of the run"
                yield Fault("corpus", said)
                return
            yield None
