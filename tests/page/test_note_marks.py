"""Heading anchors and footnote marks are not part of the text."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.blocks import block_texts, walk
from support.timing import processor_seconds

from diptych.page.note_marks import is_superscript_mark


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>Title<a class=headerlink href='#title'>¶</a></h2>", "Title"),
        ("<h2>Title <a href='#title'>#</a></h2>", "Title"),
        ("<h2><a href='#title'>§</a> Title</h2>", "Title"),
        ("<h2>Title <a href='#title'>🔗</a></h2>", "Title"),
        ("<h3>Überschrift<a href='page.html#x'><span>#</span></a></h3>", "Überschrift"),
        ("<h2>标题<a href='#t'>¶</a></h2>", "标题"),
        ("<p>A claim.<sup><a href='#fn1'>1</a></sup> Another.</p>", "A claim. Another."),
        ("<p>A claim<a href='#fn1'><sup>1</sup></a>, and</p>", "A claim, and"),
        ("<p>A claim <a href='#fn1'><sup>1</sup></a>, and</p>", "A claim, and"),
        ("<p>A claim<sup>[<a href='#fn1'>12</a>]</sup>.</p>", "A claim."),
        ("<p>One<sup><a href='#a'>1</a>, <a href='#b'>2</a></sup>.</p>", "One."),
        ("<p>A claim [1] stays, <a href='#n1'>[2]</a> goes</p>", "A claim [1] stays, goes"),
        ("<p>A claim <a href='#n1'>[1]</a>, and</p>", "A claim, and"),
        ("<p>A claim<a class=footnote-ref href='#n1'>1</a>.</p>", "A claim."),
        ("<p>A claim<a role=doc-noteref href='#n1'>1</a>.</p>", "A claim."),
        ("<p>Утверждение<sup><a href='#n1'>*</a></sup> верно</p>", "Утверждение верно"),
        ("<p>A claim<a class=footnote-ref href='#n1'>¹</a>.</p>", "A claim."),
        ("<p>A claim<a href='#n1'><!-- --><sup>1</sup></a>.</p>", "A claim."),
        ("<li>A note. <a href='#ref1'>↩</a></li>", "A note."),
        # no marks
        ("<p>10 m<sup>2</sup></p>", "10 m2"),
        ("<p>x<sup><a href='other.html'>2</a></sup></p>", "x2"),
        ("<p>the 1<sup><a href='#x'>first of all</a></sup></p>", "the 1first of all"),
        ("<p>Go to <a href='#part-2'>2</a></p>", "Go to 2"),
        ("<p>Go to <a href='#top'>top</a></p>", "Go to top"),
        ("<p>See <a href='law.html'>§ 5</a></p>", "See § 5"),
        ("<h2>Title <a href='/news'>News</a></h2>", "Title News"),
        ("<p>more <a href='#'>»</a></p>", "more »"),
        ("<p>see <a href='#x'>note <sup>1</sup></a></p>", "see note 1"),
        ("<p>vote <a href='up.html'>+1</a></p>", "vote +1"),
        ("<p>see <a href='#x'><sup>1</sup> note</a></p>", "see 1 note"),
        ("<h2><a class=header-anchor href='#faq'><span>FAQ</span></a></h2>", "FAQ"),
        ("<h2><a class=header-anchor href='#s'>Step 1</a></h2>", "Step 1"),
    ],
)
def test_marks_are_not_part_of_the_text(markup: str, expected: str) -> None:
    assert block_texts(markup) == [expected]


def test_marks_are_not_in_the_tree() -> None:
    tree = walk("<h2>Title<a href='#t'>¶</a></h2>").tree
    assert tree is not None
    heading = tree.children[1].children[0]
    assert [(node.tag, node.text) for node in heading.children] == [("#text", "Title"), ("a", "")]
    assert heading.children[1].children == ()


@pytest.mark.parametrize("mark", ["<sup>1</sup>", "<sup> </sup>", "<sup><b></b></sup>"])
def test_many_marks_in_one_link_are_read_in_linear_time(mark: str) -> None:
    with processor_seconds():
        walk(f"<p><a href='#x'>{mark * 20_000}</a>")


def test_superscripts_with_many_elements_are_no_marks() -> None:
    def superscript(markup: str) -> LexborNode:
        found = LexborHTMLParser(markup).css_first("sup")
        assert found is not None
        return found

    link = "<a href='#n'>1</a>"
    assert is_superscript_mark(superscript(f"<sup>{link}{'<i></i>' * 9}</sup>"))
    assert not is_superscript_mark(superscript(f"<sup>{link}{'<i></i>' * 900}</sup>"))
    assert not is_superscript_mark(superscript(f"<sup>{link}{'1 ' * 900}</sup>"))
