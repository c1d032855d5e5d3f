"""The walk over a page for its sketch and its stored content, in C where that is possible."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from diptych.kernels import native
from diptych.kernels.dom_walk import (
    CHARACTERS,
    FUNCTIONS,
    SKIPPED,
    TAGS,
    Class,
    Hidden,
    Limits,
    Question,
    Walked,
    Walker,
)
from diptych.page import blocks, gaps
from diptych.page.blocks import Walk
from diptych.page.content import pack_walked
from diptych.page.dom import AnyNode, DomNode, parser_functions
from diptych.page.elements import (
    APART,
    INVISIBLE,
    KNOWN,
    UNKNOWN,
    UNPRINTABLE,
    hidden_nodes,
    shown_text,
)
from diptych.page.elements import SKIPPED as _SKIPPED
from diptych.page.link_lists import MAX_NODES, SEPARATORS
from diptych.page.note_marks import MAX_MARK, is_mark_text, is_superscript_mark
from diptych.page.sketch import MAX_TAGS, spell_tags
from diptych.text.urls import resolver

HiddenNodes = Sequence[tuple[AnyNode, int]]
"""elements that are not part of the visible text, each with the reason (`page.elements`)"""
_MAX_SPACE = 0x3001  # no character after it is white space


class PageContent(NamedTuple):
    """The texts and tags of a page, and a function that packs its content."""

    tags: str
    """as in a sketch"""
    texts: Sequence[str]
    """texts of the blocks"""
    pack: Callable[[], bytes]
    """returns the blocks and the tree as bytes to store, which may be empty"""


def page_content(parser: LexborHTMLParser, base: str, hidden: HiddenNodes | None) -> PageContent:
    """Walk over a page; `base` is the URL that its links are relative to.

    `hidden` are the elements that are not part of the visible text, if they are known.
    """
    walker = _walker()
    found = _walked(walker, parser, hidden) if walker is not None else None
    if found is None:
        return walked_content(Walk(parser, base))
    return PageContent(found.tags, found.texts, partial(_packed, found, base))


def walked_content(walk: Walk) -> PageContent:
    """The content of a page that was walked over in Python."""
    texts = [block.text for block in walk.blocks]
    return PageContent(spell_tags(walk.tags), texts, lambda: walk.content)


def _walked(
    walker: Walker, parser: LexborHTMLParser, hidden: HiddenNodes | None = None
) -> Walked | None:
    root = parser.root
    if root is None:
        return None
    nodes = hidden_nodes(parser) if hidden is None else hidden
    return walker.walk(root.mem_id, _hidden(nodes), _decide)


def _hidden(found: HiddenNodes) -> list[Hidden]:
    reasons = {node.mem_id: reason for node, reason in found}
    hidden = []
    for node, reason in found:
        text = shown_text(node, reasons) if reason == APART else ""
        is_apart = text.strip() and len(text) <= blocks.MAX_ATTRIBUTE
        hidden.append(Hidden(node.mem_id, reason, text if is_apart else ""))
    return hidden


def _decide(question: Question, address: int, before: str) -> bool:
    if question is Question.MARK:
        first, *parts = before.split("\0")
        return not first.isalpha() and is_mark_text(*parts[:4])
    node = DomNode(address)
    if question is Question.GAP:
        return gaps.is_gap(before, node.text_content or "", node)
    return is_superscript_mark(node)


def _packed(found: Walked, base: str) -> bytes:
    to_url, strings = resolver(base), found.strings
    for number, href in found.hrefs.items():
        strings[number] = to_url(href) or ""
    return pack_walked(found)


@cache
def function_addresses() -> dict[str, int] | None:
    """The addresses of the parser's functions; None if they or the kernels are missing."""
    functions = parser_functions()
    if functions is None or native() is None:
        return None
    return {name: ctypes.cast(functions[name], ctypes.c_void_p).value or 0 for name in FUNCTIONS}


@cache
def _walker() -> Walker | None:
    """The walker for all pages; None if the kernels or functions of the parser are missing."""
    addresses = function_addresses()
    if addresses is None:
        return None
    known = [KNOWN.get(tag, UNKNOWN) for tag in range(TAGS)]
    roles = [SKIPPED if each is _SKIPPED else each[0] for each in known]
    names = (ctypes.c_char_p * TAGS)(*(name.encode() or None for _, name in known))
    limits = Limits(
        blocks.MAX_PATH, blocks.MAX_ELEMENTS, blocks.MAX_BLOCKS, blocks.MAX_ATTRIBUTE, MAX_MARK,
        MAX_TAGS, MAX_NODES,
    )  # fmt: skip
    head = next(tag for tag, (_, name) in enumerate(known) if name == "head")
    return Walker(addresses, character_classes(), np.array(roles, np.uint8), names, head, limits)


@cache
def character_classes() -> NDArray[np.uint8]:
    """The classes of all characters."""
    characters = np.arange(CHARACTERS, dtype=np.uint32).view("<U1")
    classes = np.char.isalnum(characters) * np.uint8(Class.WORD | Class.MAY_END | Class.MAY_BEGIN)
    _add(classes, Class.WORD, "_")
    _add(classes, Class.MAY_END, gaps.MAY_END)
    _add(classes, Class.MAY_BEGIN, gaps.MAY_BEGIN)
    _add(classes, Class.SPACE, (c for c in map(chr, range(_MAX_SPACE)) if c.isspace()))
    _add(classes, Class.INVISIBLE, INVISIBLE)
    _add(classes, Class.UNPRINTABLE, UNPRINTABLE.findall("".join(map(chr, range(1 << 16)))))
    _add(classes, Class.SEPARATOR, SEPARATORS)
    _add(classes, Class.STOP, blocks.PUNCTUATION)
    return classes


def _add(classes: NDArray[np.uint8], own: Class, characters: Iterable[str]) -> None:
    classes[[ord(character) for character in characters]] |= np.uint8(own)
