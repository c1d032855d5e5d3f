"""The pass over a page in C that finds its texts, links, images, meta and hidden elements."""

from __future__ import annotations

from functools import cache

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from diptych.kernels.dom_scan import Role, ScanLimits, Scanned, Scanner
from diptych.kernels.dom_walk import TAGS
from diptych.page import flags, links
from diptych.page.dom import DomNode
from diptych.page.elements import CODE, UNREAD, hiding
from diptych.page.fast_walk import character_classes, function_addresses

_ROLES = {
    Role.UNREAD: UNREAD, Role.CODE: CODE, Role.MAIN: ("main",), Role.ARTICLE: ("article",),
    Role.DIALOG: ("dialog",), Role.ANCHOR: ("a",), Role.AREA: ("area",),
    Role.FRAME: ("frame", "iframe"), Role.LINK: ("link",), Role.META: ("meta",),
    Role.BASE: ("base",), Role.IMAGE: ("img",), Role.ITEM: ("li",), Role.SPAN: ("span",),
    Role.PAGE: ("html", "body"), Role.TITLE: ("title",),
}  # fmt: skip


def scan_page(parser: LexborHTMLParser) -> Scanned | None:
    """Scan a page; None if it is unusual, or if the kernels are missing.

    >>> scanned = scan_page(LexborHTMLParser("<base href=/b/><p>Read <a href=c>it</a>."))
    >>> (scanned.texts, scanned.base) if scanned else (["Read", "it", "."], "/b/")
    (['Read', 'it', '.'], '/b/')
    """
    scanner, root, head, body = _scanner(), parser.root, parser.head, parser.body
    if scanner is None or root is None:
        return None
    reads = links.readable_links(parser.raw_html.count(b"<"))
    limits = ScanLimits(
        links.MAX_LINKS, reads, links.MAX_CONTEXT, links.AROUND, flags.MAX_VALUE
    )  # fmt: skip
    return scanner.scan(
        root.mem_id, head.mem_id if head is not None else 0,
        body.mem_id if body is not None else 0, limits,
    )  # fmt: skip


def hidden_in(scanned: Scanned) -> list[tuple[DomNode, int]]:
    """The elements that are not part of the visible text, as `elements.hidden_nodes` finds them."""
    found = []
    for each in scanned.hidden:
        node = DomNode(each.address)
        unspoken = node if each.has_aria else None
        reason = 0 if each.is_page else hiding(each.hidden, each.style, each.name, unspoken)
        if reason:
            found.append((node, reason))
    return found


@cache
def _scanner() -> Scanner | None:
    """The scanner for all pages; None if the kernels or functions of the parser are missing."""
    addresses = function_addresses()
    if addresses is None:
        return None
    parser = LexborHTMLParser("")
    roles = np.zeros(TAGS, np.uint8)
    for role, names in _ROLES.items():
        roles[[parser.create_node(name).tag_id for name in names]] = role
    return Scanner(addresses, character_classes(), roles)
