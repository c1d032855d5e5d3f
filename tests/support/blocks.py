"""The blocks of a piece of markup."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from diptych.page.blocks import Walk

HERE = "http://example.org/docs/page.html"


def walk(markup: str) -> Walk:
    return Walk(LexborHTMLParser(markup), HERE)


def block_texts(markup: str) -> list[str]:
    return [block.text for block in walk(markup).blocks]
