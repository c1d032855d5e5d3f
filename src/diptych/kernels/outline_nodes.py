"""The nodes of a document tree in C, from the events of a page's outline.

The reference implementation is `stages/align_dom/domtree/document.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import are_within

TEXT_TAG, OUTSIDE_TAG = -1, -2
"""tags of a text, and of a block that is outside the tree"""
IS_LINK, IS_INLINE = 1, 2
"""roles of element names: a link, and an element that is merged with the text around it"""
_SEED = hash("blocks") % (1 << 64)  # differs between processes, so no page can plan collisions


class OutlineNodes(NamedTuple):
    """Nodes in postorder, as columns; tags, targets and texts are numbers of strings."""

    tags: NDArray[np.int32]
    """the name of the element, `TEXT_TAG` or `OUTSIDE_TAG`"""
    hrefs: NDArray[np.int32]
    """the target of the link, or 0"""
    blocks: NDArray[np.int32]
    """the block that the node represents, or -1"""
    leftmost: NDArray[np.int32]
    anchor_offsets: NDArray[np.int32]
    """for each node, the index of its first text in `anchors`, and the number of texts"""
    anchors: NDArray[np.int32]
    """the texts of links that are no blocks"""

    @property
    def outside(self) -> int:
        """The number of blocks that are outside the tree; they are the first nodes."""
        return int(np.count_nonzero(self.tags == OUTSIDE_TAG))


class _COutline(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int64, "events elements blocks"),
        *fields_of(ctypes.c_void_p, "kind value number target role place run"),
        ("is_bare", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
    )


class _CNodes(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int64, "count anchors"),
        *fields_of(ctypes.c_void_p, "tag href block start anchor_from anchor"),
    )


def find_nodes(
    kinds: bytes,
    events: tuple[Sequence[int], Sequence[int]],
    targets: Sequence[int],
    blocks: tuple[Sequence[int], Sequence[int]],
    roles: NDArray[np.uint8],
    *,
    with_links: bool = True,
) -> OutlineNodes:
    """Find the nodes of an outline: its kinds, its values and numbers, its targets, and its blocks.

    `blocks` are their places and runs; `roles` are the roles of all strings as element names.
    Without links, those are left out that neither contain a block nor are in one.
    """
    library = native()
    if library is None:
        raise RuntimeError("finding the nodes in one call requires the compiled kernels")
    kind = np.frombuffer(kinds, np.uint8)
    value, target = np.array(events[0], np.int32), np.array(targets, np.int32)
    number, place, run = (np.array(column, np.uint32) for column in (events[1], *blocks))
    if not len(kind) == len(value) == len(number) or len(place) != len(run):
        raise ValueError("columns must have the same length")
    if not are_within(value, len(roles)) or not are_within(target, len(roles)):
        raise ValueError("events must refer to strings that exist")
    room = len(kind) + len(place)
    nodes = np.empty((5, room + 1), np.int32)
    anchors = np.empty(len(kind), np.int32)
    outline = _COutline(
        len(kind), len(target), len(place),
        *map(pointer, (kind, value, number, target, roles, place, run)), not with_links,
        _SEED,
    )  # fmt: skip
    found = _CNodes(0, 0, *map(pointer, (*nodes, anchors)))
    done = library.outline_nodes(ctypes.byref(outline), ctypes.byref(found))
    if done < 0:
        raise MemoryError
    if not done:
        raise ValueError("not the events of a tree")
    nodes[4, found.count] = found.anchors
    tags, hrefs, own, starts = nodes[:4, : found.count]
    return OutlineNodes(
        tags, hrefs, own, starts, nodes[4, : found.count + 1], anchors[: found.anchors]
    )
