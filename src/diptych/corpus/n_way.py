"""N-way rows: segments of several language pairs joined into rows of many languages.

Pages that are translations of each other, in any number of languages, form a group.  Within a
group, segments are joined into rows in descending order of score.  A row has at most one text per
language.  A page may be segmented differently for different languages; texts with different
boundaries stay in separate rows.  A row is left out if two of its texts are a surplus example of a
template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from diptych.text.near_duplicates import skeleton, text_key
from diptych.units import Side, Unit

_Place = tuple[str, str, str, str]


class Group(NamedTuple):
    """The segments of pages that are translations of each other."""

    units: Sequence[Unit]
    surplus: Sequence[Unit] = ()
    """further examples of templates, which the corpora of two languages leave out"""


class _Row(NamedTuple):
    """A row under construction: its texts by language, and the segments that it consists of."""

    sides: dict[str, Side]
    units: list[Unit]


def groups(ends: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield the connected components of a graph as lists of edge indices; `ends` are its edges.

    >>> list(groups([(1, 2), (8, 9), (2, 3)]))
    [[0, 2], [1]]
    """
    parent: dict[int, int] = {}
    for left, right in ends:
        parent[_root(parent, left)] = _root(parent, right)
    found: dict[int, list[int]] = {}
    for place, (left, _) in enumerate(ends):
        found.setdefault(_root(parent, left), []).append(place)
    yield from found.values()


def _root(parent: dict[int, int], one: int) -> int:
    while (other := parent.setdefault(one, one)) != one:
        parent[one] = parent[other]
        one = other
    return one


def joined(grouped: Iterable[Group], langs: Sequence[str]) -> Iterator[tuple[int, Unit]]:
    """Yield the rows of all groups, each with a key that is the same for near-duplicates."""
    for group in grouped:
        for row in rows_of(group.units, langs, group.surplus):
            yield _key(row.sides), row


def rows_of(
    units: Sequence[Unit], langs: Sequence[str], surplus: Sequence[Unit] = ()
) -> list[Unit]:
    """Join the segments of one group of pages into rows of three or more languages.

    Rows that contain both texts of a segment in `surplus` are left out.
    """
    row_of = _joined_by_place(units)
    first: dict[_Place, int] = {}
    for number, unit in enumerate(units):
        for side in unit.sides:
            first.setdefault(_place(side), number)
    rows = {id(row): row for row in row_of.values() if len(row.sides) >= min(3, len(langs))}
    for unit in surplus:
        one, other = (row_of.get(_place(side)) for side in unit.sides)
        if one is other:
            rows.pop(id(one), None)
    made = [_unit(row, langs) for row in rows.values() if row.units]
    return sorted(made, key=lambda unit: min(first[_place(side)] for side in unit.sides))


def _joined_by_place(units: Sequence[Unit]) -> dict[_Place, _Row]:
    """Join segments into rows, in descending order of score; the row of each text, by its place."""
    row_of: dict[_Place, _Row] = {}
    for unit in sorted(units, key=lambda unit: -unit.score):
        one, other = (
            row_of.setdefault(_place(side), _Row({side.lang: side}, [])) for side in unit.sides
        )
        if one is other:
            one.units.append(unit)
        elif _go_together(one, other):
            one.sides.update(other.sides)
            one.units.extend([*other.units, unit])
            row_of.update({_place(side): one for side in other.sides.values()})
    return row_of


def _go_together(one: _Row, other: _Row) -> bool:
    """True if two rows can be joined: they have no language and no text in common.

    Equal texts in two languages are untranslated.  The filter rejects them as a pair, but both may
    be aligned to the same text in a third language.
    """
    if one.sides.keys() & other.sides.keys():
        return False
    texts = {side.text.casefold() for side in one.sides.values()}
    return not any(side.text.casefold() in texts for side in other.sides.values())


def _place(side: Side) -> _Place:
    """The location of a text on its page, which is the same in all language pairs."""
    return side.lang, side.url, side.path, side.at


def _unit(row: _Row, langs: Sequence[str]) -> Unit:
    """Convert a row to a unit; its scores are the lowest scores of its segments."""
    order = {lang: number for number, lang in enumerate(langs)}
    evidence = dict.fromkeys(name for unit in row.units for name in unit.evidence.split("+"))
    return Unit(
        sides=tuple(sorted(row.sides.values(), key=lambda side: order.get(side.lang, len(order)))),
        score=min(unit.score for unit in row.units),
        alignment=min(unit.alignment for unit in row.units),
        verified=min(unit.verified for unit in row.units),
        evidence="+".join(evidence),
        flags=tuple(sorted({flag for unit in row.units for flag in unit.flags})),
        copies=max(unit.copies for unit in row.units),
        run=row.units[0].run,
        first_seen=max(unit.first_seen for unit in row.units),
        last_seen=min(unit.last_seen for unit in row.units),
    )


def _key(sides: Sequence[Side]) -> int:
    return text_key("\n".join(f"{side.lang}\n{skeleton(side.text)}" for side in sides))
