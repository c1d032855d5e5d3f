"""Function arguments that may be one value or several values."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from diptych.errors import ConfigError


def texts(values: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    """Return one or several texts as a tuple of strings; a path counts as a text.

    >>> texts("en"), texts(["en", Path("fr")])
    (('en',), ('en', 'fr'))
    """
    found = [values] if isinstance(values, str | Path) else list(values)
    for value in found:
        if not isinstance(value, str | Path):
            raise ConfigError(f"cannot use {value!r}: it must be a string")
    return tuple(map(str, found))


def paths(values: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    """Return one or several paths as a tuple.

    >>> [path.name for path in paths("a/b.warc")]
    ['b.warc']
    """
    return tuple(map(Path, texts(values)))
