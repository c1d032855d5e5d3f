"""Contents of pages as bytes: they are read as they were stored, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from isal import isal_zlib
from support.blocks import HERE, walk
from support.odd_pages import ODD

import diptych
import diptych.page.content as stored
from diptych.page.charset import decode
from diptych.page.content import (
    MAX_CONTENT,
    READER,
    ContentWriter,
    Outline,
    _packed,
    unpack,
    unpack_outline,
)
from diptych.types import Block, Node

DEMO = sorted((Path(diptych.__file__).parent / "demo" / "site").rglob("*.html"))
INLINE, BLOCK, LEAF, TEXT, CLOSE = range(5)


def content(markup: str) -> tuple[tuple[Block, ...], Node | None] | None:
    return unpack(walk(markup).content)


def whole(markup: str) -> tuple[tuple[Block, ...], Node | None]:
    found = walk(markup)
    return tuple(found.blocks), found.tree


@pytest.mark.parametrize("name", ODD)
def test_content_of_odd_pages_is_kept(name: str) -> None:
    assert content(ODD[name]) == whole(ODD[name])


def test_contents_of_all_pages_of_the_demo_are_kept() -> None:
    assert len(DEMO) > 40
    for file in DEMO:
        markup = decode(file.read_bytes(), "text/html")[0]
        assert content(markup) == whole(markup)


def test_reader_is_another_one_if_the_content_of_a_page_changes() -> None:
    found = [isal_zlib.decompress(walk(markup).content) for markup in ODD.values()]
    digest = hashlib.sha256(b"".join(found)).hexdigest()[:16]
    # Increase READER together with this digest: stored contents are then read again.
    assert (READER, digest) == (2, "2d32c00d955a3e23")


MARKUP = st.lists(
    st.sampled_from([
        "<p>", "</p>", "<div>", "</div>", "<a href=x>", "<a href=y>", "</a>", "<b>", "</b>", "<br>",
        "<li>", "<ul>", "</ul>", "<span hidden>", "<div hidden>", "</span>", "<img alt=bee>",
        "<hr>", "<table>", "<td>", "</table>", "<x-y>", "</x-y>", "<sup>", "</sup>",
        "<title>T</title>", "word", " ", "two words", "1", "é", "|",
        "<input type=submit value=go>", "<!-- -->",
    ])
)  # fmt: skip


@given(MARKUP)
def test_content_of_any_page_is_kept(pieces: list[str]) -> None:
    markup = "".join(pieces)
    assert content(markup) == whole(markup)


def test_tree_has_paths_texts_and_targets() -> None:
    found = content("<p>a<a href=x>b</a><img alt=c></p>d")
    assert found is not None
    blocks, tree = found
    body = "/html/body"
    link = Node(
        "a", "", f"{body}/p[1]/a[1]", (Node("#text", "b", f"{body}/p[1]"),), f"{HERE[:-9]}x"
    )
    image = f"{body}/p[1]/img[1]"
    drawn = Node("img", "", image, (Node("#text", "c", image),))
    first = Node("p", "", f"{body}/p[1]", (Node("#text", "a", f"{body}/p[1]"), link, drawn))
    inside = Node("body", "", body, (first, Node("#text", "d", body)))
    assert tree == Node("html", "", "/html", (Node("head", "", "/html/head"), inside))
    assert blocks == (Block("ab", f"{body}/p[1]"), Block("c", image), Block("d", body))


def test_nothing_has_no_content() -> None:
    assert ContentWriter().tree() is None
    assert ContentWriter().pack([]) == b""


def test_contents_that_are_too_large_are_not_stored(monkeypatch) -> None:
    size = len(isal_zlib.decompress(walk("<p>one").content))
    monkeypatch.setattr("diptych.page.content.MAX_CONTENT", size)
    assert walk("<p>one").content
    assert walk("<p>four").content == b""


def test_names_that_make_paths_long_are_not_stored() -> None:
    longer = f"<x-{'y' * 5000}></x-{'y' * 5000}>"
    assert walk(longer).content == b""
    tree = walk(longer).tree
    assert tree is not None
    assert len(tree.children[1].children[0].path) > 5000


def test_lines_in_a_string_are_not_stored() -> None:
    writer = ContentWriter()
    writer.open("html", 0, "/html", is_block=True)
    writer.text("one\ntwo", 0)
    writer.close()
    assert writer.pack([]) == b""


@pytest.mark.parametrize("number", [65_535, 65_536, 300_000])
def test_many_siblings_have_their_numbers(number: int) -> None:
    writer = ContentWriter()
    writer.open("html", 0, "/html", is_block=True)
    writer.leaf("p", number, f"/html/p[{number}]")
    writer.close()
    found = unpack(writer.pack([]))
    assert found is not None
    assert found[1] == writer.tree()
    assert found[1].children[0].path == f"/html/p[{number}]"


# -- bytes that no version has written -------------------------------------------------------------

STRINGS = "\nhtml\n/html\nb"


def packed(events: list[tuple[int, int, int]], blocks: tuple[int, ...] = ()) -> bytes:
    kinds, values, numbers = zip(*events, strict=True)
    return _packed(kinds, [*values, *numbers, 2, *blocks], (1, len(blocks) // 3), STRINGS)


ROOT, END, NAMED = (BLOCK, 1, 0), (CLOSE, 0, 0), (INLINE, 3, 1)


def test_smallest_content_is_read() -> None:
    assert unpack(packed([ROOT, END])) == ((), Node("html", "", "/html"))
    assert unpack(packed([ROOT, END], (3, 0, 2))) == (
        (Block("b", "/html/text()[2]"),), Node("html", "", "/html"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "events",
    [
        [ROOT, (LEAF, 3, 1)],
        [ROOT, END, END],
        [ROOT, END, (LEAF, 1, 1)],
        [(TEXT, 3, 0)],
        [ROOT, (9, 3, 1), END, END],
        [ROOT, (TEXT, 99, 0), END],
        [ROOT, (INLINE, 99, 1), END, END],
        [ROOT, ROOT, END, END],
        [ROOT, *[NAMED] * 3000, *[END] * 3001],
    ],
    ids=["open", "closed twice", "two roots", "text", "kind", "string", "name", "path", "depth"],
)
def test_events_that_are_no_tree_are_not_read(events: list[tuple[int, int, int]]) -> None:
    assert unpack(packed(events)) is None
    assert unpack_outline(packed(events)) is None


@pytest.mark.parametrize("block", [(99, 0, 0), (3, 99, 0)], ids=["text", "path"])
def test_blocks_that_refer_to_nothing_are_not_read(block: tuple[int, ...]) -> None:
    assert unpack(packed([ROOT, END], block)) is None
    assert unpack_outline(packed([ROOT, END], block)) is None


def test_bytes_that_grow_without_end_are_not_read() -> None:
    data = isal_zlib.decompress(packed([ROOT, END])) + b"x" * MAX_CONTENT
    assert unpack(isal_zlib.compress(data * 20, 1)) is None
    assert unpack_outline(isal_zlib.compress(data * 20, 1)) is None


WHOLE = isal_zlib.decompress(walk("".join(ODD.values())).content)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=8))
@example([(12, 3)])
def test_damaged_bytes_are_read_or_not_but_raise_nothing(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    found = unpack(isal_zlib.compress(bytes(data), 1))
    assert found is None or isinstance(found[1], Node)


@given(st.integers(0, len(WHOLE) - 1), st.binary(max_size=40))
def test_bytes_that_are_cut_off_raise_nothing(size: int, rest: bytes) -> None:
    assert unpack(rest) is None
    found = unpack(isal_zlib.compress(WHOLE[:size], 1))
    assert found is None or isinstance(found[1], Node)


def nested(levels: int, leaves: int = 0, path: str = "/a") -> bytes:
    """A stored tree of that many levels, with leaves in the innermost element and no blocks.

    All elements have the path that is given.
    """
    kinds = [BLOCK] * levels + [LEAF] * leaves + [CLOSE] * levels
    values = [0] * (levels + leaves) + [1] * levels
    spelled = [2] * (levels + leaves)
    numbers = [*values, *([0] * len(kinds)), *spelled]
    return _packed(kinds, numbers, (len(spelled), 0), f"a\n\n{path}")


def test_stored_trees_have_a_limit_of_levels_and_of_characters() -> None:
    assert unpack(nested(900)) is not None
    assert unpack(nested(5_000)) is None
    assert unpack_outline(nested(900)) is not None
    assert unpack_outline(nested(5_000)) is None
    assert unpack(nested(9, leaves=9_000, path="/" + "a" * 3_000)) is not None
    assert unpack(nested(9, leaves=40_000, path="/" + "a" * 3_000)) is None


def chain(levels: int) -> bytes:
    """A stored tree of so many levels, with a block in the innermost element."""
    kinds = [BLOCK] * levels + [CLOSE] * levels
    values, numbers = [1] * levels + [0] * levels, [0] + [1] * (levels - 1) + [0] * levels
    return _packed(kinds, [*values, *numbers, 2, 3, levels - 1, 0], (1, 1), "\nhtml\n/html\nb")


def test_outlines_have_a_limit_of_levels_and_of_characters_in_a_path() -> None:
    found = unpack_outline(chain(400))
    assert found is not None
    assert found == (unpack(chain(400))[0], found[1])
    assert isinstance(found[1], Outline)
    assert unpack_outline(chain(600)) is None


def test_root_with_a_number_has_no_path_in_an_outline() -> None:
    kinds, values, numbers = [BLOCK, CLOSE], [1, 0], [1, 0]
    data = _packed(kinds, [*values, *numbers, 3, 0, 0], (0, 1), "\nhtml\n/html\nb")
    assert unpack_outline(data) is None


def test_paths_of_the_elements_around_blocks_have_a_limit(monkeypatch) -> None:
    monkeypatch.setattr(stored, "_MAX_PATHS", 20_000)
    assert unpack_outline(chain(60)) is not None
    assert unpack_outline(chain(300)) is None


def test_paths_that_occur_twice_are_those_of_nodes() -> None:
    found = unpack_outline(nested(3))
    assert found == unpack(nested(3))
    assert isinstance(found[1], Node)


def numbered(texts: int, blocks: int) -> bytes:
    """A stored tree with texts and blocks whose paths are spelled nowhere; it is read as nodes."""
    kinds = [BLOCK, *[TEXT] * texts, CLOSE]
    numbers = [*(1, *[3] * texts, 0), *(0, *[2] * texts, 0), 2]
    columns = [*[3] * blocks, *[0] * blocks, *[2] * blocks]
    return _packed(kinds, [*numbers, *columns], (1, blocks), "\nhtml\n/html[1]\nword")


@pytest.mark.parametrize(("texts", "blocks"), [(9, 0), (0, 9)], ids=["texts", "blocks"])
def test_paths_of_texts_and_blocks_have_a_limit(monkeypatch, texts: int, blocks: int) -> None:
    monkeypatch.setattr(stored, "_MAX_PATHS", 1_000)
    for read in (unpack, unpack_outline):
        assert read(numbered(texts, blocks)) is not None
        assert read(numbered(100 * texts, 100 * blocks)) is None


@pytest.mark.parametrize(("texts", "blocks"), [(90, 0), (0, 90), (50, 40)])
def test_letters_of_a_text_that_is_used_often_have_a_limit(
    monkeypatch, texts: int, blocks: int
) -> None:
    data = numbered(texts, blocks)
    letters = len("html") + 90 * len("word")
    for most in (letters - 1, letters):
        monkeypatch.setattr(stored, "_MAX_TEXT", most)
        for read in (unpack, unpack_outline):
            assert (read(data) is not None) == (most == letters)
