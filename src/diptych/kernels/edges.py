"""Parse the text files of a web graph in C: one edge or one vertex per line."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import edges_reference, fields_of, native, pointer

MAX_VERTICES = (1 << 32) - 1
_SHORTEST = 4  # bytes of the shortest line: digit, TAB, digit, newline


class Edges(NamedTuple):
    """Parsed edges, and the number of lines rejected for each reason."""

    pairs: NDArray[np.uint64]
    """each edge as `from << 32 | to`, in the order of the lines"""
    bad: int
    """malformed lines"""
    unknown: int
    """edges from or to an unknown vertex"""
    loops: int
    """edges from a vertex to itself"""


class Vertices(NamedTuple):
    """Parsed vertices, and the number of rejected lines."""

    ids: NDArray[np.int64]
    names: bytes
    """all names, concatenated"""
    lengths: NDArray[np.int32]
    bad: int
    """malformed lines"""
    is_sorted: bool
    """True if the names are in ascending byte order"""


class _CCounts(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_int64, "room count bad unknown loops")


def parse_edges(text: bytes, vertices: int) -> Edges:
    """Parse edges between vertices, one per line; a last line without a newline is ignored.

    `vertices` is the number of vertices in the graph.
    """
    if not 0 <= vertices <= MAX_VERTICES:
        raise ValueError("ids of vertices must fit into 32 bits")
    library = native()
    if library is None:
        return Edges(*edges_reference.parse_edges(text, vertices))
    counts = _CCounts(len(text) // _SHORTEST + 1)
    pairs = np.empty(counts.room, np.uint64)
    library.edges_parse(
        text, ctypes.c_int64(len(text)), ctypes.c_uint64(vertices), pointer(pairs),
        ctypes.byref(counts),
    )  # fmt: skip
    return Edges(pairs[: counts.count], counts.bad, counts.unknown, counts.loops)


def parse_vertices(text: bytes) -> Vertices:
    """Parse vertices, one per line; a last line without a newline is ignored."""
    library = native()
    if library is None:
        return Vertices(*edges_reference.parse_vertices(text))
    counts = _CCounts(len(text) // _SHORTEST + 1)
    ids, lengths = np.empty(counts.room, np.int64), np.empty(counts.room, np.int32)
    names = np.empty(len(text) + 1, np.uint8)
    is_sorted = ctypes.c_int32(1)
    library.vertices_parse(
        text, ctypes.c_int64(len(text)), *map(pointer, (ids, names, lengths)),
        ctypes.byref(counts), ctypes.byref(is_sorted),
    )  # fmt: skip
    found = lengths[: counts.count]
    blob = names[: int(found.sum(dtype=np.int64))].tobytes()
    return Vertices(ids[: counts.count], blob, found, counts.bad, bool(is_sorted.value))
