"""Marks that are not part of a sentence: heading anchors (`#`, `¶`) and footnote marks (`[1]`)."""

from __future__ import annotations

import re

from diptych.page.dom import AnyNode
from diptych.page.elements import TEXT

MAX_MARK = 8  # characters of a mark with its brackets
_MAX_NODES = 40  # nodes in a superscript that may be a mark

_WORD = re.compile(r"\w")
_NUMBER = re.compile(
    r"[\[(]?\s*(?:\d{1,3}|[a-z]|[ivx]{1,5}|note \d{1,3})\s*[\])]?(?:\s*,)?", re.IGNORECASE
)
_BRACKETED = re.compile(r"\[\s*(?:\d{1,3}|[a-z]|[ivx]{1,5}|note \d{1,3})\s*\]", re.IGNORECASE)
_CLASSES = re.compile(
    r"(?:^|[\s_-])(?:footnote|fn|noteref|headerlink|(?:header|heading)-anchor|anchor-link|hash-link"
    r"|anchorjs-link)(?:$|[\s_-])|footnote-?(?:ref|anchor)",
    re.IGNORECASE,
)
_SYLLABLE = re.compile(r"[^\W\d_]{2}")


def is_mark(link: AnyNode) -> bool:
    """True if a link is a heading anchor or a footnote mark, judged by its first text."""
    inner = link.first_child
    if inner is None:
        return False
    first = (inner.text_content or "") if inner.tag_id == TEXT else ""
    return len(first) <= MAX_MARK and not first.isalpha() and is_mark_link(link, link.text())


def is_mark_link(link: AnyNode, text: str) -> bool:
    """True if a link with this short text is a heading anchor or a footnote mark.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> def link(markup): return LexborHTMLParser(markup).css_first("a")
    >>> is_mark_link(link("<a href='#top'>¶</a>"), "¶")
    True
    >>> is_mark_link(link("<a href='#part-2'>2</a>"), "2")
    False
    """
    if len(text) > MAX_MARK:
        return False
    own = link.attributes
    return is_mark_text(text, own.get("href") or "", own.get("class") or "", own.get("role") or "")


def is_mark_text(text: str, href: str, classes: str, role: str) -> bool:
    """The same as `is_mark_link`, for a text of at most `MAX_MARK` characters.

    >>> is_mark_text("2", "#fn2", "footnote", ""), is_mark_text("Top", "#top", "", "")
    (True, False)
    """
    if "#" not in href:
        return False
    if not _WORD.search(text):
        return len(href) > 1  # a lone "#" is a button that a script reads
    if _BRACKETED.fullmatch(text.strip()):
        return True
    if _SYLLABLE.search(text) and not _NUMBER.fullmatch(text.strip()):
        return False  # some generators make the whole heading its own anchor
    return bool(_CLASSES.search(classes)) or role == "doc-noteref"


def is_superscript_mark(node: AnyNode) -> bool:
    """True if a superscript is a footnote mark: a number that links to a place on a page.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> def superscript(markup): return LexborHTMLParser(markup).css_first("sup")
    >>> is_superscript_mark(superscript("<sup><a href='#fn1'>1</a></sup>"))
    True
    >>> is_superscript_mark(superscript("m<sup>2</sup>"))
    False
    """
    inner = _short_content(node)
    if inner is None:
        return False
    words = "".join(each.text_content or "" for each in inner).split()
    if not words or not all(map(_is_mark, words)):
        return False
    links = [
        each for each in inner if each.tag == "a" and "#" in (each.attributes.get("href") or "")
    ]
    above = node.parent
    if not links and above is not None and above.tag == "a":
        return "#" in (above.attributes.get("href") or "") and _is_alone(node)
    return any(link.text() for link in links)


def _short_content(node: AnyNode) -> list[AnyNode] | None:
    """The nodes in an element, in document order; None if it has more than a mark may have."""
    found: list[AnyNode] = []
    waiting = [node.first_child]
    left = 4 * MAX_MARK
    while waiting:
        at = waiting.pop()
        if at is None:
            continue
        found.append(at)
        left -= len(at.text_content or "")
        if left < 0 or len(found) > _MAX_NODES:
            return None
        waiting += [at.next, at.first_child]
    return found


def _is_alone(node: AnyNode) -> bool:
    """True if the siblings of an element have no text; the nearest one with a text decides."""
    for side in ("prev", "next"):
        other: AnyNode | None = getattr(node, side)
        while other is not None:
            if other.text().strip():
                return False
            other = getattr(other, side)
    return True


def _is_mark(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None or not _WORD.search(text)
