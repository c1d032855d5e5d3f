"""Validation of values read from a snapshot: the contents of a run folder are not trusted."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

from diptych.types import Link

MAX_NUMBER = 1 << 40  # far above any count in a crawl, but low enough that products do not overflow


def checked(is_right: bool) -> None:
    """Raise ValueError if `is_right` is False."""
    if not is_right:
        raise ValueError("the snapshot is damaged")


def items(column: object) -> list[Any]:
    """Return `column` if it is a list; otherwise raise TypeError."""
    if type(column) is not list:
        raise TypeError("the snapshot is damaged")
    return column


def whole_numbers(column: object, below: int = MAX_NUMBER, *, least: int = 0) -> list[int]:
    """Return `column` if it is a list of integers from `least` to `below` - 1; else raise an error.

    >>> whole_numbers([0, 2], below=3)
    [0, 2]
    >>> whole_numbers([3], below=3)
    Traceback (most recent call last):
    ValueError: the snapshot is damaged
    """
    found = array("q", items(column))  # raises TypeError and OverflowError
    checked(not found or (least <= min(found) and max(found) < below))
    return items(column)


def numbers(column: object) -> list[float]:
    """Return `column` as floats if it is a list of finite numbers; otherwise raise an error."""
    found = array("d", items(column))
    checked(all(map(math.isfinite, found)))
    checked(not found or (min(found) > -MAX_NUMBER and max(found) < MAX_NUMBER))
    return found.tolist()


def texts(column: object) -> list[Any]:
    """Return `column` if it is a list of strings; otherwise raise an error."""
    checked(set(map(type, items(column))) <= {str})
    return items(column)


def columns(values: object, count: int) -> list[list[Any]]:
    """Return `values` if it consists of `count` lists of equal length; otherwise raise an error."""
    found = [items(column) for column in items(values)]
    checked(len(found) == count and len(set(map(len, found))) <= 1)
    return found


def flags(column: object) -> list[bool]:
    """Return `column` if it is a list of booleans; otherwise raise an error."""
    checked(set(map(type, items(column))) <= {bool})
    return items(column)


def parts(column: list[Any], sizes: list[int]) -> Iterator[list[Any]]:
    """Split a list into consecutive parts of the given sizes.

    >>> list(parts([1, 2, 3], [1, 0, 2]))
    [[1], [], [2, 3]]
    """
    ends = [0, *accumulate(sizes)]
    checked(ends[-1] == len(column))
    return (column[begin:end] for begin, end in pairwise(ends))


def by_column(rows: Iterable[tuple[Any, ...]], count: int) -> list[list[Any]]:
    """Transpose rows of `count` values each into `count` columns."""
    found = [list(column) for column in zip(*rows, strict=True)]
    return found or [[] for _ in range(count)]


def from_mapping(mapping: Mapping[Any, Any]) -> list[list[Any]]:
    """Return the keys and the values of a mapping as two lists."""
    return [list(mapping), list(mapping.values())]


def links(rows: object) -> tuple[Link, ...]:
    """Create links from lists of strings, one list per link."""
    found = [Link(*texts(row)) for row in items(rows)]
    return tuple(found)
