"""A web graph of 50 million edges: time and memory of indexing, and the time of lookups.

    python -m bench.tasks.web_graph [--edges N] [--keep FOLDER] [--out bench/results/web_graph.json]

The graph is generated (seeded): sorted reversed host names, power-law in- and out-degrees, and
edges in the order of Common Crawl's files, or in random order with --shuffled.  A separate process
indexes it.  For comparison: a plain Python pass over the first lines, a search for the back links
of one host through all edges, and the index of a smaller graph with as many edges per host as
Common Crawl's.  Lookups are measured in elapsed time, on files in the cache.  Exits with 1 if a
target is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.support.machine import machine
from bench.support.tables import Tables, show
from diptych._version import VERSION
from diptych.sources.web_graph import WebGraph
from diptych.text.urls import normalise

SEED = 7
DENSE = 35  # edges for each host, as in Common Crawl's graphs
SPARSE = 4  # fewer, so that one host can have
HUB_SHARE = 0.2  # this share of all edges: 10 million back links of 50 million edges
LOOKUPS = 2_000
LIMIT = 100
PLAIN_LINES = 2_000_000
CHUNK = 1_000_000
DENSE_PART = 5  # the graph with more edges for each host has so many times fewer of them
MARKED = ("hosts from all over", "those with ")  # look-ups that must be fast
LOW = 0xFFFFFFFF
FLOORS = {"edges/s": 1_000_000, "look-up, ms": 5.0, "memory, MB": 1_000.0}


def host_names(count: int) -> list[str]:
    """Reversed host names in order; some domains have many hosts."""
    top = ("com", "de", "fr", "net", "org", "uk.co")
    names = []
    for number in range(count):
        domain = f"{top[number % len(top)]}.site{number // 3:09d}"
        names.append(domain if number % 3 == 0 else f"{domain}.h{number % 3}")
    return sorted(set(names))


def power_law(random: np.random.Generator, size: int, vertices: int) -> NDArray[np.uint64]:
    """Vertices with power-law degrees (of the rank, exponent 0.7), spread over all ids."""
    rank = (vertices * random.random(size) ** (1 / 0.3)).astype(np.uint64)
    return (rank * np.uint64(2_654_435_761) + np.uint64(12345)) % np.uint64(vertices)


def different(pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The distinct edges in order, without loops."""
    pairs = np.sort(pairs)
    fresh = np.concatenate([[True], pairs[1:] != pairs[:-1]])
    kept: NDArray[np.uint64] = pairs[fresh & (pairs >> np.uint64(32) != pairs & np.uint64(LOW))]
    return kept


