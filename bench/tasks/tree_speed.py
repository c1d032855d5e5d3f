"""Tree alignment: time of the kernel and of the whole strategy, by the number of nodes.

    python -m bench.tasks.tree_speed [--repeat 5] [--out FILE]

Pages are built from whole sections of real pages of one manual in two languages until they have the
required number of nodes; a tenth of the sections is left out on either side.  Times are medians
over `--repeat` pairs of pages.  The whole strategy tokenises, looks up words, decodes, and pairs
blocks.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.support.block_pairs import pairs_of
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.tables import Tables, show
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.registry import signature
from diptych.stages.align_dom.domtree.cut import cells, mirrored
from diptych.stages.align_dom.domtree.document import document
from diptych.stages.align_dom.domtree.matching import best_alignment
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.types import Node, Page

SIZES = (100, 200, 400, 1_000, 2_000, 3_000, 5_000, 10_000)
FLOORS = {400: 30.0, 3_000: 1500.0}  # ms of decoding
FAMILY, LANGS = "maint-guide", ("en", "fr")


class Made(NamedTuple):
    """Two pages of a given size."""

    left: Page
    right: Page


def bodies() -> list[tuple[Page, Page]]:
    """Real page pairs as building material."""
    pairs = pairs_of(FAMILY, LANGS, 12, 0)
    return [(pair.sources[0].page, pair.sources[1].page) for pair in pairs]


def put_together(pages: list[tuple[Page, Page]], nodes: int, rng: random.Random) -> Made:
    """Build two pages with about a given number of nodes in the document tree."""
    parts: tuple[list[tuple[Page, Node]], list[tuple[Page, Node]]] = ([], [])
    size = 0
    while size < nodes:
        pair = pages[rng.randrange(len(pages))]
        sections = [_sections(page) for page in pair]
        at = rng.randrange(min(map(len, sections)))
        for side in range(2):
            if rng.random() > 0.1:
                parts[side].append((pair[side], sections[side][at]))
        size += _kept(pair[0], sections[0][at])
    return Made(_page(parts[0]), _page(parts[1]))


def _sections(page: Page) -> list[Node]:
    """The sections of a page: the innermost three or more siblings with text."""
    node = page.tree
    assert node is not None
    while True:
        largest = max(node.children, key=_size, default=None)
        if largest is None or _size(largest) < 0.8 * _size(node):
            return list(node.children)
        node = largest


def _kept(page: Page, section: Node) -> int:
    """The number of nodes of a section in the document tree."""
    return len(document(_page([(page, section)])))


def _size(node: Node) -> int:
    count, waiting = 0, [node]
    while waiting:
        inner = waiting.pop()
        count += inner.tag != "#text"
        waiting.extend(inner.children)
    return count


def _page(parts: list[tuple[Page, Node]]) -> Page:
    """A page whose paths include the number of the part."""
    children, blocks = [], []
    for number, (page, node) in enumerate(parts):
        moved = _moved(node, f"/{number}")
        children.append(moved)
        inside = {inner.path for inner in _nodes(node)}
        blocks += [
            block._replace(path=f"/{number}{block.path}")
            for block in page.blocks
            if block.path in inside
        ]
    root = Node("html", "", "/", tuple(children))
    return Page(parts[0][0].record, (), tuple(blocks), root)


def _moved(node: Node, prefix: str) -> Node:
    children = tuple(_moved(child, prefix) for child in node.children)
    return Node(node.tag, node.text, prefix + node.path, children, node.href)


def _nodes(node: Node) -> list[Node]:
    found = [node]
    for inner in found:
        found.extend(inner.children)
    return found


def measure(made: Made) -> dict[str, float]:
    """The milliseconds of decoding and of the whole strategy."""
    trees = document(made.left), document(made.right)
    aligner = DomTree()
    evidence = aligner.evidence(trees, (made.left, made.right), Lexicon.empty("en", "fr"))
    ours, theirs = trees[0].leftmost, trees[1].leftmost
    found = {"nodes": (len(ours) + len(theirs)) / 2}
    if len(ours) * len(theirs) < 30_000_000:
        gains = evidence.gains(slice(0, len(ours)), slice(0, len(theirs)))
        rng = np.random.default_rng(0)
        gains += rng.normal(2, 1, gains.shape).astype(np.float32)  # most pairs of tags gain
        start = time.perf_counter()
        best_alignment(ours, theirs, gains)
        found["decode"] = 1000 * (time.perf_counter() - start)
        found["cells"] = (
            min(cells(ours, theirs), cells(mirrored(ours)[1], mirrored(theirs)[1])) / 1e6
        )
    start = time.perf_counter()
    aligner.align(made.left, made.right)
    found["whole"] = 1000 * (time.perf_counter() - start)
    return found


def tables(repeat: int) -> tuple[Tables, list[str]]:
    """The table of times by size, and the targets that are missed."""
    pages, rows, late = bodies(), [], []
    DomTree().align(*pages[0])  # loads what is loaded once
    for nodes in SIZES:
        rng = random.Random(nodes)
        done = [measure(put_together(pages, nodes, rng)) for _ in range(repeat)]
        row: dict[str, Any] = {"nodes wanted": nodes}
        row["nodes"] = round(statistics.median(d["nodes"] for d in done))
        for name, title in (
            ("cells", "million cells"), ("decode", "decoding, ms"), ("whole", "strategy, ms"),
        ):  # fmt: skip
            values = [d[name] for d in done if name in d]
            row[title] = round(statistics.median(values), 1) if values else "-"
        rows.append(row)
        if nodes in FLOORS and row["decoding, ms"] > FLOORS[nodes]:
            late.append(f"{nodes} nodes: {row['decoding, ms']} ms")
        print(row, flush=True)
    return {"Tree alignment by size, median": rows}, late


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "tree_speed.json")
    options = parser.parse_args()
    made, late = tables(options.repeat)
    show(made)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result = {
        "signature": signature({"align_dom": {"use": "domtree"}}, ["en", "fr"]),
        "tables": made,
        "peak_mb": peak,
        "machine": machine(["numpy"]),
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if late:
        raise SystemExit("too slow: " + "; ".join(late))


if __name__ == "__main__":
    main()
