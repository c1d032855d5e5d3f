"""Results that pairing in several rounds computes only once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from diptych.protocols import SiteView

Measures = dict[str, NDArray[np.float32]]
"""name of a measure -> its value for each pair"""
_Result = TypeVar("_Result")


@runtime_checkable
class SiteWithMemory(Protocol):
    """A view of a site that keeps results for later views of the same pages."""

    @property
    def memory(self) -> dict[object, object]:
        """The results by name."""
        ...


def computed_once(site: SiteView, name: object, compute: Callable[[], _Result]) -> _Result:
    """Return a result that depends only on the pages of a site, computing it if it is not kept.

    The result must not be changed.
    """
    if not isinstance(site, SiteWithMemory):
        return compute()
    memory = site.memory
    if name not in memory:
        memory[name] = compute()
    return memory[name]  # type: ignore[return-value]


class PairMemory:
    """The measures of pairs, which are computed once for each pair."""

    def __init__(self) -> None:
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._columns: Measures = {}

    def measures(
        self, keys: NDArray[np.int64], compute: Callable[[NDArray[np.bool_]], Measures]
    ) -> Measures:
        """Return the measures of the pairs with the given keys.

        `compute` measures the pairs that a mask selects.
        """
        is_new = ~np.isin(keys, self._keys)
        if is_new.any() or not self._columns:
            self._add(keys[is_new], compute(is_new))
        at = np.searchsorted(self._keys, keys)
        return {name: column[at] for name, column in self._columns.items()}

    def _add(self, keys: NDArray[np.int64], found: Measures) -> None:
        keys = np.concatenate((self._keys, keys))
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        for name, column in found.items():
            before = self._columns.get(name, np.zeros(0, np.float32))
            self._columns[name] = np.concatenate((before, column))[order]
