from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import make_page

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import TreeAligner
from diptych.registry import strategies
from diptych.types import Block, Page

ALIGNERS = [pytest.param(cls(), id=name) for name, cls in strategies("align_dom").items()]
NOTHING = Lexicon.empty("en", "fr")
BLOCKS = st.builds(
    Block,
    st.text(max_size=80),
    st.sampled_from(["/html/body/p[1]", "/html/body/div/h2[3]", "/html/body/ul/li[2]", ""]),
)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    return make_page("/", "en", *draw(st.lists(BLOCKS, max_size=9)))


@pytest.mark.parametrize("aligner", ALIGNERS)
@given(left=pages(), right=pages())
def test_every_block_is_in_one_pair_and_left_ones_are_in_order(
    aligner: TreeAligner, left: Page, right: Page
) -> None:
    pairs = aligner.align(left, right, NOTHING)
    assert tuple(block for pair in pairs for block in pair.left) == left.blocks
    # Right blocks may be out of order where a text was moved.
    assert Counter(block for pair in pairs for block in pair.right) == Counter(right.blocks)
    for pair in pairs:
        assert pair.left or pair.right
        assert 0 <= pair.score <= 1
    assert aligner.align(left, right, NOTHING) == pairs


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_one_side_may_be_empty(aligner: TreeAligner) -> None:
    page = make_page("/", "en", "One.", "Two.")
    for left, right in ((page, make_page("/")), (make_page("/"), page)):
        pairs = aligner.align(left, right, NOTHING)
        assert sum(len(pair.left) + len(pair.right) for pair in pairs) == 2
    assert aligner.align(make_page("/"), make_page("/"), NOTHING) == []


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_page_is_aligned_with_itself_block_by_block(aligner: TreeAligner) -> None:
    page = make_page("/", "en", "Harbour", "The ships of 1956 came from the north.", "Contact us")
    assert [(pair.left, pair.right) for pair in aligner.align(page, page, NOTHING)] == [
        ((block,), (block,)) for block in page.blocks
    ]
