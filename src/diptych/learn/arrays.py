"""Reading the arrays of a model: data, never code."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError

__all__ = ["read_arrays"]

# What the readers of zip files and arrays raise for other files and for damaged ones.
_UNREADABLE = (
    OSError, ValueError, EOFError, BadZipFile, zlib.error, TypeError, KeyError, AttributeError,
    RuntimeError, OverflowError, MemoryError,
)  # fmt: skip


def read_arrays(path: Path, what: str, format: int) -> dict[str, NDArray[Any]]:
    """The arrays of a model file of a format; a `ConfigError` says what is wrong with another."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found = dict(stored)
    except FileNotFoundError as error:
        raise ConfigError(f"no {what} at {path}; train one first") from error
    except _UNREADABLE as error:
        raise ConfigError(f"{path} is no {what}: {error}") from error
    if "format" not in found or found["format"].tolist() != format:
        raise ConfigError(f"{path} is not of format {format}; train the model anew")
    return found
