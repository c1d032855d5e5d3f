"""The document tree of Shi et al. 2006: elements with their text, in postorder.

Only elements and texts are kept.  The alternative text of an image counts as the text of the image,
and each text belongs to the element that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.outline_nodes import IS_INLINE, IS_LINK, find_nodes
from diptych.page.content import BLOCK, CLOSE, LEAF, TEXT, Outline
from diptych.page.elements import KNOWN
from diptych.stages.align_dom.flat import last_tag
from diptych.text.urls import host_of
from diptych.types import Block, Node, Page

_INLINE_ROLE = 1  # role number in `page.elements`
_INLINE = frozenset(name for role, name in KNOWN.values() if role == _INLINE_ROLE)
_INLINE |= {"br", "sup"}
_LINKS = frozenset({"a", "area"})
_INLINE_OR_LINK = _INLINE | {"a"}
_ROLES = dict.fromkeys(_INLINE, IS_INLINE) | {"a": IS_INLINE | IS_LINK, "area": IS_LINK}
_SEGMENT = re.compile(r"[^/\[(]*")
_MAX_ANCHOR = 400  # maximum characters of a link's text


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A tree stored as columns in postorder: node k has `tags[k]`, `texts[k]` and so on."""

    tags: tuple[str, ...]
    texts: tuple[str, ...]
    hrefs: tuple[str, ...]
    blocks: tuple[int, ...]
    """for each node, the index of the page's block that it represents, or -1"""
    leftmost: NDArray[np.int32]
    """for each node, the first node of its subtree in postorder"""
    host: str = ""
    """host of the page"""

    def __len__(self) -> int:
        return len(self.tags)


def document(page: Page, *, with_links: bool = True) -> Document:
    """Build the document tree of a page; each block of the page is in exactly one node.

    Without links, those are left out that neither contain a block nor are in one.
    If a page was read without its tree, the tree is built from the paths of its blocks.
    """
    host = host_of(page.record.url)
    if isinstance(page.tree, Outline):
        # In stored content, the first string is empty; it stands for links without a target.
        is_usual = native() is not None and not page.tree.strings[0]
        build = _from_nodes if is_usual else outline_reference
        return build(page.blocks, page.tree, host, with_links=with_links)
    builder = _Builder(page.blocks, with_links=with_links)
    if page.tree is None:
        _from_paths(builder, page.blocks)
    else:
        _from_tree(builder, page.tree)
    return builder.build(host)


class _Builder:
    """Builds a document from nodes that are opened and closed in document order."""

    def __init__(self, blocks: Sequence[Block], *, with_links: bool) -> None:
        self.with_links = with_links
        self.texts = [block.text for block in blocks]
        self.paths = [block.path for block in blocks]
        self.index: dict[str, int] = {}
        self.repeated: list[int] = []
        for number, block in enumerate(blocks):
            if self.index.setdefault(block.path, number) != number:
                self.repeated.append(number)
        self.nodes: list[tuple[str, str, str, int, int]] = []
        self.open_nodes: list[_OpenNode] = []

    def claim(self, path: str) -> int:
        """Remove the block with this path from `index`, and return its number.

        Return -1 if `index` contains no such block.
        """
        return self.index.pop(path, -1)

    def open(self, tag: str, block: int = -1, href: str = "") -> None:
        around = self.open_nodes[-1] if self.open_nodes else None
        self.open_nodes.append(_OpenNode(tag, block, href, len(self.nodes), around))

    def close(self) -> None:
        """Close the innermost open node; drop it if its subtree has neither text nor links."""
        node = self.open_nodes.pop()
        is_empty = node.block < 0 and node.start == len(self.nodes)
        if is_empty and not (node.href and (self.with_links or node.is_inside)):
            return
        text = self.texts[node.block] if node.block >= 0 else _anchor(node.anchor)
        self.nodes.append((node.tag, text, node.href, node.block, node.start))

    def leaf(self, tag: str, block: int) -> None:
        self.open(tag, block)
        self.close()

    def put_first(self, numbers: Sequence[int]) -> None:
        """Insert these blocks before all other nodes.

        They are blocks outside the page's tree, such as its title and description.
        """
        nodes, self.nodes = self.nodes, []
        for number in numbers:
            self.leaf(last_tag(self.paths[number]), number)
        self.nodes += [
            (tag, text, href, block, start + len(numbers))
            for tag, text, href, block, start in nodes
        ]

    def build(self, host: str = "") -> Document:
        tags, texts, hrefs, blocks, starts = (
            zip(*self.nodes, strict=True) if self.nodes else [()] * 5
        )
        return Document(tags, texts, hrefs, blocks, np.array(starts, np.int32), host)


