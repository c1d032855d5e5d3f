"""Floors of figures: which are missed, and how they are raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["EPSILON", "Figure", "Floors", "drops", "holds", "raised"]

EPSILON = 0.005
"""share of a floor by which a figure may miss it: libraries differ a little between machines"""

Floors = dict[str, dict[str, float]]
"""figure -> `at_least` or `at_most`, and the value"""


class Figure(NamedTuple):
    """One measured figure."""

    name: str
    value: float
    lower_is_better: bool = False

    @property
    def bound(self) -> str:
        """What a floor says of it."""
        return "at_most" if self.lower_is_better else "at_least"


def holds(figure: Figure, floors: Floors) -> bool:
    """Whether a figure is as good as its floor; one without a floor is.

    >>> floors = {"recall": {"at_least": 0.9}, "downloads": {"at_most": 100}}
    >>> holds(Figure("recall", 0.897), floors), holds(Figure("recall", 0.89), floors)
    (True, False)
    >>> holds(Figure("downloads", 101, lower_is_better=True), floors)
    False
    """
    floor = floors.get(figure.name, {}).get(figure.bound)
    if floor is None:
        return figure.name not in floors
    worse = figure.value - floor if figure.lower_is_better else floor - figure.value
    return worse <= EPSILON * abs(floor)


def drops(figures: Iterable[Figure], floors: Floors) -> list[str]:
    """One line for each figure that is worse than its floor, or is no longer measured."""
    measured = {figure.name: figure for figure in figures}
    found = []
    for name, floor in floors.items():
        ((bound, value),) = floor.items()
        shown = f"{bound.replace('_', ' ')} {value:g}"
        if name not in measured:
            found.append(f"{name}: {shown} is asked for, and it is not measured")
        elif not holds(measured[name], floors):
            found.append(f"{name}: {measured[name].value:.4g}, {shown} is asked for")
    return found


def raised(figures: Iterable[Figure], floors: Mapping[str, Mapping[str, float]]) -> Floors:
    """The better of each figure and its floor.

    >>> raised([Figure("recall", 0.95), Figure("f1", 0.8)], {"recall": {"at_least": 0.9}})
    {'recall': {'at_least': 0.95}, 'f1': {'at_least': 0.8}}
    """
    found: Floors = {}
    for figure in figures:
        value = round(figure.value, 4)
        old = floors.get(figure.name, {}).get(figure.bound, value)
        better = min(value, old) if figure.lower_is_better else max(value, old)
        found[figure.name] = {figure.bound: better}
    return found
