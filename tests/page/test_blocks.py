"""One walk over a page: blocks, tree and tag sequence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import pytest
from support.blocks import block_texts as texts
from support.blocks import walk

from diptych.types import Node


def elements(markup: str, tag: str) -> list[Node]:
    def all_of(node: Node) -> Iterator[Node]:
        yield node
        for child in node.children:
            yield from all_of(child)

    tree = walk(markup).tree
    assert tree is not None
    return [node for node in all_of(tree) if node.tag == tag]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>a<br>b", ["a b"]),
        ("<p>a<br><br>b<br>c", ["a", "b c"]),
        ("<p>a<br><br><br>b", ["a", "b"]),
        ("<p><br>a<br>b", ["a b"]),
        ("<p>a<br><i> </i><br>b", ["a", "b"]),
        ("<p>a<br><i>x</i><br>b", ["a x b"]),
    ],
)
def test_one_line_break_is_a_blank_and_two_in_a_row_end_the_block(
    markup: str, expected: list[str]
) -> None:
    assert texts(markup) == expected


@pytest.mark.parametrize("kind", ["submit", "button", "reset", "image", "SUBMIT"])
def test_label_of_a_button_is_a_block_and_a_text_in_the_tree(kind: str) -> None:
    markup = f"<p>before <input type={kind} value='Go now'>"
    assert texts(markup) == ["before", "Go now"]
    (button,) = elements(markup, "input")
    assert [(node.tag, node.text) for node in button.children] == [("#text", "Go now")]
    assert texts("<input type=image alt='Search'>") == ["Search"]


@pytest.mark.parametrize("kind", ["text", "hidden", "radio", ""])
def test_value_of_a_field_is_not_text(kind: str) -> None:
    markup = f"<p>before <input type='{kind}' value='typed' alt='other'>"
    assert texts(markup) == ["before"]
    (field,) = elements(markup, "input")
    assert field.children == ()


def test_area_of_a_map_has_its_text_and_its_target() -> None:
    markup = "<map><area href='../b' alt='The harbour'><area href='#x' alt='Here'><area></map>"
    assert texts(markup) == ["The harbour", "Here"]
    areas = elements(markup, "area")
    assert [node.href for node in areas] == ["http://example.org/b", "", ""]
    assert [[child.text for child in node.children] for node in areas] == [
        ["The harbour"], ["Here"], []
    ]  # fmt: skip


def test_links_in_the_tree_have_their_targets() -> None:
    markup = "<p><a href='a'>one</a> <a>two</a> <a href='mailto:x@y.org'>three</a>"
    found = [node.href for node in elements(markup, "a")]
    assert found == ["http://example.org/docs/a", "", ""]


def test_text_of_an_attribute_is_bounded() -> None:
    assert [len(text) for text in texts(f"<img alt='{'a' * 2000}'>")] == [2000]
    assert texts(f"<img alt='{'a' * 2001}'>") == []
    head = f"<title>{'t' * 3000}</title><meta name=Description content='{'d' * 3000}'>"
    assert texts(head) == ["t" * 2000, "d" * 2000]


def test_only_the_first_title_and_a_description_with_words_are_blocks() -> None:
    markup = "<title>One</title><title>Two</title><meta name=description content=' -- '>"
    assert texts(markup) == ["One"]
    assert texts("<title> </title><meta name=keywords content=lamp>") == []


def test_texts_of_images_come_after_their_run_and_not_from_hidden_ones() -> None:
    assert texts("<p>one <img alt=A> two <img alt='*'><p>three") == ["one two", "A", "three"]
    assert texts("<p>one<div hidden><img alt=A>x</div><p>two") == ["one", "two"]
    assert texts("<div hidden>a<img alt=A></div><p><img alt=B>") == ["B"]


def test_hidden_elements_are_neither_in_the_blocks_nor_in_the_tree() -> None:
    markup = "<p>a</p><div hidden>x<p>y<b>z</b></p><br><img alt=w></div>b <span hidden>c</span>d"
    assert texts(markup) == ["a", "b d"]
    assert [node.text for node in elements(markup, "#text")] == ["a", "b", "d"]
    assert [len(elements(markup, tag)) for tag in ("p", "b", "br", "img")] == [1, 0, 0, 0]


def test_paths_number_siblings_and_the_runs_of_one_element() -> None:
    markup = "<body>one<p>two</p>three<p>four</p><hr>five"
    assert [(block.text, block.path) for block in walk(markup).blocks] == [
        ("one", "/html/body"),
        ("two", "/html/body/p[1]"),
        ("three", "/html/body/text()[2]"),
        ("four", "/html/body/p[2]"),
        ("five", "/html/body/text()[3]"),
    ]
    assert [node.path for node in elements(markup, "#text")] == [
        block.path for block in walk(markup).blocks
    ]


def test_custom_element_is_a_box_but_not_inside_a_paragraph_or_heading() -> None:
    assert texts("<div>a <x-y>b</x-y> c</div>") == ["a", "b", "c"]
    for tag in ("p", "h1", "h6"):
        assert texts(f"<{tag}>a <x-y>b</x-y> c</{tag}>") == ["a b c"]


def test_element_nested_too_deeply_has_a_short_path_of_its_own() -> None:
    deep = "<div>" * 300
    found = walk(f"{deep}<p>one</p><p>two</p>{'</div>' * 300}<p>three").blocks
    paths = [block.path for block in found]
    assert [block.text for block in found] == ["one", "two", "three"]
    assert len(set(paths)) == 3
    assert all(len(path) < 1100 for path in paths)
    assert len(paths[0]) > 900, "a path is traced as far as it goes"
    assert "/*[" in paths[0]
    assert "-" not in paths[0]
    assert paths[2] == "/html/body/p[1]"


def test_tags_open_and_close_in_order() -> None:
    markup = "<title>t</title><p>a<br>b<i>c</i><img><p><b></b><div hidden>x</div><hr><x-y>z</x-y>"
    tags = walk(markup).tags
    opened: list[int] = []
    for tag in tags:
        if tag > 0:
            opened.append(tag)
        else:
            assert opened.pop() == -tag
    assert opened == []
    assert max(accumulate(1 if tag > 0 else -1 for tag in tags)) == 3  # body, p, i
    assert len(tags) == 2 * 12


def test_as_many_elements_as_are_read_have_an_end() -> None:
    found = walk("<body>" + "<i></i>" * 300_000 + "<p>not read")
    assert found.blocks == []
    assert len(found.tags) == 2 * 300_000
    found = walk("<body>" + "<i></i>" * 299_997 + "<p>read")
    assert [block.text for block in found.blocks] == ["read"]
