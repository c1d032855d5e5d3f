"""Make of the text files of a web graph an index that answers in milliseconds.

Common Crawl publishes its graphs of hosts and of domains as `id TAB reversed.name` and
`from TAB to`.  The index has both directions as lists of ids, 4 bytes for each edge and direction,
in plain arrays that are mapped into memory when they are asked.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diptych.errors import SourceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diptych.discover.edge_runs import Runs
    from diptych.discover.graph_vertices import Names

__all__ = ["FORMAT", "GraphFacts", "index_graph", "read_facts"]

FORMAT = 1
FACTS = "graph.json"
LEVELS = ("auto", "host", "domain")
_SAMPLE = 1000  # names that tell whether the vertices are hosts or domains

Tick = Callable[[str, int], None]
"""told what is being done, and how many of them are"""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What is known of an index: `graph.json`."""

    level: str
    """host or domain"""
    vertices: int
    edges: int
    is_sorted: bool
    """whether all have names, which ascend with their ids"""
    notes: tuple[str, ...]
    sizes: dict[str, int]
    """bytes of each file"""


def index_graph(
    vertices: Iterable[str],
    edges: Iterable[str],
    out: Path,
    *,
    level: str = "auto",
    tick: Tick = lambda what, count: None,
) -> GraphFacts:
    """Index a graph into a folder, which is there whole or not at all.

    Files may be gzip or plain, lists of files (`*.paths.gz`), and anywhere fsspec reaches.
    """
    if level not in LEVELS:
        raise SourceError(f"no level {level!r} of graphs; there is: {', '.join(LEVELS)}")
    if out.exists() and not (out / FACTS).is_file() and not (out.is_dir() and _is_empty(out)):
        raise SourceError(f"{out} is there and is no web graph; choose another folder")
    part = out.with_name(out.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)  # of one that was killed
        part.mkdir(parents=True)
        facts = _build(list(vertices), list(edges), part, level, tick)
        _put_in_place(part, out)
    except OSError as error:
        raise SourceError(f"cannot write {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return facts


def _is_empty(folder: Path) -> bool:
    return next(folder.iterdir(), None) is None


def _put_in_place(part: Path, out: Path) -> None:
    old = out.with_name(out.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        os.replace(out, old)
    os.replace(part, out)
    shutil.rmtree(old, ignore_errors=True)


def _build(
    vertices: list[str], edges: list[str], folder: Path, level: str, tick: Tick
) -> GraphFacts:
    from diptych.discover.graph_files import Lines, part_files
    from diptych.discover.graph_vertices import write_names

    notes: list[str] = []
    lines = Lines(part_files(vertices))
    names = write_names(lines, folder, notes, lambda count: tick("vertices", count))
    count = _write_edges(Lines(part_files(edges)), names, folder, notes, tick)
    if level == "auto":
        level = _level_of(folder, names.vertices)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    facts = GraphFacts(level, names.vertices, count, names.is_sorted, tuple(notes), sizes)
    content = {"format": FORMAT, **{name: getattr(facts, name) for name in facts.__slots__}}
    (folder / FACTS).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return facts


def _write_edges(lines: Any, names: Names, folder: Path, notes: list[str], tick: Tick) -> int:
    from diptych.discover.edge_runs import Runs, write_lists

    runs = {"out": Runs(folder / "out.tmp"), "back": Runs(folder / "back.tmp")}
    try:
        _read_edges(lines, names, runs, notes, tick)
        count = 0
        for name, found in runs.items():
            with (
                (folder / name).open("wb") as values,
                (folder / f"{name}.offsets").open("wb") as offsets,
            ):
                said = f"edges sorted ({name})"
                count = write_lists(
                    found.merged(),
                    names.vertices,
                    values,
                    offsets,
                    lambda n: tick(said, n),  # noqa: B023
                )
            found.close()
        return count
    finally:
        for found in runs.values():
            found.close()


def _read_edges(
    lines: Any, names: Names, runs: dict[str, Runs], notes: list[str], tick: Tick
) -> None:
    """Put all edges into runs, both ways; note what is not used."""
    from diptych.discover.edge_runs import turned
    from diptych.kernels.edges import parse_edges

    bad = unknown = used = loops = 0
    for text in lines:
        found = parse_edges(text, names.vertices)
        pairs = found.pairs if names.has_name is None else _named(found.pairs, names.has_name)
        unknown += found.unknown + len(found.pairs) - len(pairs)
        bad, loops, used = bad + found.bad, loops + found.loops, used + len(pairs)
        runs["out"].add(pairs)
        runs["back"].add(turned(pairs))
        lines.count += len(found.pairs) + found.bad + found.unknown + found.loops
        tick("edges", lines.count)
    notes.extend(lines.notes)
    if bad and not used + unknown + loops:
        raise SourceError(
            f"none of {bad:,} lines in the --edges files is an edge; they are: from TAB to"
        )
    if unknown and not used + loops:
        raise SourceError(
            f"none of {unknown:,} edges is between vertices; "
            "are --vertices and --edges of one graph?"
        )
    if bad:
        notes.append(f"{bad:,} lines of edges are no two numbers: skipped")
    if unknown:
        notes.append(f"{unknown:,} edges have ids without a vertex: skipped")


def _named(pairs: NDArray[np.uint64], has_name: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The edges between vertices that have a name."""
    from diptych.discover.edge_runs import turned

    known: NDArray[np.bool_] = (
        has_name[(pairs >> 32).astype("i8")] & has_name[(turned(pairs) >> 32).astype("i8")]
    )
    return pairs[known]


def _level_of(folder: Path, vertices: int) -> str:
    """Domains if no name of a sample is longer than what can be registered."""
    import numpy as np

    from diptych.text.urls import site_name

    offsets = np.memmap(folder / "names.offsets", "<i8", "r")
    blob = np.memmap(folder / "names", np.uint8, "r")
    for place in np.linspace(0, vertices - 1, min(_SAMPLE, vertices)).astype(int).tolist():
        name = blob[offsets[place] : offsets[place + 1]].tobytes().decode("ascii", "replace")
        host = ".".join(reversed(name.split(".")))
        if host and site_name(f"https://{host}/") != host:
            return "host"
    return "domain"


def read_facts(folder: Path) -> GraphFacts:
    """What `graph.json` says; a `SourceError` if it is not one, or files are missing or cut off."""
    try:
        content = json.loads((folder / FACTS).read_text("utf-8"))
        if content["format"] != FORMAT:
            raise SourceError(
                f"{folder} is a web graph of format {content['format']}, this diptych reads "
                f"{FORMAT}: index the files again with: diptych backlinks graph"
            )
        facts = GraphFacts(
            str(content["level"]), int(content["vertices"]), int(content["edges"]),
            bool(content["is_sorted"]), tuple(content["notes"]), dict(content["sizes"]),
        )  # fmt: skip
    except OSError as error:
        raise SourceError(
            f"{folder} is no web graph; make one with: diptych backlinks graph"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{folder / FACTS} is damaged; index the files again") from error
    _check_sizes(folder, facts)
    return facts


def _check_sizes(folder: Path, facts: GraphFacts) -> None:
    lists = 8 * (facts.vertices + 1)
    wanted = {"names.offsets": lists, "out.offsets": lists, "back.offsets": lists}
    wanted |= {"out": 4 * facts.edges, "back": 4 * facts.edges}
    if not facts.is_sorted:
        wanted |= {"keys": 8 * facts.vertices, "keys.ids": 4 * facts.vertices}
    for name, size in (facts.sizes | wanted).items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise SourceError(
                f"{folder} is damaged: {name} is missing or not as long as it was; "
                "index the files again"
            )
