"""Extract the text blocks and the DOM tree of a parsed page in one iterative walk.

Recall comes first, and all pages are treated alike: both sides of a translation must yield the same
blocks.  A block is a run of inline content in a block-level element.  Its path is that of the
element, such as `/html/body/div[2]/p[1]`; later runs of the same element append `/text()[2]` etc.
A block that holds nothing but links is one block per link.  Texts of images and texts for screen
readers are blocks of their own, after the block they are in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.page.content import ContentWriter
from diptych.page.elements import (
    APART,
    KNOWN,
    SKIPPED,
    TEXT,
    UNKNOWN,
    hidden_elements,
    shown_text,
    visible,
)
from diptych.page.gaps import is_gap
from diptych.page.link_lists import SEPARATORS, follows_link, is_in_link_list
from diptych.page.note_marks import is_mark, is_superscript_mark
from diptych.text.urls import resolver
from diptych.types import Block, Node

MAX_ELEMENTS = 300_000  # bounds the work: later elements are ignored
MAX_BLOCKS = 50_000
MAX_PATH = 1_000  # characters; elements with longer paths are numbered instead
TITLE_PATH = "/html/head/title"
MAX_ATTRIBUTE = 2_000  # characters of an alt, description or title; longer ones are ignored

# Kinds of open elements; all but _INLINE are block-level.
_INLINE, _BLOCK, _HIDDEN = range(3)
_IN_PARAGRAPH = re.compile(r"/(?:p|h[1-6])\[\d+\]$")
_BUTTONS = frozenset({"submit", "button", "reset", "image"})
_WORD = re.compile(r"\w")
PUNCTUATION = ".,;:!?)"
_HEAD, _LINK = (next(id for id, (_, name) in KNOWN.items() if name == tag) for tag in ("head", "a"))


class Walk:
    """One walk over a page; its results are `blocks`, `tags`, `tree` and `content`."""

    def __init__(self, parser: LexborHTMLParser, base: str) -> None:
        self._resolve = resolver(base)
        self.blocks: list[Block] = []
        self.tags: list[int] = []
        self._writer = ContentWriter()
        self._hidden = hidden_elements(parser)
        self._block = ""  # path of the innermost open block-level element
        # Block that begins with a link, and the path of that link's parent, and its number.
        self._first_link = ("", "", 0)
        self._checked: set[str] = set()  # blocks that begin with two links, which may be lists
        self._link_list = "/"  # path of the last block that is a list of links
        self._runs: dict[str, int] = {}  # number of blocks that each element has yielded
        self._parts: list[str] = []  # texts of the current run
        self._break_at = -1  # index in _parts just after the last line break
        self._asides: list[Block] = []  # texts of images in the current run
        self._muted = 0  # number of open hidden elements
        self._has_title = False
        self._deep = 0
        self._kind = _BLOCK  # kind of the element opened last
        self._path = ""
        if parser.root is not None:
            self._walk(parser.root)

    @property
    def tree(self) -> Node | None:
        """The tree of the page; None if the page is empty."""
        return self._writer.tree()

    @property
    def content(self) -> bytes:
        """The blocks and the tree of the page as bytes to store; may be empty."""
        return self._writer.pack(self.blocks)

    def _walk(self, root: LexborNode) -> None:
        """Visit the elements depth first, in document order."""
        parts, known, left, tags = self._parts, KNOWN.get, MAX_ELEMENTS, self.tags
        self._open(_BLOCK, "/html", "html", 0)
        parent, kind, path, self._block = root, _BLOCK, "/html", "/html"
        counts: dict[int, int] = {}
        outer: list[tuple[LexborNode, int, str, dict[int, int], str]] = []
        node = root.first_child
        while True:
            while node is not None:
                tag_id = node.tag_id
                if tag_id == TEXT:
                    # Blank text counts only between inline elements.
                    if parts or not node.is_empty_text_node:
                        self._add_text(node)
                elif (known_as := known(tag_id, UNKNOWN)) is not SKIPPED and left:
                    left -= 1
                    role, name = known_as
                    tags.append(tag_id)
                    counts[tag_id] = number = counts.get(tag_id, 0) + 1
                    inner = _READERS[role](self, node, path, name, number)
                    if inner is not None:
                        outer.append((parent, kind, path, counts, self._block))
                        parent, kind, path, counts = node, self._kind, self._path, {}
                        if kind > _INLINE:
                            self._block = path
                        node = inner
                        continue
                    tags.append(-tag_id)
                node = node.next
            self._close(parent, kind)
            if not outer:
                return
            tags.append(-parent.tag_id)
            node = parent.next
            parent, kind, path, counts, self._block = outer.pop()

    # One reader per element role.  It returns the first child if the children must be read too.
    # Its arguments are the element, the path of its parent, its name, and its number among the
    # siblings with this name: most inline elements need no path, and to spell it takes time.

    def _block_level(
        self, node: LexborNode, above: str, name: str, number: int
    ) -> LexborNode | None:
        return self._box(node, f"{above}/{name}[{number}]", name, number)

    def _box(self, node: LexborNode, path: str, name: str, number: int) -> LexborNode | None:
        if self._parts:
            self._flush()
        inner = node.first_child
        if inner is None:
            self._add_leaf(name, number, path)
            return None
        if self._hidden and self._hidden.get(node.mem_id, APART) != APART:
            self._muted += 1
            self._open(_HIDDEN, path, name, number)
        elif self._is_plain(inner, name, number, path):
            # Half of all blocks contain only text: no need to open them.
            if not self._muted:
                text = " ".join((inner.text_content or "").split())
                self._writer.leaf(name, number, path, visible(text))
                self._add_block(text, path)
            return None
        else:
            self._open(_BLOCK, path, name, number)
        return inner

    @staticmethod
    def _is_plain(inner: LexborNode, name: str, number: int, path: str) -> bool:
        """True if an element contains only a text, and is not a link, the head or too deep."""
        is_text = inner.tag_id == TEXT and inner.next is None
        return is_text and name != "a" and number > 0 and len(path) < MAX_PATH

    def _inline(self, node: LexborNode, above: str, name: str, number: int) -> LexborNode | None:
        inner = node.first_child
        if inner is None:
            self._add_leaf(name, number, f"{above}/{name}[{number}]")
            return None
        if self._hidden and self._is_left_out(node, above, name, number):
            return None
        self._open(_INLINE, f"{above}/{name}[{number}]", name, number)
        if inner.tag_id != TEXT or inner.next is not None:
            return inner
        if self._parts or not inner.is_empty_text_node:
            self._add_text(inner)
        self._close(node, _INLINE)
        return None

    def _is_left_out(self, node: LexborNode, above: str, name: str, number: int) -> bool:
        """Leave a hidden element out; a text that is only read aloud becomes a block of its own."""
        reason = self._hidden.get(node.mem_id)
        if reason == APART:
            text = shown_text(node, self._hidden)
            if not text.strip() or len(text) > MAX_ATTRIBUTE:
                return False
            path = f"{above}/{name}[{number}]"
            self._add_leaf(name, number, path, self._add_aside(text, path))
        return reason is not None

    def _add_text(self, node: LexborNode) -> None:
        """Add a text to the current run, after a blank if it is drawn apart from the run."""
        parts, text = self._parts, node.text_content or ""
        if parts and text[:1] > " ":
            last = parts[-1] or next(filter(None, reversed(parts)), "")
            if last[-1:] > " " and is_gap(last, text, node):
                parts.append(" ")
        parts.append(text)
        if not self._muted and (text := visible(text)):
            runs = self._runs.get(self._block)
            self._writer.text(text, runs + 1 if runs else 0)

    def _anchor(self, node: LexborNode, above: str, name: str, number: int) -> LexborNode | None:
        """Read a link; adjacent links are separated by a space, as they appear in menus."""
        if not self._parts:
            self._first_link = (self._block, above, number)
        elif self._first_link[0] == self._block:
            self._check_list(node)
        if self._block == self._link_list:
            return self._block_level(node, above, name, number)
        inner = node.first_child
        if inner is not None and self._is_mark(node, inner):
            self._drop_mark(node, above, name, number)
            return None
        if self._parts and follows_link(node):
            self._parts.append(" ")
        return self._inline(node, above, name, number)

    def _check_list(self, node: LexborNode) -> None:
        """At the second link of a block, find out if the block is a list of links."""
        block, above, number = self._first_link
        self._first_link = ("", "", 0)
        if block not in self._checked and is_in_link_list(node):
            self._link_list = block
            path = f"{above}/a[{number}]"
            self._flush(path if len(path) < MAX_PATH else "")
        self._checked.add(block)

    def _is_mark(self, node: LexborNode, inner: LexborNode) -> bool:
        """True if a link is a heading anchor or a footnote mark."""
        return (inner.tag_id == TEXT or "/h" in self._block[-7:]) and is_mark(node)

    def _superscript(
        self, node: LexborNode, above: str, name: str, number: int
    ) -> LexborNode | None:
        if node.first_child is not None and is_superscript_mark(node):
            self._drop_mark(node, above, name, number)
            return None
        return self._inline(node, above, name, number)

    def _drop_mark(self, node: LexborNode, above: str, name: str, number: int) -> None:
        """Leave out a mark, and the white space between it and a punctuation mark."""
        after = node.next
        if after is None and node.parent is not None and node.parent.tag == "a":
            after = node.parent.next
        text = after.text_content if after is not None and after.tag_id == TEXT else ""
        if self._parts and text and text[0] in PUNCTUATION:
            self._parts[-1] = self._parts[-1].rstrip()
        self._add_leaf(name, number, f"{above}/{name}[{number}]")

    def _top(self, node: LexborNode, above: str, name: str, number: int) -> LexborNode | None:
        """Read the head or body element, which is not numbered in paths."""
        return self._box(node, f"{above}/{name}[{number}]".removesuffix("[1]"), name, 0)

    def _custom(self, node: LexborNode, above: str, _: str, number: int) -> LexborNode | None:
        """Read a custom element; it counts as block-level, except in a paragraph."""
        name = node.tag or ""
        if "-" in name and not _IN_PARAGRAPH.search(self._block):
            return self._block_level(node, above, name, number)
        return self._inline(node, above, name, number)

    def _open(self, kind: int, path: str, name: str, number: int) -> None:
        if len(path) >= MAX_PATH:
            path, number = self._numbered(path), 0
        self._kind, self._path = kind, path
        if not self._muted:
            self._writer.open(name, number, path, is_block=kind > _INLINE)

    def _numbered(self, path: str) -> str:
        """A unique path of bounded length for an element that is nested too deeply."""
        self._deep += 1
        base, star, _ = path.partition("/*[")
        return f"{base if star else base.rpartition('/')[0]}/*[{self._deep}]"

    def _close(self, node: LexborNode, kind: int) -> None:
        if kind > _INLINE and self._parts:
            self._flush()
        if not self._muted:
            self._close_node(node)
        if kind == _HIDDEN:
            self._muted -= 1

    def _flush(self, path: str = "") -> None:
        """End the current run: add its block, and the texts of its images as further blocks.

        The block has the path of the block-level element, or the one given.
        """
        parts = self._parts
        text = " ".join((parts[0] if len(parts) == 1 else "".join(parts)).split())
        parts.clear()
        self._break_at = -1
        if self._block == self._link_list:
            text = text.strip(SEPARATORS)
        if text and not self._muted:
            self._add_block(text, path or self._block)
        if self._asides:
            if not self._muted:
                self.blocks.extend(self._asides[: max(0, MAX_BLOCKS - len(self.blocks))])
            self._asides.clear()

    def _add_block(self, text: str, path: str) -> None:
        if not text.isascii():
            text = visible(text)
        if (text[:1].isalnum() or _WORD.search(text)) and len(self.blocks) < MAX_BLOCKS:
            runs = self._runs.get(path, 0) + 1
            self._runs[path] = runs
            self.blocks.append(Block(text, f"{path}/text()[{runs}]" if runs > 1 else path))

    def _line_break(self, node: LexborNode, above: str, name: str, number: int) -> None:
        """Read a line break; a single one becomes a space, two in a row end the block."""
        if self._break_at >= 0 and not "".join(self._parts[self._break_at :]).strip():
            self._flush()
        else:
            self._parts.append(" ")
            self._break_at = len(self._parts)
        self._add_leaf(name, number, f"{above}/{name}[{number}]")

    def _rule(self, node: LexborNode, above: str, name: str, number: int) -> None:
        if self._parts:
            self._flush()
        self._add_leaf(name, number, f"{above}/{name}[{number}]")

    def _image(self, node: LexborNode, above: str, name: str, number: int) -> None:
        own, path = node.attributes, f"{above}/{name}[{number}]"
        alt = self._add_aside(own.get("alt"), path)
        self._add_leaf(name, number, path, alt)

    def _area(self, node: LexborNode, above: str, name: str, number: int) -> None:
        own, path = node.attributes, f"{above}/{name}[{number}]"
        alt = self._add_aside(own.get("alt"), path)
        href = own.get("href")
        url = self._resolve(href) if href and href[0] != "#" else None
        self._add_leaf(name, number, path, alt, url or "")

    def _input(self, node: LexborNode, above: str, name: str, number: int) -> None:
        own, path = node.attributes, f"{above}/{name}[{number}]"
        label = ""
        if (own.get("type") or "").lower() in _BUTTONS:
            label = self._add_aside(own.get("value") or own.get("alt"), path)
        self._add_leaf(name, number, path, label)

    def _meta(self, node: LexborNode, above: str, name: str, number: int) -> None:
        own = node.attributes
        content = (own.get("content") or "").strip()
        if (own.get("name") or "").lower() == "description":
            text = visible(content[:MAX_ATTRIBUTE])
            if _WORD.search(text):
                self.blocks.append(Block(text, f"{above}/{name}[{number}]"))

    def _title(self, node: LexborNode, *_: object) -> None:
        """Read the page's title, which is the first; later title elements belong to drawings."""
        if not self._has_title:
            self._has_title = True
            title = visible(node.text()[:MAX_ATTRIBUTE])
            if title:
                self.blocks.append(Block(title, TITLE_PATH))

    def _add_aside(self, text: str | None, path: str) -> str:
        """Add the text of an image or button as a separate block; return the cleaned text."""
        if not text or len(text) > MAX_ATTRIBUTE:
            return ""
        text = visible(text)
        if _WORD.search(text):
            self._asides.append(Block(text, path))
            self._parts.append("")
        return text

    def _add_leaf(self, name: str, number: int, path: str, text: str = "", href: str = "") -> None:
        if not self._muted:
            self._writer.leaf(name, number, path, text, href)

    def _close_node(self, node: LexborNode) -> None:
        tag_id = node.tag_id
        if tag_id == _HEAD:
            self._writer.drop()
        elif tag_id == _LINK and (href := node.attributes.get("href")):
            self._writer.close(self._resolve(href) or "")
        else:
            self._writer.close()


_READERS: tuple[Callable[[Walk, LexborNode, str, str, int], LexborNode | None], ...] = (
    Walk._block_level,
    Walk._inline,
    Walk._anchor,
    Walk._top,
    Walk._custom,
    Walk._line_break,
    Walk._rule,
    Walk._image,
    Walk._area,
    Walk._input,
    Walk._meta,
    Walk._title,
    Walk._superscript,
)
