"""`diptych backlinks graph`: build the index of a web graph from its vertices and edges.

Common Crawl publishes its host and domain graphs as text: `id TAB reversed.name` for each vertex,
and `from TAB to` for each edge.  For both directions, the index has a list of neighbours for each
vertex.  It uses 4 bytes per neighbour, and 4 bytes for the offset of each list.  These arrays are
memory-mapped for lookups.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from diptych.errors import SourceError, option_name
from diptych.files import read_file, reading, writing
from diptych.kernels.edges import parse_edges
from diptych.sources.edge_runs import Offsets, OffsetWriter, Runs, reversed_edges, write_lists
from diptych.sources.graph_files import Lines, part_files
from diptych.sources.graph_vertices import Names, write_names
from diptych.text.urls import site_name

FORMAT = 2
FACTS = "graph.json"
MARKER = "diptych-graph.lock"  # in a folder where an index is built; contains the name of the index
_LISTS = ("names", "back", "out")
_FILES = {FACTS, "keys", "keys.ids", *_LISTS, *(f"{name}.offsets" for name in _LISTS)}
LEVELS = ("auto", "host", "domain")
_MAX_FACTS = 100_000_000  # bytes of `graph.json`, which lists files
_SAMPLE = 1000  # names examined to decide if the vertices are hosts or domains

Tick = Callable[[str, int], None]
"""progress callback, called with the kind of items and the number processed"""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """The contents of `graph.json`, which describes an index."""

    level: str
    """host or domain"""
    vertices: int
    edges: int
    is_sorted: bool
    """True if all vertices have names, and names ascend with ids"""
    notes: tuple[str, ...]
    sizes: dict[str, int]
    """the size of each file in bytes"""
    turns: dict[str, list[int]]
    """the turns of each list's offsets; see `OffsetWriter`"""


def index_graph(
    vertices: Iterable[str],
    edges: Iterable[str],
    out: Path,
    *,
    level: str = "auto",
    tick: Tick = lambda what, count: None,
) -> GraphFacts:
    """Build the index of a graph; the folder `out` appears only when the index is complete.

    The input files may be plain or gzipped, or lists of files (`*.paths.gz`), at any location that
    fsspec can read.  `tick` is called with a noun and a count to report progress.
    """
    if level not in LEVELS:
        raise SourceError(f"unknown graph level {level!r}; available: {', '.join(LEVELS)}")
    if out.exists() and not _may_be_replaced(out):
        raise SourceError(f"{out} exists and is not a web graph; choose another folder")
    with writing(out, error=SourceError), _build_folder(out) as work:
        part = work / "new"
        part.mkdir()
        facts = _build(list(vertices), list(edges), part, level, tick)
        if not facts.edges and (out / FACTS).exists():
            raise SourceError(f"no edges in the {option_name('edges')} files; {out} is unchanged")
        _put_in_place(work, out)
    return facts


def _may_be_replaced(out: Path) -> bool:
    """True if a folder is empty or contains only an index."""
    if not out.is_dir():
        return False
    names = {path.name for path in out.iterdir()}
    return not names or (FACTS in names and len(names) > 1 and names <= _FILES)


