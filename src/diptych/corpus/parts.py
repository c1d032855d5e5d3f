"""A corpus in several files: a folder of numbered files with a limited number of lines each.

The folder appears under its name only when all of its files are complete.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from diptych.corpus.files import OutFiles, partial_name, remove, remove_stale, split_compression
from diptych.errors import ConfigError, option_name
from diptych.files import writing
from diptych.protocols import Corpus, Exporter
from diptych.units import DocumentPair, Unit

_NAME = re.compile(r"part-\d{5,}\..+")


@dataclass(frozen=True, slots=True)
class _Part:
    """Some of the units, or some of the documents, of a corpus."""

    langs: Sequence[str]
    items: Iterator[Any]

    def units(self) -> Iterator[Unit]:
        return self.items

    def documents(self) -> Iterator[DocumentPair]:
        return self.items


def write_parts(corpus: Corpus, made: Exporter, folder: Path, max_lines: int) -> int:
    """Write a corpus to numbered files in a folder, and return the number of lines.

    A folder that an earlier call has written is replaced.
    """
    is_of_documents = made.suffix.startswith("docs")
    items: Iterator[Any] = iter(corpus.documents() if is_of_documents else corpus.units())
    compression = split_compression(folder.name)[1]
    lines = 0
    with _replaced(folder) as partial:
        for number in count():
            first = list(islice(items, 1))
            if number and not first:
                return lines
            part = _Part(corpus.langs, chain(first, islice(items, max_lines - 1)))
            path = partial / f"part-{number:05d}.{made.suffix}{compression}"
            with OutFiles(path, made.suffix) as files:
                lines += made.write(part, files)
    raise AssertionError("unreachable")


def parts_of(folder: Path) -> list[Path]:
    """The files that `write_parts` has written to a folder; none if it has other files too.

    >>> parts_of(Path("no such folder"))
    []
    """
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = sorted(folder.iterdir())
    return found if all(_NAME.fullmatch(path.name) for path in found) else []


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """An empty folder that replaces `folder` at the end, unless an exception is raised."""
    real = Path(os.path.realpath(folder))
    if real.exists() and not (real.is_dir() and (parts_of(real) or not any(real.iterdir()))):
        raise ConfigError(
            f"{folder} exists and is not a corpus in several files;"
            f" choose another name with {option_name('out')}"
        )
    with writing(folder):
        remove_stale(real.parent, str(folder))
        partial, old = (real.with_name(partial_name(real, str(folder))) for _ in range(2))
        partial.mkdir()
    try:
        yield partial
        with writing(folder):
            if real.exists():
                os.replace(real, old)
            os.replace(partial, real)
    finally:
        for left in (partial, old):
            with suppress(OSError):
                remove(left)
