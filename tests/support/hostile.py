"""Plain data, as JSON gives it, with hostile values in it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

HOSTILE = (
    None, True, -1, 10**6, 2**62, 2**70, 1e300, -0.5, float("nan"), float("inf"), "", "x", "\ud800",
    [], [[]], ["x"], [-1], {}, {"x": 1},
)  # fmt: skip


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places in plain data, of long lists the first and the last."""
    yield here
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*here, key))
    elif isinstance(data, list):
        for place in sorted({0, len(data) - 1} if data else ()):
            yield from places(data[place], (*here, place))


def changed(data: Any, place: tuple[Any, ...], value: object) -> Any:
    """Plain data with another value in one place."""
    if not place:
        return value
    other = copy.copy(data)
    other[place[0]] = changed(data[place[0]], place[1:], value)
    return other
