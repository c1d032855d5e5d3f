"""The walk in C gives what the walk in Python gives, on ordinary, odd and hostile pages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

import diptych
from diptych.kernels.dom_walk import CHARACTERS, Class
from diptych.page import blocks, elements, fast_walk, gaps
from diptych.page.blocks import Walk
from diptych.page.content import unpack
from diptych.page.fast_walk import page_content, walked_content

BASE = "http://a.org/b/c.html?d"
PIECES = (
    "<a href=''>_</a>",
    "<a href=''>_<a>#",
    "<a href>_</a><a href=''>2</a>",
    "<p>", "</p>", "<div>", "</div>", "<ul><li>", "</ul>", "<h2>", "</h2>", "<table><tr><td>",
    "</table>", "<button>", "<pre>", "</pre>", "<b>", "</b>", "<i>", "</i>", "<span>", "</span>",
    "<code>", "</code>", "<span class=badge>", "<small>", "</small>", "<time>", "</time>",
    "<a href=x>", "<a href='/y?z'>", "<a href='#top'>", "<a href='#n' class=footnote>", "<a>",
    "<a href='http://b.net/'>", "</a>", "<sup>", "</sup>", "<sub>", "<br>", "<br><br>", "<hr>",
    "<img alt='A picture'>", "<img alt='--'>", "<img>", "<area alt=Map href=m>",
    "<area href='#'>", "<input type=submit value=Send>", "<input type=IMAGE alt='Go on'>",
    "<input value=a>", "<map>", "</map>", "<title>A title</title>",
    "<meta name=Description content=' Said. '>", "<meta name=description content='...'>", "<x-y>",
    "</x-y>", "<xy>", "</xy>", "<p hidden>", "<div style='display:none'>", "<span hidden>",
    "<span class=sr-only>", "<a class=sr-only href=s>", "<span aria-hidden=true>",
    "<svg><title>T</title>", "</svg>", "<script>var a</script>", "<!-- c -->",
    "<noscript>No</noscript>", "<template>x</template>", "<select><option>", "</select>",
    "<textarea>", "</textarea>", "<iframe src=f></iframe>", "<math>", "</math>", "<label>",
    "<frameset>", "<ruby>", "word", "Word", "two words", " ", "\n\t ", "12", "0", ".", ",", ")",
    "(", "[1]", "¶", "#", " / ", "|", "»", "•", "…", "\u00a0", "\u00ad", "\u200b", "\u2028",
    "&#1;", "&#0;", "&#xD800;", "\u0085", "élan", "Größe", "中文", "のは", "ไทย", "😀", "𝒳",
    "\U0003ffff", "_", "x" * 50,
)  # fmt: skip
MARKUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
SITE = sorted((Path(diptych.__file__).parent / "demo" / "site").rglob("*.html"))


def is_same(markup: str) -> bool:
    """Compare both walks; True if the page was not left to the reference."""
    parser = LexborHTMLParser(markup)
    wanted = walked_content(Walk(parser, BASE))
    found = page_content(parser, BASE, None)
    assert found.texts == wanted.texts
    assert found.tags == wanted.tags
    assert unpack(found.pack()) == unpack(wanted.pack())
    walker = fast_walk._walker()
    return walker is not None and fast_walk._walked(walker, parser) is not None


@pytest.mark.parametrize("path", SITE, ids=lambda path: path.name)
def test_pages_of_the_demo_site(path: Path) -> None:
    assert is_same(path.read_text("utf-8", "replace"))


@pytest.mark.parametrize("piece", PIECES)
def test_each_piece_in_and_between_texts(piece: str) -> None:
    is_same(piece)
    is_same(f"<p>one {piece} two<p>{piece}")
    is_same(f"<p>One{piece}Two{piece}.</p><h1><a href='#a'>{piece}</a>Three</h1>")
    is_same(f"<div><a href=1>One</a>{piece}<a href=2>Two</a>{piece}<a href=3>Three</a></div>")


@given(MARKUP)
def test_any_markup(markup: str) -> None:
    is_same(markup)
    is_same(f"<body><p>text{markup}")


@pytest.mark.parametrize(
    "markup",
    [
        "<p>a<br>b</p><p>c<br>d</p>",
        "<p>a<br> <br>b<br>c</p>d<br>",
        "<p><a href='#n' class=footnote><b>1</b></a> text <a href='#n' class=footnote>1</a></p>",
        "<h2><a href='#n' class=footnote><b>1</b></a> text</h2>",
        "<p>a <a href='#n' role=doc-noteref>1</a> b <a href='#n' role=note>1</a> c</p>",
        "<p>a <a href='#n' class=fn>i<b>.</b></a> b <a href='#n' class=fn><!-- -->i</a> c</p>",
        "<p>a <a href='#n' class=fn>1<b>, 2, 3, 4</b></a> b <a href='#' class=fn>*</a> c</p>",
        "<h2>a <a href='#n'><b>#</b></a> b <a href='#n'><b>Permalink</b></a> c</h2>",
        "<p><a href=1></a><a href=2></a><a href=3>x</a><a href=4>y</a></p>",
        "<p><a href=1><img></a><a href=2><img></a> <a href=3>x</a></p>",
        "<p><a href=1>a</a> and <a href=2>b</a><br><br><a href=3>c</a> | <a href=4>d</a></p>",
        "<div><a href=1>a</a> | <a href=2>b</a><p>c</p><a href=3>d</a> | <a href=4>e</a></div>",
        "<p>a <sup><a href='#n'>1</a></sup>. b <a href='#n'><sup>[2]</sup></a>, c",
    ],
)
def test_runs_links_and_marks(markup: str) -> None:
    assert is_same(markup)


def test_no_real_markup_is_left_to_the_reference() -> None:
    menu = "<ul><li><a href=1>One</a> | <a href=2>Two</a></ul>"
    notes = "<p>See<sup><a href='#n1'>1</a></sup>. <a href='#n2'>[2]</a>, <span hidden>no</span>"
    assert is_same(f"<html><head><title>T</title></head><body>{menu}{notes}")
    assert is_same("")


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 300 + "deep",
        "<i>" * 60 + "<div>" * 120 + "deep</div>" * 3 + "text",
        f"<x-{'y' * 80}>long name",
        "<x-é>name",
        "".join(f"<x{number}>a</x{number}>" for number in range(400)),
        "<p><span hidden><a href=1>a</a></span>text<a href=2>b</a>",
        "<div><a href=1 hidden>One</a> / <a href=2>Two</a></div>",
    ],
)
def test_unusual_pages(markup: str) -> None:
    is_same(markup)


def test_a_page_with_too_many_elements_is_left_to_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "MAX_ELEMENTS", 30)
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 10)
    fast_walk._walker.cache_clear()
    try:
        assert not is_same("<b>a</b>" * 40)
        assert not is_same("<p>a</p>" * 12)
        assert is_same("<p>a</p>" * 10)
    finally:
        fast_walk._walker.cache_clear()


def test_without_the_kernel_pages_are_read_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    markup = "<title>T</title><p>One <a href=x>two</a>"
    parser = LexborHTMLParser(markup)
    wanted = page_content(parser, BASE, None)
    monkeypatch.setattr(fast_walk, "_walker", lambda: None)
    found = page_content(parser, BASE, None)
    assert found[:2] == wanted[:2]
    assert unpack(found.pack()) == unpack(wanted.pack())


def test_an_error_in_a_decision_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> bool:
        raise RuntimeError("no decision")

    monkeypatch.setattr(gaps, "is_gap", fails)
    markup = "<p>one<b>two"
    with pytest.raises(RuntimeError, match="no decision"):
        page_content(LexborHTMLParser(markup), BASE, None)


def test_classes_of_characters_are_those_of_python() -> None:
    classes = fast_walk.character_classes()
    for point in range(0xD800):
        assert bool(classes[point] & Class.WORD) == (chr(point).isalnum() or point == ord("_"))
        assert bool(classes[point] & Class.SPACE) == chr(point).isspace()
        assert bool(classes[point] & Class.UNPRINTABLE) == bool(
            elements.UNPRINTABLE.match(chr(point))
        )
    assert not any(map(str.isalnum, map(chr, range(CHARACTERS, sys.maxunicode + 1))))
    assert not any(map(str.isspace, map(chr, range(0x3001, sys.maxunicode + 1))))
