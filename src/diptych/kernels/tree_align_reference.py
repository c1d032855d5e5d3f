"""Alignment of two ordered trees in NumPy: reference and fallback for `tree_align.c`.

As in Zhang & Shasha 1989, a table is computed for each pair of key roots, from small to large.  The
table covers the prefixes of two ranges of nodes in postorder.  `tests/support/tree_reference.py`
implements the paper's recursion.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_NEVER = -1e300
Range = tuple[int, int]
"""first and last node"""


def is_forest(leftmost: NDArray[np.int32]) -> bool:
    """True if every subtree consists of its last node and the subtrees of its children.

    >>> is_forest(np.array([0, 1, 0])), is_forest(np.array([0, 0, 1]))
    (True, False)
    """
    first = leftmost.tolist()
    for node, start in enumerate(first):
        at = node - 1
        if not 0 <= start <= node:
            return False
        while at >= start:
            at = first[at] - 1
        if at != start - 1:
            return False
    return True


def key_ranges(leftmost: NDArray[np.int32]) -> list[Range]:
    """For each leftmost leaf, the node range of the largest subtree that begins with it.

    The last range covers all nodes.

    >>> key_ranges(np.array([0, 1, 0]))
    [(1, 1), (0, 2)]
    """
    last = {start: node for node, start in enumerate(leftmost.tolist())}
    ranges = sorted(((start, node) for start, node in last.items() if start), key=lambda r: r[1])
    return [*ranges, (0, len(leftmost) - 1)]


class _Ranges(NamedTuple):
    """Two trees, each given by the first node of every subtree, and a range of nodes in each."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    ours: Range
    theirs: Range


def _pairs(left: NDArray[np.int32], right: NDArray[np.int32]) -> list[_Ranges]:
    """All pairs of key ranges, smaller ranges before larger ones."""
    if not is_forest(left) or not is_forest(right):
        raise ValueError("not a forest in postorder")
    pairs = product(key_ranges(left), key_ranges(right))
    return [_Ranges(left, right, ours, theirs) for ours, theirs in pairs]


def decode(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float32]
) -> list[tuple[int, int]]:
    """Find the alignment with the highest sum of gains; see `tree_align.decode`."""
    mass = np.where(gains > 0, gains, -1e30).astype(np.float32)
    pairs = _pairs(left, right)
    for ranges in pairs:
        _best_forests(ranges, mass, fill=True)
    found: list[tuple[int, int]] = []
    waiting = [pairs[-1]]
    while waiting:
        ranges = waiting.pop()
        matched = _walk_back(ranges, _best_forests(ranges, mass, fill=False))
        found += matched
        for x, y in matched:
            first = int(left[x]), int(right[y])
            # Pairs below both nodes on the leftmost path were found in the same table.
            if first != (ranges.ours[0], ranges.theirs[0]) and first[0] < x and first[1] < y:
                inner = ranges._replace(ours=(first[0], x - 1), theirs=(first[1], y - 1))
                waiting.append(inner)
    return sorted(found)


def _best_forests(ranges: _Ranges, mass: NDArray[np.float32], *, fill: bool) -> NDArray[np.float32]:
    """The highest sum of gains for each pair of prefixes of two node ranges.

    `mass` holds the gain of each node pair.  If `fill` is True, the highest sum of gains below a
    pair of nodes is added to the gain of the pair.
    """
    left, right, ours, theirs = ranges
    start, other = ours[0], theirs[0]
    columns = slice(other, theirs[1] + 1)
    below = right[columns] - other
    table = np.zeros((ours[1] - start + 2, len(below) + 1), np.float32)
    for x in range(start, ours[1] + 1):
        above, row, gains = table[x - start], table[x - start + 1], mass[x, columns]
        if fill and left[x] == start:
            gains += np.where((below == 0) & (gains > 0), above[:-1], 0)
        both = table[left[x] - start][below] + gains
        row[1:] = np.maximum.accumulate(np.maximum(both, above[1:]))
    return table


def _walk_back(ranges: _Ranges, table: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Trace back the pairs of nodes that yield the value in the last cell of a table."""
    left, right, (start, x), (other, y) = ranges
    found = []
    while x >= start and y >= other:
        value = table[x - start + 1, y - other + 1]
        if value == table[x - start, y - other + 1]:
            x -= 1
        elif value == table[x - start + 1, y - other]:
            y -= 1
        else:
            found.append((x, y))
            if left[x] == start and right[y] == other:
                x, y = x - 1, y - 1
            else:
                x, y = int(left[x]) - 1, int(right[y]) - 1
    return found


def expect(
    left: NDArray[np.int32], right: NDArray[np.int32], gains: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Compute the log total and the posterior probabilities; see `tree_align.expect`."""
    mass, counts = np.array(gains, np.float64), np.zeros(gains.shape)
    pairs = _pairs(left, right)
    for ranges in pairs:
        table, _ = _sum_forests(ranges, mass, fill=True)
    total = float(table[-1, -1])
    for ranges in reversed(pairs):
        table, kept = _sum_forests(ranges, mass, fill=False)
        flow = np.zeros(table.shape)
        flow[-1, -1] = ranges is pairs[-1]
        _flow_back(ranges, mass, table, kept, flow, counts)
    return total, counts


def _sum_forests(
    ranges: _Ranges, mass: NDArray[np.float64], *, fill: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each pair of prefixes of two node ranges, the log sum of the weights of all alignments.

    A second table has the log sum over the alignments in which the last left node is aligned.
    `mass` holds the log weight of each node pair.  If `fill` is True, the log sum for the nodes
    below a pair is added to the log weight of the pair.
    """
    left, right, ours, theirs = ranges
    start, other = ours[0], theirs[0]
    columns = slice(other, theirs[1] + 1)
    below = right[columns] - other
    table = np.zeros((ours[1] - start + 2, len(below) + 1))
    kept = np.full(table.shape, _NEVER)
    for x in range(start, ours[1] + 1):
        above, row, gains = table[x - start], table[x - start + 1], mass[x, columns]
        if fill and left[x] == start:
            gains += np.where(below == 0, above[:-1], 0)
        both = table[left[x] - start][below] + gains
        kept[x - start + 1, 1:] = np.logaddexp.accumulate(both)
        row[1:] = np.logaddexp(above[1:], kept[x - start + 1, 1:])
    return table, kept


def _flow_back(
    ranges: _Ranges,
    mass: NDArray[np.float64],
    table: NDArray[np.float64],
    kept: NDArray[np.float64],
    flow: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Backpropagate the derivatives of the total from the last cell of a table to the first.

    `table` and `kept` are the tables of `_sum_forests`.  The derivatives for the cells are added to
    `flow`, and those for the node pairs, which are posterior probabilities, to `counts`.
    """
    left, right, ours, theirs = ranges
    start, other = ours[0], theirs[0]
    for x in range(ours[1], start - 1, -1):
        row, base, carried = x - start + 1, int(left[x]) - start, 0.0
        for y in range(theirs[1], other - 1, -1):
            column, under = y - other + 1, int(right[y]) - other
            through = flow[row, column]
            flow[row - 1, column] += through * np.exp(table[row - 1, column] - table[row, column])
            carried += through * np.exp(kept[row, column] - table[row, column])
            share = min(1.0, np.exp(table[base, under] + mass[x, y] - kept[row, column]))
            flow[base, under] += carried * share
            counts[x, y] += carried * share
            carried *= 1 - share
            if left[x] == start and right[y] == other:
                flow[row - 1, column - 1] += counts[x, y]
