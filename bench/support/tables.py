"""Tables of results, as the documentation shows them and as they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Tables = dict[str, list[dict[str, Any]]]


def percent(share: float) -> float:
    """In percent, with two decimals."""
    return round(100 * float(share), 2)


def show(shown: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Print the tables."""
    for title, rows in shown.items():
        print(f"\n{title}\n| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
        for row in rows:
            print(f"| {' | '.join(str(value) for value in row.values())} |")
