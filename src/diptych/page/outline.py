"""The outline of a page: kind, region, list and table position of each block, from the DOM paths.

Nothing but the paths is needed, so the outline can be made from any run.  The innermost meaningful
element of a path decides; a list item with headings is a container and no item, and a table that
only arranges a page is no table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from diptych.types import Block


class Kind(StrEnum):
    """What a block is."""

    TITLE = "title"
    DESCRIPTION = "description"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_CELL = "table_cell"
    CAPTION = "caption"
    QUOTATION = "quotation"
    CODE = "code"
    BUTTON = "button"
    LABEL = "label"
    LINK = "link"
    IMAGE = "image"


class Region(StrEnum):
    """The part of the page that a block is in; `BODY` if the page does not say."""

    HEAD = "head"
    BODY = "body"
    HEADER = "header"
    NAV = "nav"
    MAIN = "main"
    ARTICLE = "article"
    ASIDE = "aside"
    FOOTER = "footer"


class Place(NamedTuple):
    """The place of a block in the outline of its page."""

    kind: Kind
    level: int
    """of a heading: 1 to 6; else: how deeply its list item is nested, 0 outside lists"""
    number: int
    """number of its list item in an ordered list, 0 elsewhere"""
    row: int
    """row of its table cell, counted from 1; 0 outside tables"""
    column: int
    """number of its table cell in the row, counted from 1; 0 outside tables"""
    region: Region
    item: str
    """path of its list item; empty outside lists"""
    table_row: str
    """path of its table row; empty outside tables"""


class _Element(NamedTuple):
    """An element of a path that tells something."""

    name: str
    number: int
    path: str
    """path up to and including this element"""


_KINDS = {
    **{f"h{level}": Kind.HEADING for level in range(1, 7)},
    "title": Kind.TITLE, "meta": Kind.DESCRIPTION, "blockquote": Kind.QUOTATION,
    "pre": Kind.CODE, "code": Kind.CODE, "a": Kind.LINK, "img": Kind.IMAGE, "area": Kind.IMAGE,
    **dict.fromkeys(("caption", "figcaption", "summary"), Kind.CAPTION),
    **dict.fromkeys(("button", "input"), Kind.BUTTON),
    **dict.fromkeys(("label", "legend", "option", "textarea", "output"), Kind.LABEL),
}  # fmt: skip
_REGIONS = {
    region.value: region
    for region in Region
    if region not in (Region.HEAD, Region.BODY)
}  # fmt: skip
_TEXT_REGIONS = (Region.BODY, Region.MAIN, Region.ARTICLE)
_ITEMS = ("li", "dt", "dd")
_LISTS = ("ul", "ol", "menu", "dir", "dl")
_CELLS = ("td", "th")
_TABLE_HEADS = ("th", "thead", "tfoot", "caption")
_MAX_BLOCKS = 2  # per cell on average; cells with more hold parts of the page (by inspection)
_TOLD = (
    *_KINDS, *_REGIONS, *_ITEMS, *_LISTS, *_CELLS, "table", "thead", "tbody", "tfoot", "tr", "head",
    "section", "p",
)  # fmt: skip
_ELEMENT = re.compile(rf"/({'|'.join(_TOLD)})(?:\[(\d+)\])?(?=/|$)")


def places(blocks: Iterable[Block]) -> list[Place]:
    """The places of all blocks of a page, which are given in page order.

    >>> main, nav = "/html/body/main[1]", "/html/body/nav[1]"
    >>> paths = [f"{nav}/ul[1]/li[1]", f"{main}/h1[1]", f"{main}/ol[1]/li[2]/p[1]", main]
    >>> for place in places(Block("text", path) for path in paths):
    ...     print(place.kind, place.level, place.number, place.region)
    list_item 1 0 nav
    heading 1 0 main
    list_item 1 2 main
    paragraph 0 0 main
    """
    found = [_elements(block.path) for block in blocks]
    is_all_main = all(any(one.name in ("main", "head") for one in elements) for elements in found)
    page = _Page(_containers(found), _Tables(_data_tables(found)), is_all_main)
    return [_place(elements, page) for elements in found]


@lru_cache(maxsize=20_000)  # the paths of a menu are the same on all pages of a site
def _elements(path: str) -> tuple[_Element, ...]:
    """The elements of a path that tell something, from the outermost to the innermost.

    >>> [element.name for element in _elements("/html/body/div[1]/ul[1]/li[12]/text()[2]")]
    ['ul', 'li']
    """
    around, slash, last = path.rpartition("/")
    if not slash:
        return ()
    outer = _elements(around)  # shared, because a page may have thousands of deep blocks
    match = _ELEMENT.fullmatch(slash + last)
    return (*outer, _Element(match[1], int(match[2] or 1), path)) if match else outer


def _containers(blocks: Iterable[Sequence[_Element]]) -> frozenset[str]:
    """The paths of list items and definition lists that contain headings: cards and sections."""
    return frozenset(
        element.path
        for elements in blocks
        if any(_KINDS.get(element.name) is Kind.HEADING for element in elements)
        for element in elements
        if element.name in ("li", "dl")
    )


@dataclass(slots=True)
class _Table:
    """The properties of a table that show what it is for."""

    rows: set[str] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)
    columns: int = 0
    blocks: int = 0
    has_heads: bool = False
    has_parts: bool = False
    """True if it contains headings or other tables"""

    @property
    def is_data(self) -> bool:
        """True if rows and columns mean something.

        Browsers guess the same for screen readers, from header cells, captions, nested tables, and
        the number of rows and columns (Chromium's AXTable, Firefox' IsProbablyLayoutTable).
        """
        if self.has_heads:
            return True
        is_grid = len(self.rows) > 1 and self.columns > 1
        return is_grid and not self.has_parts and self.blocks <= _MAX_BLOCKS * len(self.cells)


def _data_tables(blocks: Iterable[Sequence[_Element]]) -> frozenset[str]:
    """The paths of the tables that are not only there to arrange the page."""
    found: defaultdict[str, _Table] = defaultdict(_Table)
    for elements in blocks:
        open_tables: list[_Table] = []
        for name, number, path in elements:
            if name == "table" or _KINDS.get(name) is Kind.HEADING:
                for table in open_tables:
                    table.has_parts = True
            if name == "table":
                open_tables.append(found[path])
            elif open_tables:
                _add(open_tables[-1], name, number, path)
    return frozenset(path for path, table in found.items() if table.is_data)


def _add(table: _Table, name: str, number: int, path: str) -> None:
    """Add an element to the table that it is part of."""
    if name in _TABLE_HEADS:
        table.has_heads = True
    if name in _CELLS:
        table.columns = max(table.columns, number)
        table.cells.add(path)
        table.blocks += 1
    elif name == "tr":
        table.rows.add(path)


class _Tables:
    """The tables of a page, and the rows and columns counted so far."""

    def __init__(self, data: frozenset[str]) -> None:
        self.data = data
        self._sections: dict[str, tuple[str, int]] = {}  # table: open section, rows before it
        self._last: dict[str, int] = {}  # table: row of the last cell
        self._cells: defaultdict[str, dict[str, int]] = defaultdict(dict)  # row: th and td so far

    def row(self, table: str, row: _Element) -> int:
        """The number of a row: each section of a table (thead, tbody) counts its rows anew."""
        section = row.path.rpartition("/")[0]
        opened, before = self._sections.get(table, ("", 0))
        if section != opened:
            before = self._last.get(table, 0)
            self._sections[table] = section, before
        self._last[table] = before + row.number
        return before + row.number

    def column(self, row: _Element, cell: _Element) -> int:
        """The number of a cell in its row; paths count th and td apart."""
        counted = self._cells[row.path]
        counted[cell.name] = cell.number
        return sum(counted.values())


class _Page(NamedTuple):
    """What all blocks of a page tell together."""

    containers: frozenset[str]
    tables: _Tables
    is_all_main: bool
    """True if the element main contains the whole page, with its header and footer"""


@dataclass(slots=True)
class _Reading:
    """What the elements of a path have told so far, from the outermost to the innermost."""

    kind: Kind = Kind.PARAGRAPH
    heading: int = 0
    lists: int = 0
    """number of lists around the block, since the last container"""
    is_ordered: bool = False
    item: str = ""
    depth: int = 0
    number: int = 0
    table: str = ""
    table_row: _Element | None = None
    row: int = 0
    column: int = 0


def _place(elements: Sequence[_Element], page: _Page) -> Place:
    now = _Reading()
    for element in elements:
        name = element.name
        if name in _LISTS:
            now.lists, now.is_ordered = now.lists + 1, name == "ol"
        elif name in _ITEMS:
            _read_item(now, element, page.containers)
        elif name == "table":
            # An item or quotation around a table tells nothing of the cells.
            now = _Reading(table=element.path if element.path in page.tables.data else "")
        elif name == "tr":
            now.table_row = element if now.table else None
        elif name in _CELLS:
            _read_cell(now, element, page.tables)
        else:
            _read_other(now, name)
    return Place(
        now.kind, now.heading if now.kind is Kind.HEADING else now.depth, now.number, now.row,
        now.column, _region(elements, page), now.item,
        now.table_row.path if now.table_row and now.column else "",
    )  # fmt: skip


def _read_item(now: _Reading, item: _Element, containers: frozenset[str]) -> None:
    around = item.path if item.name == "li" else item.path.rpartition("/")[0]
    if around in containers:
        now.lists, now.depth, now.number, now.item = 0, 0, 0, ""
        return
    now.lists = max(1, now.lists) + (item.name == "dd")  # a definition stands below its term
    now.kind, now.item, now.depth = Kind.LIST_ITEM, item.path, now.lists
    now.number = item.number if now.is_ordered else 0


def _read_cell(now: _Reading, cell: _Element, tables: _Tables) -> None:
    if now.table_row is not None:
        now.kind = Kind.TABLE_CELL
        now.row = tables.row(now.table, now.table_row)
        now.column = tables.column(now.table_row, cell)


def _read_other(now: _Reading, name: str) -> None:
    if name == "p":  # a link around paragraphs is no link of a menu
        now.kind = Kind.PARAGRAPH if now.kind is Kind.LINK else now.kind
        return
    now.kind = _KINDS.get(name, now.kind)
    if now.kind is Kind.HEADING and name in _KINDS:
        now.heading = int(name[1])


def _region(elements: Iterable[_Element], page: _Page) -> Region:
    """The region of a block.

    As for screen readers, only a header or footer that is in no other part is that of the page
    (HTML Accessibility API Mappings 1.0).  What is in a menu or an aside stays there.
    """
    around = (Region.BODY, Region.MAIN) if page.is_all_main else (Region.BODY,)
    found, is_in_section = Region.BODY, False
    for name, _, _ in elements:
        if name == "head":
            return Region.HEAD
        if name in ("header", "footer"):
            is_entered = found in around and not is_in_section
        else:
            is_entered = name == "nav" or (name in _REGIONS and found in _TEXT_REGIONS)
        found = _REGIONS[name] if is_entered else found
        is_in_section = is_in_section or name == "section"
    return found