@contextmanager
def _build_folder(out: Path) -> Iterator[Path]:
    """Yield a temporary folder next to `out` for building the index, and remove it at the end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    start = f".{out.name}.graph-"
    for left in [path for path in out.parent.iterdir() if path.name.startswith(start)]:
        _clean_up(left, out)
    work = Path(tempfile.mkdtemp(prefix=start, dir=out.parent))
    try:
        # Locked before it is renamed, so that other builds do not mistake it for a killed build.
        with (work / "lock.tmp").open("w", encoding="utf-8") as marker:
            marker.write(out.name)
            marker.flush()
            _lock(marker)
            os.replace(work / "lock.tmp", work / MARKER)
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _clean_up(left: Path, out: Path) -> None:
    """Remove the temporary folder `left` if a killed build of the same index left it behind."""
    try:
        with (left / MARKER).open("r+", encoding="utf-8") as marker:
            if marker.read() != out.name or not _lock(marker):
                return
            if (left / "old").exists() and not out.exists():  # killed while replacing the index
                os.replace(left / "old", out)
            shutil.rmtree(left, ignore_errors=True)
    except (OSError, UnicodeDecodeError):
        return  # not ours


def _lock(marker: IO[str]) -> bool:
    """Lock a file; return False if another process holds the lock or locking is not supported."""
    try:
        import fcntl

        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _put_in_place(work: Path, out: Path) -> None:
    old = work / "old"
    try:
        if out.exists():
            os.replace(out, old)
        os.replace(work / "new", out)
    finally:
        if old.exists() and not out.exists():
            os.replace(old, out)


def _build(
    vertices: list[str], edges: list[str], folder: Path, level: str, tick: Tick
) -> GraphFacts:
    notes: list[str] = []
    lines = Lines(part_files(vertices))
    names = write_names(lines, folder, notes, lambda count: tick("vertices", count))
    turns = {"names": names.turns}
    count = _write_edges(Lines(part_files(edges)), names, folder, notes, turns, tick)
    if level == "auto":
        level = _level_of(folder, names)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    facts = GraphFacts(level, names.vertices, count, names.is_sorted, tuple(notes), sizes, turns)
    content = {"format": FORMAT, **{name: getattr(facts, name) for name in facts.__slots__}}
    (folder / FACTS).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return facts


def _write_edges(
    lines: Lines,
    names: Names,
    folder: Path,
    notes: list[str],
    turns: dict[str, list[int]],
    tick: Tick,
) -> int:
    """Write the adjacency lists for both directions, and return the number of edges.

    Messages about skipped lines are added to `notes`, and the turns of each list's offsets to
    `turns`; see `OffsetWriter`.
    """
    runs = {"out": Runs(folder / "out.tmp"), "back": Runs(folder / "back.tmp")}
    try:
        _read_edges(lines, names, runs, notes, tick)
        count = 0
        for name, found in runs.items():
            with (
                (folder / name).open("wb") as values,
                (folder / f"{name}.offsets").open("wb") as offsets,
            ):
                writer = OffsetWriter(offsets)
                sorted_edges = partial(tick, f"edges sorted ({name})")
                count = write_lists(found.merged(), names.vertices, values, writer, sorted_edges)
            turns[name] = writer.turns
            found.close()
        return count
    finally:
        for found in runs.values():
            found.close()


def _read_edges(
    lines: Lines, names: Names, runs: dict[str, Runs], notes: list[str], tick: Tick
) -> None:
    """Read all edges, and add them to the runs `out` and, with swapped ends, `back`.

    Messages about skipped lines are added to `notes`.
    """
    bad = unknown = used = loops = 0
    for text in lines:
        found = parse_edges(text, names.vertices)
        pairs = found.pairs if names.has_name is None else _named(found.pairs, names.has_name)
        unknown += found.unknown + len(found.pairs) - len(pairs)
        bad, loops, used = bad + found.bad, loops + found.loops, used + len(pairs)
        runs["out"].add(pairs)
        runs["back"].add(reversed_edges(pairs))
        lines.count += len(found.pairs) + found.bad + found.unknown + found.loops
        tick("edges", lines.count)
    notes.extend(lines.notes)
    if bad and not used + unknown + loops:
        raise SourceError(
            f"no edges in the {option_name('edges')} files (lines read: {bad:,});"
            " expected lines: from TAB to"
        )
    if unknown and not used + loops:
        raise SourceError(
            f"no edge connects two listed vertices (edges read: {unknown:,}); "
            f"do {option_name('vertices')} and {option_name('edges')} belong to the same graph?"
        )
    if bad:
        notes.append(f"skipped edge lines that do not consist of two numbers: {bad:,}")
    if unknown:
        notes.append(f"skipped edges with vertices that are not listed: {unknown:,}")


def _named(pairs: NDArray[np.uint64], has_name: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The edges in `pairs` whose vertices both have a name."""
    known: NDArray[np.bool_] = (
        has_name[(pairs >> 32).astype("i8")] & has_name[(reversed_edges(pairs) >> 32).astype("i8")]
    )
    return pairs[known]


def _level_of(folder: Path, names: Names) -> str:
    """Return `domain` if all names in a sample are registrable domains, or else `host`."""
    vertices = names.vertices
    offsets = Offsets(np.memmap(folder / "names.offsets", "<u4", "r"), names.turns)
    blob = np.memmap(folder / "names", np.uint8, "r")
    for place in np.linspace(0, vertices - 1, min(_SAMPLE, vertices)).astype(int).tolist():
        start, end = offsets.bounds(place)
        name = blob[start:end].tobytes().decode("ascii", "replace")
        host = ".".join(reversed(name.split(".")))
        if host and site_name(f"https://{host}/") != host:
            return "host"
    return "domain"


def read_facts(folder: Path) -> GraphFacts:
    """Read `graph.json`; raise a `SourceError` if it is invalid or the index is incomplete."""
    path, advice = folder / FACTS, "index the files again with: diptych backlinks graph"
    if not path.is_file():
        raise SourceError(f"{folder} is not a web graph; make one with: diptych backlinks graph")
    with reading(path, "readable description of a web graph", advice, error=SourceError):
        content = json.loads(read_file(path, _MAX_FACTS, advice, error=SourceError))
        if content["format"] != FORMAT:
            raise SourceError(
                f"{folder} is a web graph of format {content['format']!r}; this version of Diptych"
                f" reads {FORMAT}: {advice}"
            )
        facts = GraphFacts(
            str(content["level"]), int(content["vertices"]), int(content["edges"]),
            bool(content["is_sorted"]), tuple(content["notes"]), dict(content["sizes"]),
            {str(name): list(map(int, turns)) for name, turns in content["turns"].items()},
        )  # fmt: skip
        if facts.vertices < 1:
            raise ValueError("a graph must have vertices")
    _check_sizes(folder, facts)
    return facts


def _check_sizes(folder: Path, facts: GraphFacts) -> None:
    lists = 4 * (facts.vertices + 1)
    wanted = {"names.offsets": lists, "out.offsets": lists, "back.offsets": lists}
    wanted |= {"out": 4 * facts.edges, "back": 4 * facts.edges}
    if not facts.is_sorted:
        wanted |= {"keys": 8 * facts.vertices, "keys.ids": 4 * facts.vertices}
    for name, size in (facts.sizes | wanted).items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise SourceError(
                f"{folder} is damaged: {name} is missing or has the wrong size; "
                "index the files again"
            )
