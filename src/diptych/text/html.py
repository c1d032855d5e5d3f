"""A response read as a page: what it says, where it leads, and in which language."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

from diptych.text.blocks import Walk
from diptych.text.charset import decode
from diptych.text.content import decompress, is_html
from diptych.text.langid import identify
from diptych.text.links import header_links, meta_refresh
from diptych.text.nesting import bounded_markup
from diptych.text.urls import resolve
from diptych.types import Block, Link, Page, PageRecord, Response, Url

__all__ = ["language_sample", "read_page"]

_SAMPLE = 1_000  # characters: the time of identification grows with them
_SAMPLE_BLOCKS = 8  # places they come from, so that an untranslated paragraph does not decide
_LONG = 60  # characters of a block that is running text rather than a menu item


def read_page(
    response: Response, *, depth: int = 0, with_tree: bool = False, langs: Sequence[str] = ()
) -> Page:
    """Read what a server answered; a body that is no HTML gives a page without links and blocks.

    langs are the languages the user looks for: they are preferred where the text leaves it open.
    """
    body, _ = decompress(response.body, response.header("content-encoding"))
    content_type = response.header("content-type")
    links: list[Link] = _from_headers(response)
    blocks: list[Block] = []
    walk: Walk | None = None
    html_lang = ""
    if is_html(content_type, body[:4096]):
        markup = bounded_markup(decode(body, content_type)[0])
        parser = LexborHTMLParser(markup)
        walk = Walk(parser, response.url, markup, with_tree=with_tree)
        base = resolve(response.url, walk.base_href) if walk.base_href else None
        if base and base != response.url:
            walk = Walk(parser, base, markup, with_tree=with_tree)
        links += walk.links
        blocks = walk.blocks
        html_lang = _html_lang(parser)
    scores = identify(language_sample(blocks), langs, closed=False)
    record = PageRecord(
        url=response.url,
        lang=scores[0].lang if scores else "",
        langs=scores,
        title=walk.title if walk else "",
        depth=depth,
        size=len(response.body),
        text_length=sum([len(block.text) for block in blocks]),
        digest=_digest(body),
        html_lang=html_lang,
        content_language=response.header("content-language").strip()
        or (walk.content_language if walk else ""),
        canonical=_canonical(links, response.url),
        fetched_at=response.fetched_at,
    )
    return Page(record, tuple(links), tuple(blocks), walk.tree if walk else None)


def _from_headers(response: Response) -> list[Link]:
    links: list[Link] = []
    for name, value in response.headers:
        lowered = name.lower()
        if lowered == "link":
            links.extend(header_links(response.url, value))
        elif lowered == "refresh":
            link = meta_refresh(response.url, value)
            links.extend([link] if link else [])
    return links


def _html_lang(parser: LexborHTMLParser) -> str:
    own = parser.root.attributes if parser.root is not None else {}
    return (own.get("lang") or own.get("xml:lang") or "").strip()


def _canonical(links: Sequence[Link], url: Url) -> Url | None:
    canonical = next((link.url for link in links if link.rel == "canonical"), None)
    return None if canonical == url else canonical


def _digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def language_sample(blocks: Sequence[Block]) -> str:
    """Text enough to tell the language: from long blocks all over the page, menus only if need be.

    >>> language_sample([Block("Menu", "/p[1]"), Block("ab " * 30, "/p[2]")])[-4:]
    'Menu'
    """
    long = [block.text for block in blocks if len(block.text) >= _LONG]
    step = max(1, len(long) // _SAMPLE_BLOCKS)
    # From the middle on: pages begin and end with notices that are not always translated.
    chosen = long[step // 2 :: step]
    share = _SAMPLE // max(1, min(_SAMPLE_BLOCKS, len(chosen)))
    sample = [text[:share] for text in chosen[: _SAMPLE_BLOCKS + 1]]
    missing = _SAMPLE - sum(map(len, sample))
    for block in reversed(blocks):
        if missing <= _SAMPLE // 2:
            break
        if len(block.text) < _LONG:
            sample.append(block.text)
            missing -= len(block.text)
    return "\n".join(sample)
