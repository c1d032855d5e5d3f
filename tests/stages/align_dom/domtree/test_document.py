from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib
from support.blocks import walk
from support.fakes import at, make_page
from support.odd_pages import ODD
from support.timing import processor_seconds

import diptych
from diptych.kernels.tree_align_reference import is_forest
from diptych.page.content import BLOCK, CLOSE, TEXT, Outline, _packed, unpack, unpack_outline
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.document import Document, document
from diptych.types import Block, Node, Page, Response

DEMO = sorted((Path(diptych.__file__).parent / "demo" / "site").rglob("*.html"))


def page(markup: str) -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at("/"), 200, headers, markup.encode(), 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def outline(tree: Document) -> list[tuple[str, str]]:
    return list(zip(tree.tags, tree.texts, strict=True))


def blocks_of(tree: Document) -> list[int]:
    return sorted(block for block in tree.blocks if block >= 0)


def test_text_is_one_with_its_element_and_inline_elements_are_part_of_it() -> None:
    read = page("<body><p>A <b>bold</b> word</p><ul><li>One<li>Two</ul>")
    tree = document(read)
    assert outline(tree) == [
        ("p", "A bold word"), ("li", "One"), ("li", "Two"), ("ul", ""), ("body", ""), ("html", ""),
    ]  # fmt: skip
    assert tree.leftmost.tolist() == [0, 1, 2, 1, 0, 0]
    assert tree.blocks == (0, 1, 2, -1, -1, -1)


def test_links_are_nodes_with_their_text_and_address() -> None:
    tree = document(page("<body><p>See <a href='/help'>the <i>help</i></a> there</p>"))
    assert outline(tree)[:2] == [("a", "the help"), ("p", "See the help there")]
    assert tree.hrefs[0].endswith("/help")
    assert tree.hrefs[1] == ""


def test_anchor_without_address_is_inline() -> None:
    assert outline(document(page("<body><p><a name=top>Top</a> of it")))[0] == ("p", "Top of it")


def test_alternative_text_is_the_text_of_its_image() -> None:
    tree = document(page("<body><p>Here <img alt='A red boat'> we are<p><img src=x>more"))
    assert ("img", "A red boat") in outline(tree)
    assert [tag for tag in tree.tags if tag == "img"] == ["img"]


def test_links_of_a_list_and_texts_set_apart_are_nodes_with_their_blocks() -> None:
    read = page(
        "<body><nav><a href=a>Home</a> / <a href=b>News</a> / Today</nav>"
        "<p>A map<sup><a href='#n'>1</a></sup> <span class=sr-only>opens a window</span> here</p>"
    )
    tree = document(read)
    assert [pair for pair in outline(tree) if pair[1]] == [
        ("a", "Home"), ("a", "News"), ("nav", "Today"), ("#text", "opens a window"),
        ("p", "A map here"),
    ]  # fmt: skip
    assert blocks_of(tree) == list(range(len(read.blocks)))
    for block, text in zip(tree.blocks, tree.texts, strict=True):
        assert block < 0 or read.blocks[block].text == text


def test_elements_without_text_and_links_are_left_out() -> None:
    assert outline(document(page("<body><div><hr><div></div></div><p>Text"))) == [
        ("p", "Text"), ("body", ""), ("html", ""),
    ]  # fmt: skip


def test_second_run_of_an_element_is_a_node_below_it() -> None:
    tree = document(page("<body><div>Before<p>Inside</p>After</div>"))
    assert outline(tree)[:3] == [("p", "Inside"), ("#text", "After"), ("div", "Before")]


def test_title_and_description_stand_before_the_page() -> None:
    read = page(
        "<head><title>Name</title><meta name=description content='What it is'><body><p>Text"
    )
    tree = document(read)
    assert outline(tree)[:2] == [("title", "Name"), ("meta", "What it is")]
    assert blocks_of(tree) == [0, 1, 2]


def test_page_without_a_tree_is_read_from_its_paths() -> None:
    read = page("<body><div><h2>One</h2><p>Two</p><ul><li>Three<li>Four</ul></div><p>Five</p>")
    from_paths = document(Page(read.record, read.links, read.blocks))
    assert outline(from_paths) == outline(document(read))
    assert from_paths.leftmost.tolist() == document(read).leftmost.tolist()


def test_text_after_child_elements_is_the_same_from_tree_and_paths() -> None:
    read = page("<body><div><p>One</p>Two</div>")
    from_paths = document(Page(read.record, read.links, read.blocks))
    assert outline(from_paths) == outline(document(read))


@pytest.mark.parametrize("levels", [400, 3_000])
def test_deep_tree_is_read(levels: int) -> None:
    node = Node("#text", "deep", "/x")
    for level in range(levels):
        node = Node("div", "", f"/x/{level}" if level else "/x", (node,))
    read = make_page("/", "en", Block("deep", "/x"), Block("other", "/y"))
    tree = document(Page(read.record, (), read.blocks, node))
    assert len(tree) == levels + 1
    assert blocks_of(tree) == [0, 1]


