"""Load the model that ships with py3langid.

The file is an LZMA-compressed archive of arrays, 68 MB when unpacked.  It is read once as a stream;
the transitions of the automaton are read in pieces to save memory.  The arrays are then stored in
the user's cache.  All processes map the stored arrays into memory, which takes a hundredth of the
time and lets processes share the memory.
"""

from __future__ import annotations

import json
import lzma
import struct
from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.files import cached_folder, parser_errors
from diptych.kernels import return_memory
from diptych.kernels.langid import Automaton, Model, shared_blocks

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "data/model.npz.xz"
_MEMBER = struct.Struct("<4s22xHH")  # ZIP: signature, lengths of name and extra field
_SIGNATURE = b"PK\3\4"
_PIECE = 1 << 16
_LAYOUT = 1  # version of the layout of the cached arrays
_ENDS = 64  # bytes at both ends of the file, with LZMA's checksums, that identify its version
_ARRAYS = {"moves": np.int32, "blocks": np.uint32, "table": np.float16, "priors": np.float32}


class ShippedModel(NamedTuple):
    """The py3langid model, the labels of its columns, and a hash of its labels and features."""

    labels: tuple[str, ...]
    model: Model
    fingerprint: str


def open_model() -> ShippedModel:
    """Memory-map the py3langid model from the user's cache, where it is stored on first use.

    If that is not possible, read the model file of the py3langid package.
    """
    folder = cached_folder(f"langid-{_LAYOUT}-{_version()}", _fill)
    if folder is not None:
        try:
            return map_model(folder)
        except parser_errors():  # damaged
            pass
    return read_model()


def _version() -> str:
    """The version of the py3langid file: a hash of its first and last bytes."""
    with files("py3langid").joinpath(_FILE).open("rb") as packed:
        first = packed.read(_ENDS)
        packed.seek(-_ENDS, 2)
        return blake2b(first + packed.read(), digest_size=8).hexdigest()


def _fill(folder: Path) -> None:
    """Write the arrays of the model to a folder."""
    labels, model, fingerprint = read_model()
    automaton = model.automaton
    arrays: dict[str, NDArray[Any]] = {
        "moves": automaton.moves,
        "blocks": automaton.blocks,
        "table": model.table,
        "priors": model.priors,
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    about = [labels, automaton.start, automaton.features, fingerprint]
    (folder / "model.json").write_text(json.dumps(about), "utf-8")
    del labels, model, automaton, arrays
    return_memory()


def map_model(folder: Path) -> ShippedModel:
    """Memory-map the model from a folder, or raise one of `parser_errors` if it is damaged."""
    labels, start, features, fingerprint = json.loads((folder / "model.json").read_text("utf-8"))
    arrays = [
        np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
        for name in _ARRAYS
    ]
    if [array.dtype.type for array in arrays] != list(_ARRAYS.values()):
        raise ValueError("an array of the model has the wrong type")
    moves, blocks, table, priors = arrays
    if len(labels) != len(priors):
        raise ValueError("each label must have a prior")
    automaton = Automaton.again(moves, blocks, start, features)
    return ShippedModel(
        tuple(labels), Model.of(automaton, table, priors, is_checked=True), fingerprint
    )


def read_model() -> ShippedModel:
    """Read the model from the py3langid file."""
    found: dict[str, Any] = {}
    with files("py3langid").joinpath(_FILE).open("rb") as packed, lzma.open(packed) as stream:
        for name, shape, order, dtype in _headers(stream):
            size = dtype.itemsize * int(np.prod(shape))
            if name == "nextmove":
                pieces = _pieces(stream, size)
                found[name] = shared_blocks(np.frombuffer(each, dtype) for each in pieces)
            else:
                found[name] = np.frombuffer(stream.read(size), dtype).reshape(shape, order=order)
    table, output = found["ptc"], found["out_feat"]
    labels = tuple(found["classes"].tolist())
    automaton = Automaton.of(found["nextmove"], found["nextmove_row"], output)
    described = f"{' '.join(labels)} {table.shape}".encode() + output.astype(np.int32).tobytes()
    digest = blake2b(described, digest_size=8).hexdigest()
    return ShippedModel(labels, Model.of(automaton, table, found["pc"]), digest)


def _headers(
    stream: IO[bytes],
) -> Iterator[tuple[str, tuple[int, ...], Literal["C", "F"], np.dtype[Any]]]:
    """Yield the name, shape, memory order and type of each array in a stream.

    The caller must read the data of an array before it requests the next header.
    """
    while (head := stream.read(_MEMBER.size)).startswith(_SIGNATURE):
        _, name, extra = _MEMBER.unpack(head)
        file = stream.read(name + extra)[:name].decode()
        np.lib.format.read_magic(stream)
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        yield file.removesuffix(".npy"), shape, "F" if is_fortran else "C", dtype


def _pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    for start in range(0, size, _PIECE):
        yield stream.read(min(_PIECE, size - start))