class _OpenNode:
    """A node that has been opened but not closed yet."""

    __slots__ = ("anchor", "block", "href", "is_inside", "outer", "start", "tag")

    def __init__(
        self, tag: str, block: int, href: str, start: int, around: _OpenNode | None
    ) -> None:
        self.tag, self.block, self.href, self.start = tag, block, href, start
        self.anchor: list[str] = []
        self.is_inside: bool = around is not None and (around.block >= 0 or around.is_inside)
        """True if it is in a block"""
        self.outer: _OpenNode | None = around.owner if around is not None else None
        """the innermost node around it that is a link or a block"""

    @property
    def owner(self) -> _OpenNode | None:
        """The innermost node that is a link or a block, itself included."""
        return self if self.href or self.block >= 0 else self.outer


def _from_tree(builder: _Builder, root: Node) -> None:
    inside: set[str] = set()
    waiting: list[Node | None] = [root]  # None closes a node
    while waiting:
        node = waiting.pop()
        if node is None:
            builder.close()
            continue
        inside.add(node.path)
        if node.tag == "#text":
            _add_text(builder, node.text, builder.claim(node.path))
        else:
            # DEVIATION(shi): inline elements are merged with the text around them, so that a
            # sentence stays whole; links stay nodes, because hyperlinks are to be aligned.
            is_link = node.tag in _LINKS and bool(node.href)
            if is_link or node.tag not in _INLINE_OR_LINK:
                href = node.href if is_link else ""
                builder.open(node.tag, builder.claim(node.path), href)
                waiting.append(None)
            waiting.extend(reversed(node.children))
    outside = [path for path in builder.index if path not in inside]
    builder.put_first([builder.claim(path) for path in outside])
    for number in [*builder.index.values(), *builder.repeated]:
        builder.leaf("#text", number)  # in no element of the tree


def _from_nodes(
    blocks: Sequence[Block], outline: Outline, host: str, *, with_links: bool
) -> Document:
    """Build the tree from an outline, with the compiled kernel."""
    strings = outline.strings
    roles = np.frombuffer(bytes([_ROLES.get(string, 0) for string in strings]), np.uint8)
    targets = outline.targets
    if strings.count("") > 1:
        targets = [target if strings[target] else 0 for target in targets]
    nodes = find_nodes(
        bytes(outline.kinds), (outline.values, outline.numbers), targets,
        (outline.places, outline.runs), roles, with_links=with_links,
    )  # fmt: skip
    names = [*strings, "", "#text"]  # the last two are `OUTSIDE_TAG` and `TEXT_TAG`
    tags, numbers = [names[tag] for tag in nodes.tags.tolist()], nodes.blocks.tolist()
    texts = [blocks[number].text if number >= 0 else "" for number in numbers]
    for node in range(nodes.outside):
        tags[node] = last_tag(blocks[numbers[node]].path)
    ends = nodes.anchor_offsets
    anchors = nodes.anchors.tolist()
    for node in np.flatnonzero(ends[1:] > ends[:-1]).tolist():
        own = anchors[ends[node] : ends[node + 1]]
        texts[node] = _anchor([strings[text] for text in own[: _MAX_ANCHOR + 1]])
    hrefs = tuple([strings[href] for href in nodes.hrefs.tolist()])
    return Document(tuple(tags), tuple(texts), hrefs, tuple(numbers), nodes.leftmost, host)


