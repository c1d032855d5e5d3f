from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.damage import fault

from diptych.errors import ConfigError
from diptych.files import reading
from diptych.learn import arrays as module
from diptych.learn.arrays import read_arrays, save_arrays, unpack_arrays

ARRAYS: dict[str, Any] = {"format": np.array(3), "numbers": np.arange(5)}


def stored(**changes: tuple[bytes, bytes]) -> bytes:
    """A file of uncompressed arrays with some bytes replaced."""
    stream = io.BytesIO()
    np.savez(stream, **ARRAYS)
    data = stream.getvalue()
    for old, new in changes.values():
        assert old in data
        assert len(old) == len(new)
        data = data.replace(old, new)
    return data


def read(path: Path) -> dict[str, Any]:
    with reading(path, "model", "train it again"):
        return read_arrays(path, 3)


@pytest.mark.parametrize("order", "<>")
def test_texts_with_characters_that_do_not_exist_are_refused(tmp_path: Path, order: str) -> None:
    wild = np.array([0x41, 0x110000], f"{order}u4").view(f"{order}U1")
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS | {"names": wild})
    assert "characters that do not exist" in fault(lambda: read(path))
    save_arrays(path, ARRAYS | {"names": np.array(["\U0010ffff", ""])})
    assert read(path)["names"].tolist() == ["\U0010ffff", ""]


def test_arrays_are_read_as_they_were_saved(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.npz"
    save_arrays(path, ARRAYS)
    assert {name: found.tolist() for name, found in read(path).items()} == {
        "format": 3,
        "numbers": [0, 1, 2, 3, 4],
    }
    assert os.listdir(path.parent) == ["a.npz"]


@pytest.mark.parametrize(
    "data",
    [
        stored(head=(b"), }", b"),  ")),  # NumPy lets TokenError through
        stored(head=(b"{'descr'", b"{' escr'")),
        stored(head=(b"'fortran_order': False", b"'fortran_order': 5L   ")),  # and warns of this
        stored(head=(b"(5,)", b"(9,)")),
        stored(head=(b"\x93NUMPY", b"\x93NUMPX")),
        stored(head=(b"(5,)", b"(\xff,)")),
        b"",
        b"PK\x03\x04 no zip",
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    said = fault(lambda: read(path), ConfigError)
    assert said.startswith(f"{path} is not a model: ")
    assert said.endswith("; train it again")


def test_a_file_of_a_single_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    assert "is not a model: File is not a zip file" in fault(lambda: read(tmp_path / "a.npy"))


def test_another_format_is_refused(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS | {"format": np.array(2)})
    assert "it is not in format 3" in fault(lambda: read(tmp_path / "a.npz"))
    save_arrays(tmp_path / "a.npz", {"numbers": np.zeros(1)})
    assert "'format is not a file in the archive'" in fault(lambda: read(tmp_path / "a.npz")) or (
        "'format' is missing" in fault(lambda: read(tmp_path / "a.npz"))
    )


def test_code_is_never_run(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS | {"more": np.array([print], object)})
    assert "allow_pickle" in fault(lambda: read(tmp_path / "a.npz"))


def test_a_decompression_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, zeros=np.zeros(1_000_000))
    assert path.stat().st_size < 20_000
    with pytest.raises(ValueError, match="too large"):
        unpack_arrays(path.read_bytes(), 7_999_999)
    assert module.MAX_BYTES < 300_000_000


def test_a_file_that_is_being_written_does_not_harm_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS)

    class Broken:
        def __array__(self, *_: object, **__: object) -> None:
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        save_arrays(path, {"first": np.zeros(9), "second": Broken()})
    assert read(path)["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert os.listdir(tmp_path) == ["a.npz"]