def generated(edges: int, vertices: int) -> NDArray[np.uint64]:
    """Distinct edges as from << 32 | to, in order; one host has a fifth of them."""
    random = np.random.default_rng(SEED)
    most = np.uint64(vertices // 3)
    linking = random.permutation(vertices)[: int(HUB_SHARE * edges)].astype(np.uint64)
    hub = different(linking << np.uint64(32) | most)
    others = hub[:0]
    while len(others) < edges - len(hub):
        missing = 2 * (edges - len(hub) - len(others))
        source = random.integers(0, vertices, missing, np.uint64)
        source[: missing // 2] = power_law(random, missing // 2, vertices)
        more = source << np.uint64(32) | power_law(random, missing, vertices)
        more = more[more & np.uint64(LOW) != most]
        others = different(np.concatenate([others, more]))
    surplus = random.permutation(len(others))[: len(others) - (edges - len(hub))]
    return np.sort(np.concatenate([hub, np.delete(others, surplus)]))


def write_graph(folder: Path, edges: int, density: int, *, shuffled: bool) -> None:
    """Write the two files in the format of Common Crawl, unless they exist."""
    if (folder / "edges.txt.gz").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    names = host_names(edges // density)
    with gzip.open(folder / "vertices.txt.gz", "wt", 2) as stream:
        stream.writelines(f"{number}\t{name}\n" for number, name in enumerate(names))
    pairs = generated(edges, len(names))
    if shuffled:
        np.random.default_rng(SEED).shuffle(pairs)
    with gzip.open(folder / "edges.txt.gz", "wb", 2) as stream:
        for start in range(0, edges, CHUNK):
            part = pairs[start : start + CHUNK]
            columns = np.stack([part >> np.uint64(32), part & np.uint64(LOW)], 1)
            stream.write(("%d\t%d\n" * len(part) % tuple(columns.ravel().tolist())).encode())


def peak_megabytes() -> float:
    """The peak memory of this process; that of getrusage may be its parent's."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def index(folder: Path) -> dict[str, Any]:
    """Index the graph in this process; returns the cost."""
    from diptych.sources.graph_index import index_graph

    started, cpu = time.perf_counter(), time.process_time()
    facts = index_graph(
        [str(folder / "vertices.txt.gz")], [str(folder / "edges.txt.gz")], folder / "graph"
    )
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - cpu,
        "megabytes": peak_megabytes(),
        "edges": facts.edges,
        "vertices": facts.vertices,
        "bytes": sum(facts.sizes.values()),
    }


def warm(folder: Path) -> None:
    """Read all files of an index, so that disk access is not measured."""
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            while stream.read(1 << 24):
                pass


def indexed(folder: Path) -> dict[str, Any]:
    """Index the graph in a separate process; returns the cost."""
    command = [sys.executable, "-m", "bench.tasks.web_graph", "--index", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def milliseconds(call: Callable[[], object]) -> tuple[float, float]:
    """The milliseconds of a call: elapsed and CPU time."""
    started, cpu = time.perf_counter(), time.process_time()
    call()
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - cpu)


def spread(name: str, times: list[tuple[float, float]]) -> dict[str, Any]:
    """A row of the table of lookups."""
    wall, cpu = np.sort(np.array(times), 0).T
    row = {"look-up": name, "hosts": len(times)}
    for title, ordered in (("", wall), (" of CPU", cpu)):
        row[f"median, ms{title}"] = round(float(np.median(ordered)), 2)
        row[f"p99, ms{title}"] = round(float(ordered[int(0.99 * len(ordered))]), 2)
        row[f"worst, ms{title}"] = round(float(ordered[-1]), 2)
    return row


def look_ups(folder: Path) -> list[dict[str, Any]]:
    """Lookups of hosts from the whole graph and of those with most back links, each once."""
    warm(folder / "graph")
    graph = WebGraph.open(folder / "graph")
    degrees = graph.back.offsets.lengths(np.arange(graph.facts.vertices))
    random = np.random.default_rng(SEED)
    linked = np.flatnonzero(degrees)
    by_degree = linked[np.argsort(degrees[linked], kind="stable")]
    some = [_url(graph, int(vertex)) for vertex in random.choice(linked, LOOKUPS // 2)]
    many = [_url(graph, int(vertex)) for vertex in by_degree[-LOOKUPS // 2 :]]
    graph.back_links(some[0], LIMIT)  # the list of public suffixes is read
    most = f"the host with most back links ({int(degrees.max()):,})"
    title = f"those with {int(degrees[by_degree[-LOOKUPS // 2]]):,} back links or more"
    asked = (
        (most, graph.back_links, many[-1:]),
        ("the same again", graph.back_links, many[-1:] * 5),
        ("hosts from all over", graph.back_links, some),
        (title, graph.back_links, many),
        ("out links of all these", graph.out_links, some + many),
    )
    rows = []
    for name, ask, urls in asked:
        rows.append(spread(name, [milliseconds(lambda: ask(url, LIMIT)) for url in urls]))  # noqa: B023
    return rows


def _url(graph: WebGraph, vertex: int) -> Any:
    return normalise(f"https://{graph.name(vertex)}/")


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a compressed file, read with plain Python."""
    with gzip.open(path, "rb") as stream:
        yield from stream


def plain(folder: Path) -> list[dict[str, Any]]:
    """The times without an index: back links in a dictionary, and a search through the file."""
    started = time.perf_counter()
    back: dict[int, list[int]] = {}
    count = 0
    for count, line in enumerate(lines_of(folder / "edges.txt.gz"), 1):
        source, target = line.split(b"\t")
        back.setdefault(int(target), []).append(int(source))
        if count == PLAIN_LINES:
            break
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    wanted = b"\t%d\n" % next(iter(back))
    found = sum(line.endswith(wanted) for line in lines_of(folder / "edges.txt.gz"))
    scan = time.perf_counter() - started
    return [
        {
            "without an index": f"a dictionary of the first {count:,} edges",
            "edges/s": round(count / seconds),
            "seconds": round(seconds, 1),
        },
        {
            "without an index": f"the {found:,} back links of one host, by reading all edges",
            "edges/s": "-",
            "seconds": round(scan, 1),
        },
    ]


def index_row(folder: Path, *, shuffled: bool) -> dict[str, Any]:
    """A row of the table of indexes."""
    took = indexed(folder)
    return {
        "edges": "in no order" if shuffled else "in order",
        "different edges": took["edges"],
        "hosts": took["vertices"],
        "edges per host": round(took["edges"] / took["vertices"], 1),
        "seconds": round(took["seconds"], 1),
        "CPU s": round(took["cpu"], 1),
        "memory, MB": round(took["megabytes"]),
        "index, bytes per edge": round(took["bytes"] / took["edges"], 2),
        "edges/s": round(took["edges"] / took["seconds"]),
    }


def measured(folder: Path, edges: int, *, shuffled: bool) -> Tables:
    """All tables; lookups use the larger graph."""
    dense = folder / "dense"
    write_graph(folder, edges, SPARSE, shuffled=shuffled)
    write_graph(dense, edges // DENSE_PART, DENSE, shuffled=shuffled)
    rows = [index_row(path, shuffled=shuffled) for path in (folder, dense)]
    return {"index": rows, "look-ups": look_ups(folder), "baseline": plain(folder)}


def passes(tables: Tables) -> bool:
    """True if all targets are reached; that of lookups is elapsed time."""
    row = tables["index"][0]
    asked = [found for found in tables["look-ups"] if found["look-up"].startswith(MARKED)]
    times = [found[f"{name}, ms"] for found in asked for name in ("median", "p99")]
    is_reached: bool = (
        row["edges/s"] >= FLOORS["edges/s"]
        and row["memory, MB"] <= FLOORS["memory, MB"]
        and max(times) < FLOORS["look-up, ms"]
    )
    return is_reached


def main() -> int:
    """Generate, measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=50_000_000)
    parser.add_argument("--shuffled", action="store_true", help="edges in no order")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the graph, or reuse it")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the tables as JSON")
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.index:
        print(json.dumps(index(options.index)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.keep or Path(temporary)
        tables = measured(folder, options.edges, shuffled=options.shuffled)
    show(tables)
    if options.out:
        signature = f"web_graph|edges:{options.edges}|limit:{LIMIT}|v:{VERSION}"
        kept = {"signature": signature, "tables": tables, "machine": machine(["numpy", "isal"])}
        options.out.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return int(not passes(tables))


if __name__ == "__main__":
    sys.exit(main())
