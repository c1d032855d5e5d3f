from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from support.timing import processor_seconds

from diptych.page import nesting
from diptych.page.nesting import MAX_ATTRIBUTES, MAX_DEPTH, bounded_markup


def depth(markup: str) -> int:
    deepest, here = 0, 0
    node = LexborHTMLParser(markup).root
    while node is not None:
        inner = node.first_child
        if inner is not None:
            node, here = inner, here + 1
            deepest = max(deepest, here)
            continue
        while node is not None and node.next is None:
            node, here = node.parent, here - 1
        node = node.next if node is not None else None
    return deepest


@pytest.mark.parametrize(
    "markup",
    [
        "<p>One<p>Two",
        "<li>item <p>text" * 6_000,
        "<div><p>text</p></div>" * 6_000,
        "<div><span>unclosed</div>" * 6_000,
        "<table><tr><td><font>text</table>" * 90 + "<p>text</p>" * 6_000,
        "<p>" + "<a href=x>link</a> " * 6_000,
    ],
)
def test_shallow_markup_is_unchanged(markup: str) -> None:
    assert bounded_markup(markup) == markup


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<DIV class=x>",
        "<span><div></span></div>",
        "<i><div></i>",
        "<div><!-- </div> -->",
        '<div title="</div>">',
        "<div><script></div></script>",
        "<div><table><td></div></table>",
        "<ul><li>",
        "<section></div>",
    ],
)
def test_deeply_nested_markup_is_flattened(unit: str) -> None:
    markup = unit * 8_000
    flat = bounded_markup(markup + "<p>text")
    assert depth(markup) > 2 * MAX_DEPTH
    assert depth(flat) < 2 * MAX_DEPTH + 10
    assert "text" in (LexborHTMLParser(flat).text() or "")


def test_paragraphs_and_links_survive_the_flattening() -> None:
    markup = "<div>" * 8_000 + "<p>one <a href=x>two</a></p></div><div>three"
    parser = LexborHTMLParser(bounded_markup(markup))
    assert [node.text() for node in parser.css("a[href=x]")] == ["two"]
    assert len(parser.css("br")) > 2


def test_unclosed_formatting_does_not_multiply() -> None:
    formatting = "".join(f"<font id={i}>" for i in range(800))
    flat = bounded_markup(f"<div>{formatting}</div>" + "<p>text</p>" * 800)
    assert len(LexborHTMLParser(flat).css("font")) < 10_000


def test_surplus_attributes_are_dropped_and_the_text_is_kept() -> None:
    crowd = " ".join(f"a{number}=b" for number in range(6_000))
    flat = bounded_markup(f"<p>a</p><p {crowd}>text</p>")
    second = LexborHTMLParser(flat).css("p")[1]
    assert second.text() == "text"
    assert len(second.attributes) <= MAX_ATTRIBUTES


def test_long_text_is_not_taken_for_a_tag() -> None:
    text = "word " * 50_000
    assert bounded_markup(text) == text
    assert bounded_markup(f"<p>{text}</p>") == f"<p>{text}</p>"


@pytest.mark.parametrize("start", ["<script ", "<!-- ", "<title>", "<div><style "])
def test_unclosed_elements_are_searched_once(start: str) -> None:
    with processor_seconds():  # a minute and a half if it is done at every start
        bounded_markup(start * 30_000)


@given(st.text("<>/= !-'\"divspantable", max_size=200))
def test_any_text_can_be_scanned(text: str) -> None:
    bounded_markup(text * 300)


@pytest.mark.parametrize(("size", "is_long"), [(9_999, False), (10_000, False), (10_001, True)])
def test_only_a_long_tag_is_searched_for_attributes(size: int, is_long: bool) -> None:
    tag = "<p " + "a " * size
    assert nesting._has_long_tag("text" * 20_000 + tag[: size + 1]) == is_long
    assert not nesting._has_long_tag("text" * 20_000 + "< " + tag[3 : size + 3])
