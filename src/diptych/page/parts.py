"""The parts of a page that a record needs: texts, links, images, meta elements.

They are found in one pass in C (`fast_scan`).  Without it, and on unusual pages, they are found
with selectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.kernels.dom_scan import Kind, Scanned
from diptych.page.elements import CODE, UNREAD
from diptych.page.flags import Declared, declared_by, scanned_declared
from diptych.page.languages import Prose
from diptych.page.links import page_links, scanned_links
from diptych.types import Link

_MIN_PROSE = 200  # characters of prose that are enough to identify a page's language
_MAIN = {Kind.MAIN: "main", Kind.ROLE_MAIN: "[role=main]", Kind.ARTICLE: "article"}
# Often left untranslated, and longer than the text of a short page.
_DIALOGS = (
    "dialog,[role=dialog],[role=alertdialog],[aria-modal=true],[id*=cookie i],[class*=cookie i],"
    "[id*=consent i],[class*=consent i]"
)


class PageParts(NamedTuple):
    """The parts of a page, without its blocks and tree."""

    language: str = ""
    """language that a meta element declares"""
    text: str = ""
    """visible text, with one line per text node"""
    links: Sequence[Link] = ()
    declared: Declared = Declared()
    prose: Prose = Prose()
    images: Sequence[str] = ()
    """addresses of images outside of code"""


def scanned_parts(scanned: Scanned, base: str) -> PageParts:
    """The parts of a page that was scanned; `base` is the URL that its links are relative to."""
    text = "\n".join(scanned.texts)
    return PageParts(
        scanned.language.strip(),
        text,
        scanned_links(scanned, base),
        scanned_declared(scanned),
        _scanned_prose(scanned, text),
        [
            image.address
            for image in scanned.images
            if image.has_source and not image.is_code and image.address != "data:"
        ],
    )


def selected_parts(parser: LexborHTMLParser, base: str) -> PageParts:
    """The same as `scanned_parts`, found with selectors; the tree of the page is changed."""
    language = _meta_language(parser)
    parser.strip_tags(list(UNREAD))
    body = parser.body
    is_replaced = body is not None and body.parent is None  # by a frameset
    text = "" if is_replaced else _text_of(body)
    links, declared = page_links(parser, base), declared_by(parser)
    prose = _prose(parser, text)
    return PageParts(language, text, links, declared, prose, list(_images(parser)))


def _meta_language(parser: LexborHTMLParser) -> str:
    element = parser.css_first("meta[http-equiv=content-language i]")
    return (element.attributes.get("content") or "").strip() if element is not None else ""


def _images(parser: LexborHTMLParser) -> Iterator[str]:
    for image in parser.css("img[src]"):
        source = image.attributes.get("src") or ""
        if source and not source.startswith("data:"):
            yield source


def _text_of(node: LexborNode | None) -> str:
    return node.text(separator="\n", strip=True) if node is not None else ""


def _texts_of(parser: LexborHTMLParser, selector: str) -> Iterator[str]:
    """Yield the texts of the elements that match a selector."""
    for node in parser.css(selector):
        if node.tag not in ("html", "body"):  # some cookie plug-ins mark them
            yield _text_of(node)


def _bounded(texts: Iterable[str], size: int) -> Iterator[str]:
    """Yield texts up to about `size` characters, because elements may be nested."""
    for text in texts:
        yield text
        size -= len(text)
        if size < 0:
            return


def _prose(parser: LexborHTMLParser, text: str) -> Prose:
    """The texts for language identification, without code unless there is little other text."""
    if parser.css_first(",".join(CODE)) is not None:
        parser.strip_tags(list(CODE))
        text = _enough(_text_of(parser.body), text)
    main = (_texts_of(parser, selector) for selector in _MAIN.values())
    return _chosen(text, main, _texts_of(parser, _DIALOGS))


def _scanned_prose(scanned: Scanned, text: str) -> Prose:
    """The same as `_prose` for a page that was scanned."""
    texts = scanned.texts
    if scanned.has_code:
        is_prose = [not code for code in scanned.in_code]
        text = _enough("\n".join(compress(texts, is_prose)), text)

    def texts_of(kind: Kind) -> Iterator[str]:
        for each in scanned.ranges:
            if each.kind is kind and not each.is_code:
                own = texts[each.start : each.end]
                if scanned.has_code:
                    own = list(compress(own, is_prose[each.start : each.end]))
                yield "\n".join(own)

    return _chosen(text, map(texts_of, _MAIN), texts_of(Kind.DIALOG))


def _enough(prose: str, text: str) -> str:
    return prose if len(prose) >= _MIN_PROSE else text


def _chosen(text: str, main: Iterable[Iterable[str]], dialogs: Iterable[str]) -> Prose:
    """The texts for language identification, out of those of the main elements and dialogs."""
    parts = ("\n".join(_bounded(texts, len(text))) for texts in main)
    first = next((part for part in parts if len(part) >= _MIN_PROSE), "")
    said = {line for part in _bounded(dialogs, len(text)) for line in part.split("\n")}
    rest = "\n".join([line for line in text.split("\n") if line not in said]) if said else text
    return Prose(first, rest if len(rest) >= _MIN_PROSE else text, text)
