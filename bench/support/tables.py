"""Tables of results, as printed and as shown in the documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.support.machine import machine
from diptych._version import VERSION

Tables = dict[str, list[dict[str, Any]]]


def percent(share: float) -> float:
    """A share in percent, with two decimals."""
    return round(100 * float(share), 2)


def show(shown: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Print the tables."""
    for title, rows in shown.items():
        print(f"\n{title}\n| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
        for row in rows:
            print(f"| {' | '.join(str(value) for value in row.values())} |")


def show_and_keep(tables: Tables, out: Path | None) -> None:
    """Print the tables, and save them if a file is given."""
    show(tables)
    if out is not None:
        result = {"version": VERSION, "tables": tables, "machine": machine([])}
        out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