PIECES = st.sampled_from(
    "<p>a</p>|<div>|</div>|<ul><li>b|</ul>|text |<a href=/x>|</a>|<img alt='c d'>|<br><br>|<b>|"
    "</b>|<table><tr><td>e|</table>|<title>t</title>|<input type=submit value=Go>|<h2>f</h2>".split(
        "|"
    )
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_every_block_is_in_exactly_one_node(markup: str) -> None:
    read = page(f"<body>{markup}")
    for one in (read, Page(read.record, (), read.blocks)):
        tree = document(one)
        assert blocks_of(tree) == list(range(len(read.blocks)))
        assert is_forest(tree.leftmost)
        for text, number in zip(tree.texts, tree.blocks, strict=True):
            assert number < 0 or text == read.blocks[number].text


@given(
    st.lists(st.sampled_from(["", "/html", "/html/body/p[1]", "/html/body/div/p", "/a/text()[2]"]))
)
def test_paths_may_repeat_or_be_empty(paths: list[str]) -> None:
    tree = document(make_page("/", "en", *(Block("x", path) for path in paths)))
    assert blocks_of(tree) == list(range(len(paths)))
    assert is_forest(tree.leftmost)


# -- outlines, as they are stored ------------------------------------------------------------------


def columns(tree: Document) -> tuple[object, ...]:
    return tree.tags, tree.texts, tree.hrefs, tree.blocks, tree.leftmost.tolist(), tree.host


def both_ways(data: bytes) -> tuple[Document, Document] | None:
    """The documents from a tree of nodes and from an outline; None if the bytes are unreadable."""
    nodes, columns = unpack(data), unpack_outline(data)
    assert (nodes is None) == (columns is None) or nodes is None
    if nodes is None or columns is None:
        return None
    assert nodes[0] == columns[0]
    record = make_page("/").record
    return document(Page(record, (), *nodes)), document(Page(record, (), *columns))


@pytest.mark.parametrize("name", ODD)
def test_outlines_of_odd_pages_give_the_same_document(name: str) -> None:
    data = walk(ODD[name]).content
    found = both_ways(data)
    assert (found is None) == (not data)
    if found:
        assert columns(found[0]) == columns(found[1])


def test_outlines_of_all_pages_of_the_demo_give_the_same_document() -> None:
    for file in DEMO:
        data = walk(file.read_text("utf-8", "replace")).content
        found = both_ways(data)
        assert found is not None
        assert columns(found[0]) == columns(found[1])
        stored = unpack_outline(data)
        assert stored is not None
        assert isinstance(stored[1], Outline)


WHOLE = isal_zlib.decompress(walk("".join(ODD.values())).content)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=8))
def test_damaged_outlines_give_a_document_and_raise_nothing(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    stored = unpack_outline(isal_zlib.compress(bytes(data), 1))
    if stored is not None:
        tree = document(Page(make_page("/").record, (), *stored))
        assert blocks_of(tree) == list(range(len(stored[0])))
        assert is_forest(tree.leftmost)


def test_blocks_that_are_repeated_or_in_no_text_are_in_the_document_of_an_outline() -> None:
    kinds = [BLOCK, BLOCK, TEXT, CLOSE, CLOSE]
    values, numbers = [1, 3, 4, 0, 0], [0, 1, 0, 0, 0]
    blocks = [(4, 1, 0), (4, 1, 0), (5, 1, 7), (5, 2 + 3, 0)]  # text, element, run
    texts, places, runs = zip(*blocks, strict=True)
    stored = [*values, *numbers, 2, *texts, *places, *runs]
    data = _packed(kinds, stored, (1, len(blocks)), "\nhtml\n/html\np\na\nb")
    found = both_ways(data)
    assert found is not None
    assert columns(found[0]) == columns(found[1])
    assert blocks_of(found[1]) == [0, 1, 2, 3]
    assert found[1].blocks.index(2) < found[1].blocks.index(0) < found[1].blocks.index(1)


def test_many_texts_in_many_levels_take_no_longer() -> None:
    levels, texts = 2000, 250_000
    kinds = [BLOCK] * levels + [TEXT] * texts + [CLOSE] * levels
    values = [1] * levels + [3] * texts + [0] * levels
    spelled = [2] * levels  # paths that are spelled more than once are those of nodes
    stored = [*values, *[0] * len(kinds), *spelled, 3, 0, 0]  # the last are those of a block
    data = _packed(kinds, stored, (levels, 1), "\ndiv\n/div\nword")
    with processor_seconds():
        found = unpack_outline(data)
        assert found is not None
        assert isinstance(found[1], Node)
        tree = document(Page(make_page("/").record, (), *found))
    assert outline(tree) == [("div", "word")]
