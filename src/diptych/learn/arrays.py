"""Reading and writing model files: named NumPy arrays without pickled objects."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from diptych.files import read_file, replacing

MAX_BYTES = 1 << 28  # size limit of an unpacked file: twenty times the largest shipped one
TRAIN_ANEW = "train the model again"


def read_arrays(path: Path, format: int) -> dict[str, NDArray[Any]]:
    """Read the arrays in a model file, or raise ValueError if its format number is not `format`.

    Call this within `files.reading`, which adds the file name to any error.
    """
    found = unpack_arrays(read_file(path, MAX_BYTES, TRAIN_ANEW), MAX_BYTES)
    if found["format"].tolist() != format:
        raise ValueError(f"it is not in format {format}")
    return found


def unpack_arrays(data: bytes, max_bytes: int) -> dict[str, NDArray[Any]]:
    """Unpack the arrays in the bytes of an `.npz` file, or raise ValueError if they are too large.

    `max_bytes` limits their total unpacked size.  Call this within `files.reading`.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > max_bytes:
            raise ValueError("it is too large")
    with warnings.catch_warnings():
        # A damaged header may look like that of an old version, which NumPy warns about.
        warnings.simplefilter("ignore")
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = dict(stored)
    if not all(map(_has_characters, arrays.values())):
        raise ValueError("one of its texts has characters that do not exist")
    return arrays


def _has_characters(array: NDArray[Any]) -> bool:
    """False for an array of texts with a number that is no character, which NumPy cannot read."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    points = np.ascontiguousarray(array).reshape(-1).view(array.dtype.str[0] + "u4")
    return int(points.max()) <= sys.maxunicode


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Select the arrays whose names begin with a prefix, and remove the prefix from the names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def arrays_of(model: Any, prefix: str = "") -> dict[str, Any]:
    """Return a dict of a dataclass's field values, with `prefix` added to each field name."""
    return {f"{prefix}{field.name}": getattr(model, field.name) for field in fields(model)}


def save_arrays(path: Path | str, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a file atomically, and create its folder if it is missing.

    They are not compressed: each process loads the URL models, which takes four times as long if
    they are, and saves a third of their size.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(Path(path)) as part, part.open("wb") as stream:
        np.savez(stream, **arrays)
