"""The blocks of a piece of markup, read with and without the tree."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from diptych.page.blocks import Walk

HERE = "http://example.org/docs/page.html"


def walk(markup: str, *, with_tree: bool = True) -> Walk:
    return Walk(LexborHTMLParser(markup), HERE, markup, with_tree=with_tree)


def block_texts(markup: str) -> list[str]:
    """The texts of the blocks, which do not depend on whether the tree is built."""
    blocks = walk(markup).blocks
    assert blocks == walk(markup, with_tree=False).blocks
    return [block.text for block in blocks]