def outline_reference(
    blocks: Sequence[Block], outline: Outline, host: str, *, with_links: bool
) -> Document:
    """Build the same tree as `_from_tree` from an outline, as the reference and the fallback.

    A block is known by the number of its element and the number of its run, instead of its path.
    """
    builder = _Builder(blocks, with_links=with_links)
    index: dict[tuple[int, int], int] = {}
    repeated: list[int] = []
    for number, key in enumerate(zip(outline.places, outline.runs, strict=True)):
        if index.setdefault(key, number) != number:
            repeated.append(number)
    inside = _add_nodes(builder, outline, index)
    count = len(outline.targets)
    outside = [
        index.pop(key) for key in [*index] if key[0] >= count or (key[1] and key not in inside)
    ]
    builder.put_first(outside)
    for number in [*index.values(), *repeated]:
        builder.leaf("#text", number)
    return builder.build(host)


def _add_nodes(
    builder: _Builder, outline: Outline, index: dict[tuple[int, int], int]
) -> set[tuple[int, int]]:
    """Add all nodes of an outline, and remove their blocks from `index`.

    Return the element and the run of each text.
    """
    claim, strings, targets = index.pop, outline.strings, outline.targets
    inside: set[tuple[int, int]] = set()
    element = block = -1  # the last element, and the innermost element that is a block
    outer: list[tuple[bool, int]] = []  # of each open element: is it a node, and `block` before it
    for kind, value, number in zip(outline.kinds, outline.values, outline.numbers, strict=True):
        if kind == TEXT:
            inside.add((block, number))
            _add_text(builder, strings[value], claim((block, number), -1))
        elif kind == CLOSE:
            is_node, block = outer.pop()
            if is_node:
                builder.close()
        else:
            element += 1
            tag = strings[value]
            href = strings[targets[element]] if tag in _LINKS else ""
            if is_node := bool(href) or tag not in _INLINE_OR_LINK:
                builder.open(tag, claim((element, 0), -1), href)
            outer.append((is_node, block))
            block = element if kind == BLOCK else block
            if kind == LEAF and outer.pop()[0]:
                builder.close()
    return inside


def _anchor(texts: Sequence[str]) -> str:
    """The beginning of a link's text; a long text that is in many links is not copied for each."""
    return " ".join([text[:_MAX_ANCHOR] for text in texts[: _MAX_ANCHOR + 1]])[:_MAX_ANCHOR]


def _add_text(builder: _Builder, text: str, block: int) -> None:
    """Append a text to the enclosing link; if it is the text of a block, also add a leaf."""
    owner = builder.open_nodes[-1].owner if builder.open_nodes else None
    if owner is not None and owner.href:
        owner.anchor.append(text)
    if block >= 0:
        builder.leaf("#text", block)


def _from_paths(builder: _Builder, blocks: Sequence[Block]) -> None:
    """Build the tree of a page from the paths of its blocks."""
    above: list[str] = []
    for number, block in enumerate(blocks):
        path = [part for part in block.path.split("/") if part]
        depth = _common_depth(above, path)
        while len(above) > depth:
            above.pop()
            builder.close()
        if depth and depth == len(path):  # an element that is already open
            if builder.open_nodes[-1].block < 0:
                builder.open_nodes[-1].block = number
            else:
                builder.leaf("#text", number)
            continue
        for part in path[depth:-1]:
            above.append(part)
            builder.open(_tag(part))
        above += path[-1:]
        builder.open(_tag(path[-1]) if path else "", number)
        if not path:
            builder.close()
    while above:
        above.pop()
        builder.close()


def _common_depth(above: Sequence[str], path: Sequence[str]) -> int:
    """The number of leading elements that two paths have in common."""
    count = 0
    for part, other in zip(above, path, strict=False):
        if part != other:
            break
        count += 1
    return count


def _tag(part: str) -> str:
    """The tag name in one segment of a DOM path.

    >>> _tag("div[2]"), _tag("text()[3]")
    ('div', '#text')
    """
    return "#text" if part.startswith("text()") else _SEGMENT.match(part)[0]  # type: ignore[index]
