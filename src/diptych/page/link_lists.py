"""Lists of links: menus, breadcrumbs and tag clouds that hold nothing but links and separators."""

from __future__ import annotations

from collections.abc import Iterator

from diptych.page.dom import AnyNode
from diptych.page.elements import KNOWN, TEXT, UNKNOWN

SEPARATORS = " \t\r\n\f\u00a0/|\\>»›«‹·•∙●▪–—→,;:+~*-"
_ARROWS = "/|>»›→"  # between two breadcrumbs, of which the last may be without a link
_BLOCK_LEVEL = (0, 3, 4, 6)  # role numbers in `page.elements`, of unknown elements too
_INLINE, _LINK, _CUSTOM, _SUPERSCRIPT = 1, 2, 4, 12
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6"})
MAX_NODES = 2_000  # bounds the work


def is_in_link_list(link: AnyNode) -> bool:
    """True if the block of a link consists of several links, with nothing but separators between.

    The last item may be without a link.  Links with the same target are one link that was cut, or a
    picture and its title.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> def link(markup): return LexborHTMLParser(markup).css_first("a")
    >>> is_in_link_list(link("<p><a href=1>Home</a> / <span><a href=2>News</a></span> / Today"))
    True
    >>> is_in_link_list(link("<p><a href=1>Home</a> and <a href=2>News</a>"))
    False
    """
    targets: set[str] = set()
    is_after_arrow = has_end = False
    for node in _inline_nodes(_first_of_block(link)):
        if node is None:
            return False
        if node.tag_id != TEXT:
            if has_end:
                return False
            target = node.attributes.get("href")
            if not target or target in targets:
                return False
            targets.add(target)
            is_after_arrow = False
            continue
        text = node.text_content or ""
        rest = text.strip(SEPARATORS)
        if not rest:
            is_after_arrow |= any(sign in text for sign in _ARROWS)
        elif not (has_end or (targets and (is_after_arrow or _is_after_arrow(text, rest)))):
            return False
        else:
            has_end = True
    return len(targets) > 1


def follows_link(link: AnyNode) -> bool:
    """True if another link is just before a link; with the same target, it is one that was cut."""
    before = link.prev
    if before is None or before.tag_id != link.tag_id:
        return False
    return before.attributes.get("href") != link.attributes.get("href")


def _first_of_block(node: AnyNode) -> AnyNode:
    """The first node in the block-level element around a node; see `Walk._custom`."""
    above, custom = node.parent, None
    while above is not None:
        role = KNOWN.get(above.tag_id, UNKNOWN)[0]
        if role in _BLOCK_LEVEL and role != _CUSTOM:
            break
        if role == _CUSTOM and custom is None and "-" in (above.tag or ""):
            custom = above
        above = above.parent
    if custom is not None and (above is None or above.tag not in _PARAGRAPHS):
        above = custom
    first = above.first_child if above is not None else None
    return node if first is None else first


def _is_after_arrow(text: str, rest: str) -> bool:
    """True if a separator with a blank is before the rest of a text: not in `he/she`."""
    lead = text[: text.index(rest)]
    return lead[-1:].isspace() and any(sign in lead for sign in _ARROWS)


def _inline_nodes(first: AnyNode) -> Iterator[AnyNode | None]:
    """Yield the texts and links from a node on, and None in place of anything block-level."""
    waiting: list[AnyNode | None] = [first]
    for _ in range(MAX_NODES):
        node = waiting.pop()
        if node is not None:
            waiting.append(node.next)
            tag_id = node.tag_id
            role = KNOWN.get(tag_id, UNKNOWN)[0]
            if tag_id == TEXT or role == _LINK:
                yield node
            elif role in _BLOCK_LEVEL:
                yield None
            elif role in (_INLINE, _SUPERSCRIPT):
                waiting.append(node.first_child)
        if not waiting:
            return
    yield None
