"""Figures of running tasks: a small file for each, which the task writes and the driver reads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from diptych.errors import DiptychError
from diptych.files import read_file, replace_file

FIGURES = ("pages", "downloads", "pairs", "segments")
"""the counts that are added up over all tasks of a job"""
STALE_SECONDS = 120.0  # a task whose file is older has probably been killed
_MAX_BYTES = 1 << 16


def write_running(folder: Path, name: str, figures: Mapping[str, Any]) -> None:
    """Write the figures of a running task; a full disk is left for the task itself to report."""
    try:
        replace_file(folder / f"{name}.json", orjson.dumps(dict(figures)))
    except DiptychError:
        return


def remove_running(folder: Path, name: str) -> None:
    """Remove the figures of a task that has ended."""
    (folder / f"{name}.json").unlink(missing_ok=True)


def read_running(folder: Path, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """The figures of running tasks by name; `names` limits them to some tasks."""
    found: dict[str, dict[str, Any]] = {}
    now, known = time.time(), None if names is None else frozenset(names)
    for path in sorted(folder.glob("*.json")):
        name = path.name.removesuffix(".json")
        if known is not None and name not in known:
            continue
        try:
            if abs(now - path.stat().st_mtime) > STALE_SECONDS:  # or the clock was set
                continue
            raw = orjson.loads(read_file(path, _MAX_BYTES))
        except (OSError, DiptychError, ValueError):
            continue  # it has just ended, or the file is damaged
        if isinstance(raw, dict):
            found[name] = raw
    return found


def count_of(figures: Mapping[str, Any], name: str) -> int:
    """A count from a file, which may hold anything.

    >>> count_of({"pages": 3}, "pages"), count_of({"pages": "x"}, "pages")
    (3, 0)
    """
    value = figures.get(name)
    return value if type(value) is int and value >= 0 else 0
