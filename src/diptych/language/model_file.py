"""Reader of the model that py3langid ships.

The file is an archive of uncompressed arrays within LZMA, 68 MB when unpacked.  It is read once,
from its beginning to its end, and the moves of the automaton in pieces: this takes little memory.
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from diptych.kernels.langid import Automaton, Model, shared_blocks

_FILE = "data/model.npz.xz"
_MEMBER = struct.Struct("<4s22xHH")  # of ZIP: signature, lengths of a name and of an extra field
_SIGNATURE = b"PK\3\4"
_PIECE = 1 << 16


class ShippedModel(NamedTuple):
    """The model, the label of each of its columns, and a hash of its labels and features."""

    labels: tuple[str, ...]
    model: Model
    fingerprint: str


def read_model() -> ShippedModel:
    """The model of py3langid."""
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
    """The name, shape, order and type of each array of an archive; then its data is to be read."""
    while (head := stream.read(_MEMBER.size)).startswith(_SIGNATURE):
        _, name, extra = _MEMBER.unpack(head)
        file = stream.read(name + extra)[:name].decode()
        np.lib.format.read_magic(stream)
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        yield file.removesuffix(".npy"), shape, "F" if is_fortran else "C", dtype


def _pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    for start in range(0, size, _PIECE):
        yield stream.read(min(_PIECE, size - start))
