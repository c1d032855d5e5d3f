"""The text of a page as plain text with the marks of Markdown for headings, lists and tables.

Texts are not escaped: the marks are for people and translation models, not for a Markdown parser.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from diptych.page.outline import Kind, Place, places
from diptych.types import Block

_INDENT = " " * 4  # the least that is below the text of both `- ` and `10. `


class _Line(NamedTuple):
    """A line of text; lines of the same group follow each other without a blank line."""

    text: str
    list: str = ""
    """path of the list that it belongs to"""
    table: str = ""
    """path of the part of a table that it belongs to"""


def markdown(blocks: Sequence[Block], regions: Collection[str] = ()) -> str:
    """The text of a page; `regions` restricts it to these regions of the page.

    >>> main = "/html/body/main[1]"
    >>> page = [Block("Tides", f"{main}/h1[1]"), Block("High", f"{main}/ul[1]/li[1]"),
    ...     Block("Low", f"{main}/ul[1]/li[2]"), Block("About us", "/html/body/footer[1]")]
    >>> print(markdown(page, regions=["main"]))
    # Tides
    <BLANKLINE>
    - High
    - Low
    """
    placed = [
        (place, block.text)
        for place, block in zip(places(blocks), blocks, strict=True)
        if not regions or place.region in regions
    ]
    lines = list(_lines(placed))
    if not lines:
        return ""
    gaps = ["\n" if _is_close(one, next_) else "\n\n" for one, next_ in pairwise(lines)]
    return "".join(line.text + gap for line, gap in zip(lines, [*gaps, ""], strict=True))


def _is_close(one: _Line, other: _Line) -> bool:
    """True if two lines belong to the same list or table.

    >>> _is_close(_Line("- a", "/ul[1]"), _Line("  - b", "/ul[1]/li[1]/ul[1]"))
    True
    """
    if one.table or other.table:
        return one.table == other.table
    if not (one.list and other.list):
        return False
    shorter, longer = sorted((f"{one.list}/", f"{other.list}/"), key=len)
    return longer.startswith(shorter)


def _lines(placed: Iterable[tuple[Place, str]]) -> Iterator[_Line]:
    begun: set[str] = set()  # list items that already have their mark
    for row, group in groupby(placed, key=lambda one: one[0].table_row):
        if row:
            yield _row(row, group)
            continue
        for place, text in group:
            yield _line(place, text, has_mark=place.item not in begun)
            begun.add(place.item)


def _row(path: str, cells: Iterable[tuple[Place, str]]) -> _Line:
    """A row of a table, with the texts of each cell joined by spaces."""
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for place, text in cells:
        is_text = place.kind not in (Kind.IMAGE, Kind.CODE)  # other marks belong to lines
        texts[place.column].append(text if is_text else _marked(place, text))
    columns = (" ".join(texts.get(column, ())) for column in range(1, max(texts) + 1))
    table = path.rpartition("/table[")
    return _Line(f"| {' | '.join(columns)} |", table=f"{table[0]}/{table[2].partition('/')[0]}")


def _line(place: Place, text: str, *, has_mark: bool) -> _Line:
    text = _marked(place, text)
    if not place.item:
        return _Line(text)
    mark = f"{place.number}. " if place.number else "- "
    indent = _INDENT * (place.level - 1)
    return _Line(
        f"{indent}{mark if has_mark else ' ' * len(mark)}{text}", place.item.rpartition("/")[0]
    )


def _marked(place: Place, text: str) -> str:
    match place.kind:
        case Kind.HEADING:
            return f"{'#' * place.level} {text}"
        case Kind.QUOTATION:
            return f"> {text}"
        case Kind.CODE:
            return f"`{text}`"
        case Kind.IMAGE:
            return f"![{text}]"
        case _:
            return text
