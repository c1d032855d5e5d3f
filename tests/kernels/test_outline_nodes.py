"""The nodes of outlines in C, compared with their reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.kernels import native
from diptych.kernels.outline_nodes import find_nodes
from diptych.page.content import BLOCK, CLOSE, INLINE, LEAF, TEXT, Outline
from diptych.stages.align_dom.domtree.document import _from_nodes, outline_reference
from diptych.types import Block

STRINGS = ["", "div", "a", "b", "area", "br", "", "one", "two", "/x"]
NAMES, TEXTS, TARGETS = (1, 2, 3, 4, 5), (6, 7, 8), (0, 0, 6, 9)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    """Any tree, with blocks in and outside its elements, some of them twice."""
    events: list[tuple[int, int, int]] = [(BLOCK, 1, 0)]
    depth, elements = 1, 1
    for kind in draw(st.lists(st.sampled_from([INLINE, BLOCK, LEAF, TEXT, TEXT, CLOSE]))):
        if kind == CLOSE and depth == 1:
            continue
        of_kind = TEXTS if kind == TEXT else NAMES
        events.append((kind, draw(st.sampled_from(of_kind)), draw(st.integers(0, 2))))
        depth += (kind in (INLINE, BLOCK)) - (kind == CLOSE)
        elements += kind in (INLINE, BLOCK, LEAF)
    events += [(CLOSE, 0, 0)] * depth
    targets = draw(st.lists(st.sampled_from(TARGETS), min_size=elements, max_size=elements))
    key = st.tuples(st.integers(0, elements + 2), st.integers(0, 2))
    blocks = draw(st.lists(key, max_size=8))
    kinds, values, numbers = zip(*events, strict=True)
    places, runs = zip(*blocks, strict=True) if blocks else ((), ())
    return Outline(kinds, values, numbers, STRINGS, targets, places, runs)


@given(outlines(), st.booleans())
def test_nodes_equal_those_of_the_reference(outline: Outline, with_links: bool) -> None:
    blocks = [Block(f"text {number}", f"/p[{number}]") for number in range(len(outline.places))]
    found, expected = (
        build(blocks, outline, "a.test", with_links=with_links)
        for build in (_from_nodes, outline_reference)
    )
    assert found.leftmost.tolist() == expected.leftmost.tolist()
    for name in ("tags", "texts", "hrefs", "blocks", "host"):
        assert getattr(found, name) == getattr(expected, name)


ROLES = np.zeros(3, np.uint8)


@pytest.mark.parametrize(
    ("kinds", "values", "targets", "places"),
    [
        ([BLOCK, CLOSE], [1], [0], []),  # a column is too short
        ([BLOCK, CLOSE], [3, 0], [0], []),  # no such string
        ([BLOCK, CLOSE], [1, 0], [3], []),
        ([CLOSE], [0], [], []),  # nothing is open
        ([BLOCK], [1], [0], []),  # never closed
        ([BLOCK, LEAF, CLOSE], [1, 1, 0], [0], []),  # fewer elements than events
        ([BLOCK, CLOSE], [1, 0], [0], [0]),  # a place without a run
    ],
)
def test_events_that_are_no_tree_are_refused(
    kinds: list[int], values: list[int], targets: list[int], places: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"tree|columns|strings"):
        find_nodes(bytes(kinds), (values, [0] * len(kinds)), targets, (places, []), ROLES)


def test_places_and_numbers_may_be_as_large_as_stored_ones() -> None:
    most = (1 << 32) - 1
    found = find_nodes(
        bytes([BLOCK, TEXT, CLOSE]), ([1, 2, 0], [0, most, 0]), [0], ([0, most], [most, 0]), ROLES
    )
    assert found.blocks.tolist() == [1, 0, -1]
    assert found.outside == 1


def test_blocks_whose_keys_agree_take_no_longer() -> None:
    # A multiplication by this number puts all these keys into one slot.
    count, one = 200_000, 1 << 64
    usual = pow(0x9E3779B97F4A7C15, -1, one)
    keys = [((each % 4096) << 52 | each) * usual % one for each in range(1, count + 1)]
    blocks = [key >> 32 for key in keys], [key % (1 << 32) for key in keys]
    with processor_seconds():
        found = find_nodes(bytes([BLOCK, CLOSE]), ([1, 0], [0, 0]), [0], blocks, ROLES)
    assert found.outside == count
