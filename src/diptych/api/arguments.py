"""Function arguments that may be one value or several values."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from diptych.errors import ConfigError


def texts(values: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    """Convert a string or a path, or several of them, to a tuple of strings.

    >>> texts("en"), texts(["en", Path("fr")])
    (('en',), ('en', 'fr'))
    """
    found = [values] if isinstance(values, str | Path) else list(values)
    for value in found:
        if not isinstance(value, str | Path):
            raise ConfigError(f"cannot use {value!r}: it must be a string")
    return tuple(map(str, found))


def paths(values: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    """Convert one or several paths, given as strings or `Path` objects, to a tuple of paths.

    >>> [path.name for path in paths("a/b.warc")]
    ['b.warc']
    """
    return tuple(map(Path, texts(values)))
