"""Write the host names of a web graph in the order of their vertex ids.

Common Crawl numbers hosts in the order of their reversed names, so that a name can be found by
binary search.  For a graph with any other numbering, a table of hashes is written as well.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.errors import SourceError, option_name
from diptych.kernels.edges import MAX_VERTICES, Vertices, parse_vertices
from diptych.sources.edge_runs import Offsets, OffsetWriter
from diptych.sources.graph_files import Lines

_STEP = 1 << 20  # vertices at a time
_SPARSE = 4  # maximum ratio of ids to vertices: ids must be nearly consecutive
_FEW = 1_000_000  # unused ids that are always allowed


class Names(NamedTuple):
    """Properties of the vertex names that were written."""

    vertices: int
    """number of ids, which start at 0"""
    is_sorted: bool
    """True if all vertices have names, and names ascend with ids"""
    has_name: NDArray[np.bool_] | None
    """for each id, True if the vertex has a name; None if all vertices have one"""
    turns: list[int]
    """the turns of the names' offsets; see `OffsetWriter`"""


class _VertexFiles:
    """Writes the names, ids and name lengths of vertices to three files, in input order."""

    def __init__(self, folder: Path) -> None:
        self.blob = (folder / "names").open("wb")
        self.ids = (folder / "ids.tmp").open("wb")
        self.lengths = (folder / "lengths.tmp").open("wb")
        self.count, self.bad, self.last, self.largest = 0, 0, -1, -1
        self.is_ascending, self.is_sorted = True, True
        self._name = b""

    def add(self, found: Vertices) -> None:
        self.bad += found.bad
        if not len(found.ids):
            return
        self.blob.write(found.names)
        self.ids.write(found.ids.astype("<i8").data)
        self.lengths.write(found.lengths.astype("<i4").data)
        ids = np.concatenate(([self.last], found.ids))
        self.is_ascending = self.is_ascending and bool((ids[1:] > ids[:-1]).all())
        first = found.names[: int(found.lengths[0])]
        self.is_sorted = self.is_sorted and found.is_sorted and self._name < first
        self._name = found.names[len(found.names) - int(found.lengths[-1]) :]
        self.last, self.count = int(ids[-1]), self.count + len(found.ids)
        self.largest = max(self.largest, int(ids.max()))

    def close(self) -> None:
        for stream in (self.blob, self.ids, self.lengths):
            stream.close()


def write_names(lines: Lines, folder: Path, notes: list[str], tick: Callable[[int], None]) -> Names:
    """Write the names, their offsets and, if names are unsorted, a table of hashes.

    Return the properties of the names.
    """
    listed = _VertexFiles(folder)
    try:
        for text in lines:
            listed.add(parse_vertices(text))
            lines.count = listed.count
            tick(listed.count)
    finally:
        listed.close()
    notes.extend(lines.notes)
    _check(listed)
    if listed.bad:
        notes.append(f"skipped vertex lines that lack an id or a name: {listed.bad:,}")
    if not listed.is_ascending:
        _rearrange(folder, notes)
    named, turns = _write_offsets(folder)
    is_sorted = listed.is_ascending and listed.is_sorted and named == listed.largest + 1
    if not is_sorted:
        _write_keys(folder, turns)
    has_name = None
    if named <= listed.largest:
        offsets = np.fromfile(folder / "names.offsets", "<u4")
        has_name = offsets[1:] != offsets[:-1]
        notes.append(f"unused ids between 0 and {listed.largest:,}: {listed.largest + 1 - named:,}")
    return Names(listed.largest + 1, is_sorted, has_name, turns)


def _check(listed: _VertexFiles) -> None:
    if not listed.count:
        raise SourceError(
            f"no vertices in the {option_name('vertices')} files;"
            " expected lines: id TAB reversed.host.name"
        )
    if listed.largest >= min(MAX_VERTICES, _SPARSE * listed.count + _FEW):
        raise SourceError(
            f"the largest id is {listed.largest:,}, but the number of vertices is {listed.count:,};"
            " ids must start at 0 and have few gaps: renumber the vertices"
        )


def _rearrange(folder: Path, notes: list[str]) -> None:
    """Sort the names by vertex id; if an id has several names, only the first is kept."""
    ids = np.fromfile(folder / "ids.tmp", "<i8")
    lengths = np.fromfile(folder / "lengths.tmp", "<i4")
    _, order = np.unique(ids, return_index=True)
    if len(order) < len(ids):
        notes.append(f"skipped vertices with a duplicate id: {len(ids) - len(order):,}")
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    old = np.memmap(folder / "names", np.uint8, "r")
    with (folder / "names.new").open("wb") as stream:
        for start in range(0, len(order), _STEP):
            rows = order[start : start + _STEP]
            ends = np.cumsum(lengths[rows], dtype=np.int64)
            shift = starts[rows] - (ends - lengths[rows])
            stream.write(old[np.repeat(shift, lengths[rows]) + np.arange(ends[-1])].data)
    del old
    (folder / "names.new").replace(folder / "names")
    ids[order].tofile(folder / "ids.tmp")
    lengths[order].tofile(folder / "lengths.tmp")


def _write_offsets(folder: Path) -> tuple[int, list[int]]:
    """Write the offsets of the names.

    Return the number of names and the turns of the offsets; see `OffsetWriter`.
    """
    named, last, end = 0, -1, 0
    with (
        (folder / "ids.tmp").open("rb") as all_ids,
        (folder / "lengths.tmp").open("rb") as all_lengths,
        (folder / "names.offsets").open("wb") as stream,
    ):
        offsets = OffsetWriter(stream)
        while data := all_ids.read(8 * _STEP):
            ids = np.frombuffer(data, "<i8")
            lengths = np.frombuffer(all_lengths.read(4 * len(ids)), "<i4")
            starts = end + np.cumsum(lengths, dtype=np.int64) - lengths
            gaps = np.diff(ids, prepend=last)
            offsets.add(np.repeat(starts, gaps))
            named, last = named + len(ids), int(ids[-1])
            end += int(lengths.sum(dtype=np.int64))
        offsets.add(np.array([end], np.int64))
    for name in ("ids.tmp", "lengths.tmp"):
        (folder / name).unlink()
    return named, offsets.turns


def name_key(name: bytes) -> int:
    """The hash of a name, used for lookups if names are unsorted.

    >>> name_key(b"com.example") == name_key(b"com.example")
    True
    """
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "little")


def _write_keys(folder: Path, turns: list[int]) -> None:
    """Write the table of hashes: the sorted hashes of all names, and their vertex ids.

    `turns` are the turns of the names' offsets; see `OffsetWriter`.
    """
    offsets = Offsets(np.memmap(folder / "names.offsets", "<u4", "r"), turns)
    blob = np.memmap(folder / "names", np.uint8, "r")
    keys = np.empty(len(offsets.low) - 1, np.uint64)
    for start in range(0, len(keys), _STEP):
        wanted = np.arange(start, min(start + _STEP, len(keys)) + 1)
        bounds = offsets.starts(wanted).tolist()
        text, first = blob[bounds[0] : bounds[-1]].tobytes(), bounds[0]
        keys[start : start + len(bounds) - 1] = [
            name_key(text[one - first : other - first]) for one, other in pairwise(bounds)
        ]
    order = np.argsort(keys, kind="stable")
    keys[order].astype("<u8").tofile(folder / "keys")
    order.astype("<u4").tofile(folder / "keys.ids")
