"""Parse an HTML page into title, text, links, blocks, languages, flags and sketch."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

from diptych.kernels.dom_scan import Scanned
from diptych.language.codes import wanted_language
from diptych.page.blocks import Walk
from diptych.page.body import decompress, is_html
from diptych.page.charset import decode
from diptych.page.content import Content
from diptych.page.elements import visible
from diptych.page.fast_scan import hidden_in, scan_page
from diptych.page.fast_walk import PageContent, page_content, walked_content
from diptych.page.flags import page_flags
from diptych.page.languages import page_languages
from diptych.page.links import header_links, meta_refresh
from diptych.page.nesting import bounded_markup
from diptych.page.parts import PageParts, scanned_parts, selected_parts
from diptych.page.scripts import SCRIPTED, is_made_by_scripts
from diptych.page.sketch import make_sketch
from diptych.text.digests import body_digest, signed_hash
from diptych.text.urls import resolve
from diptych.types import Link, Page, PageRecord, Response, Sketch, Url

_MAX_TITLE = 2_000  # characters
_MIN_TEXT = 40  # characters; shorter texts do not distinguish pages

_NOT_WALKED: tuple[Walk | None, PageContent | None] = (None, None)


def read_page(
    response: Response,
    *,
    body: bytes | None = None,
    depth: int = 0,
    langs: Sequence[str] = (),
    with_blocks: bool = False,
    with_tree: bool = False,
    with_sketch: bool = False,
) -> Page:
    """Parse a response as a page; if its body is not HTML, the page has no links and no blocks.

    `body` is the decompressed body, if the caller has it already.  `langs` are the requested
    languages, which are preferred if the text is ambiguous.  Blocks and tree are extracted only on
    request; a page with a sketch has them as bytes to store (`content`).
    """
    body = _decompressed(response) if body is None else body
    content_type = response.header("content-type")
    links: list[Link] = _from_headers(response)
    walk, content = _NOT_WALKED
    html_lang, title, parts, flags = "", "", PageParts(), tuple[str, ...]()
    if is_html(content_type, body[:4096]):
        markup = bounded_markup(decode(body, content_type)[0])
        parser = LexborHTMLParser(markup)
        scanned = scan_page(parser)
        base = _base(parser, response.url, scanned)
        walk = Walk(parser, base) if with_blocks or with_tree else None
        content = _content(walk, parser, base, scanned) if with_sketch else None
        html_lang, title = _html_lang(parser), _title(parser, scanned)
        parts = selected_parts(parser, base) if scanned is None else scanned_parts(scanned, base)
        links += parts.links
        flags = page_flags(parser, response.headers, response.url, links, parts.declared)
        flags += _scripted(markup, parts.text)
    content_language = response.header("content-language").strip() or parts.language
    scores = page_languages(parts.prose, html_lang or content_language, langs)
    sketch: Sketch | None = None
    if content is not None and (wanted := wanted_language(scores, langs)):
        sketch = make_sketch(parts.images, *content[:2], links, response.url, wanted, langs)
    record = PageRecord(
        url=response.url,
        lang=scores[0].lang if scores else "",
        langs=scores,
        title=title,
        depth=depth,
        size=len(response.body),
        text_length=len(parts.text),
        digest=body_digest(body),
        html_lang=html_lang,
        content_language=content_language,
        canonical=_canonical(links, response.url),
        fetched_at=response.fetched_at,
        flags=flags,
        text_key=_text_key(parts.text),
    )
    own = _requested(walk, with_blocks=with_blocks, with_tree=with_tree)
    return Page(record, tuple(links), *own, sketch, content.pack() if content and sketch else b"")


def _content(
    walk: Walk | None, parser: LexborHTMLParser, base: str, scanned: Scanned | None
) -> PageContent:
    if walk is not None:
        return walked_content(walk)
    return page_content(parser, base, None if scanned is None else hidden_in(scanned))


def _requested(walk: Walk | None, *, with_blocks: bool, with_tree: bool) -> Content:
    blocks = tuple(walk.blocks) if walk and (with_blocks or with_tree) else ()
    return blocks, walk.tree if walk and with_tree else None


def read_content(response: Response) -> Content:
    """The blocks and the tree of a page, which are all that an aligner needs."""
    body = _decompressed(response)
    content_type = response.header("content-type")
    if not is_html(content_type, body[:4096]):
        return (), None
    markup = bounded_markup(decode(body, content_type)[0])
    parser = LexborHTMLParser(markup)
    walk = Walk(parser, _base(parser, response.url))
    return tuple(walk.blocks), walk.tree


def _decompressed(response: Response) -> bytes:
    return decompress(response.body, response.header("content-encoding"))[0]


def _base(parser: LexborHTMLParser, url: Url, scanned: Scanned | None = None) -> str:
    """The URL that the links of a page are relative to."""
    if scanned is not None:
        href = scanned.base
    else:
        element = parser.css_first("base[href]")
        href = element.attributes["href"] if element is not None else None
    return (resolve(url, href) if href else None) or url


def _title(parser: LexborHTMLParser, scanned: Scanned | None) -> str:
    if scanned is not None:
        return visible(scanned.title[:_MAX_TITLE])
    element = parser.css_first("title")
    return visible(element.text()[:_MAX_TITLE]) if element is not None else ""


def _scripted(markup: str, text: str) -> tuple[str, ...]:
    """The flag `scripted` if scripts create the text of a page, otherwise no flag."""
    return (SCRIPTED,) if is_made_by_scripts(markup, text) else ()


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


def _text_key(text: str) -> int:
    """A hash of a page's text; 0 if the page has almost no text."""
    return signed_hash(text.encode("utf-8", "surrogatepass")) if len(text) >= _MIN_TEXT else 0
