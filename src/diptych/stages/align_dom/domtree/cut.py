"""The cost of aligning two trees, and the splitting of trees that are too large.

Any range of nodes in postorder is itself a forest.  A node whose subtree begins before the range
keeps the part that is in the range.  Large trees can therefore be cut into pieces that are aligned
separately.  Only the hierarchy across the borders of pieces is lost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_MAX_PAIRS = 12_000_000  # maximum pairs of nodes: three tables of four bytes each
_PIECE_CELLS = 3_000_000  # some 5 ms
_MIN_PIECE = 250  # nodes between two anchors; smaller pieces would cost more than they save


class Piece(NamedTuple):
    """A range of nodes in the left tree, and the range in the right tree to align it with."""

    left: slice
    right: slice


def depths(leftmost: NDArray[np.int32]) -> NDArray[np.int32]:
    """The depth of each node of a tree; the root has depth 0.

    `leftmost` contains, for each node in postorder, the first node of its subtree.

    >>> depths(np.array([0, 1, 0])).tolist()
    [1, 1, 0]
    """
    # Nodes whose subtree begins at or before a node, but that come after it, are its ancestors.
    places = np.arange(len(leftmost))
    begun = np.cumsum(np.bincount(leftmost, minlength=len(leftmost)))
    found: NDArray[np.int32] = (begun - places - 1).astype(np.int32)
    return found


def mirrored(leftmost: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Mirror a tree, and return the new number of each node and the mirrored `leftmost` array.

    >>> numbers, tree = mirrored(np.array([0, 0, 2, 0], np.int32))
    >>> numbers.tolist(), tree.tolist()
    ([1, 2, 0, 3], [0, 1, 1, 0])
    """
    count = len(leftmost)
    in_preorder = leftmost + depths(leftmost)  # nodes to its left, and its ancestors
    numbers = (count - 1 - in_preorder).astype(np.int32)
    tree = np.empty(count, np.int32)
    tree[numbers] = numbers - (np.arange(count, dtype=np.int32) - leftmost)
    return numbers, tree


def cells(left: NDArray[np.int32], right: NDArray[np.int32]) -> int:
    """The number of dynamic-programming table cells needed to align two trees."""
    return _table_rows(left) * _table_rows(right)


def _table_rows(leftmost: NDArray[np.int32]) -> int:
    """The number of rows that a tree needs in the dynamic-programming tables.

    It is the sum of the subtree size plus 1 over all key roots (Zhang & Shasha 1989).

    >>> _table_rows(np.array([0, 1, 0]))
    6
    """
    if not len(leftmost):
        return 0
    last = np.zeros(len(leftmost), np.int64)
    last[leftmost] = np.arange(len(leftmost))  # for equal values, the last node wins
    starts = np.flatnonzero(last)
    starts = starts[starts > 0]
    return int((last[starts] - starts + 2).sum()) + len(leftmost) + 1


def pieces(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    keys: Callable[[], tuple[Sequence[Hashable], Sequence[Hashable]]],
    max_cells: int,
) -> list[Piece]:
    """Cut two trees into pieces if aligning them whole would need more than `max_cells` cells.

    Trees are cut at anchors: nodes whose key occurs exactly once in each tree, and which are in
    the same order in both trees.  `keys` returns the keys of all nodes; a node with the key None is
    never an anchor.  Pieces that are still too large are halved.
    """
    whole = Piece(slice(0, len(left)), slice(0, len(right)))
    if _fits(left, right, whole, max_cells):  # true for nearly all pages
        return [whole]
    found: list[Piece] = []
    waiting = list(_between(common_anchors(*keys()), len(left), len(right)))[::-1]
    while waiting:
        piece = waiting.pop()
        if _fits(left, right, piece, _PIECE_CELLS) or _size(piece) <= 2:
            found.append(piece)
        else:
            waiting += reversed(_halves(piece))
    return found


def sub_forest(leftmost: NDArray[np.int32], nodes: slice) -> NDArray[np.int32]:
    """The `leftmost` array of a range of nodes, treated as a separate forest.

    >>> sub_forest(np.array([0, 1, 2, 1, 0]), slice(2, 5)).tolist()
    [0, 0, 0]
    """
    start = np.int32(nodes.start)
    forest: NDArray[np.int32] = (np.maximum(leftmost[nodes], start) - start).astype(np.int32)
    return forest


def _fits(left: NDArray[np.int32], right: NDArray[np.int32], piece: Piece, max_cells: int) -> bool:
    ours, theirs = (nodes.stop - nodes.start for nodes in piece)
    if ours * theirs > min(max_cells, _MAX_PAIRS):
        return False
    forests = sub_forest(left, piece.left), sub_forest(right, piece.right)
    if cells(*forests) <= max_cells:
        return True
    return cells(mirrored(forests[0])[1], mirrored(forests[1])[1]) <= max_cells


def _size(piece: Piece) -> int:
    return max(int(nodes.stop - nodes.start) for nodes in piece)


def _halves(piece: Piece) -> list[Piece]:
    middles = [(nodes.start + nodes.stop) // 2 for nodes in piece]
    return [
        Piece(slice(piece.left.start, middles[0]), slice(piece.right.start, middles[1])),
        Piece(slice(middles[0], piece.left.stop), slice(middles[1], piece.right.stop)),
    ]


def _between(anchors: Sequence[tuple[int, int]], ours: int, theirs: int) -> Iterator[Piece]:
    start, other = 0, 0
    for left, right in anchors:
        if left + 1 - start >= _MIN_PIECE and right + 1 - other >= _MIN_PIECE:
            yield Piece(slice(start, left + 1), slice(other, right + 1))
            start, other = left + 1, right + 1
    yield Piece(slice(start, ours), slice(other, theirs))


def common_anchors(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Find keys that occur exactly once in each list, and return pairs of their indices.

    If the order of the keys differs, their longest common subsequence is used.

    >>> common_anchors(["a", "b", "c", "d", "d"], ["b", "c", "x", "a", "d"])
    [(1, 0), (2, 1)]
    """
    places = _unique_places(theirs)
    pairs = [(at, places[key]) for key, at in _unique_places(ours).items() if key in places]
    ends: list[int] = []  # smallest end of a sequence of each length
    last: list[int] = []
    before: list[int] = []
    for index, (_, right) in enumerate(pairs):
        length = bisect_left(ends, right)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(right)
            last.append(index)
        else:
            ends[length], last[length] = right, index
    found = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _unique_places(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """Map each key that occurs exactly once to its index, ignoring None."""
    places: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        places[key] = -1 if key in places else at
    return {key: at for key, at in places.items() if at >= 0 and key is not None}
