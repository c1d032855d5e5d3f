"""Nodes by their addresses are the nodes that selectolax gives."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.page import dom
from diptych.page.dom import DomNode, parser_functions

MARKUP = (
    "<title>T</title><p class='a b' hidden id=x>One <b>two</b><!-- no --><x-y z>three</x-y>"
    "<svg><use href='/a' xlink:href='/b'></use></svg><a href='é'></a>"
    "<a href=''>x</a><a href>y</a>中文"
)


def nodes(root: LexborNode) -> list[LexborNode]:
    found, at = [root], root.first_child
    while at is not None:
        found += nodes(at)
        at = at.next
    return found


def test_all_properties_are_the_same() -> None:
    parser = LexborHTMLParser(MARKUP)
    assert parser.root is not None
    for node in nodes(parser.root):
        own = DomNode(node.mem_id)
        for name in ("tag_id", "tag", "text_content", "attributes"):
            assert getattr(own, name) == getattr(node, name), name
        for name in ("parent", "prev", "next", "first_child", "last_child"):
            one, other = getattr(own, name), getattr(node, name)
            assert (one and one.mem_id) == (other and other.mem_id), name
        assert own.text() == node.text()


def test_functions_that_are_missing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parser_functions() is not None
    monkeypatch.setattr(dom, "FUNCTIONS", ("lxb_no_such_function",))
    assert parser_functions.__wrapped__() is None
    monkeypatch.setattr(dom, "parser_functions", lambda: None)
    with pytest.raises(LookupError):
        dom._function.__wrapped__("lxb_dom_node_next_noi")
