"""Files of arrays: data, never code."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from diptych.files import read_file, replacing

MAX_BYTES = 1 << 28  # of a file when unpacked: twenty times the largest that we ship
TRAIN_ANEW = "train the model anew"


def read_arrays(path: Path, format: int) -> dict[str, NDArray[Any]]:
    """The arrays of a model file of a format, to be read within `files.reading`."""
    found = unpack_arrays(read_file(path, MAX_BYTES, TRAIN_ANEW), MAX_BYTES)
    if found["format"].tolist() != format:
        raise ValueError(f"it is not of format {format}")
    return found


def unpack_arrays(data: bytes, max_bytes: int) -> dict[str, NDArray[Any]]:
    """The arrays of a file that is not too large, to be read within `files.reading`."""
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > max_bytes:
            raise ValueError("it is too large")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of headers that look old, which damage does
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return dict(stored)


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def save_arrays(path: Path | str, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a file, whole or not at all; its folder is made if there is none."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(Path(path)) as part, part.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
