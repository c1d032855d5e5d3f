"""The costs on the page about many sites, generated from the stored results of the benchmark."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from figures import RESULTS, machine_words, table

PAGES = 3_000_000_000
"""of a snapshot of Common Crawl"""
DOLLARS = 0.04  # for an hour of a processor
FIRST = "archives"
"""the row with the size of the archives themselves"""
Row = dict[str, Any]


def scale() -> dict[str, str]:
    """The generated parts of the page; none if the benchmark has not been run."""
    files = {name: RESULTS / f"{name}.json" for name in ("scale", "page_costs")}
    if not all(file.exists() for file in files.values()):
        return {}
    made, real = (json.loads(file.read_text("utf-8")) for file in files.values())
    rows = real["tables"]["Archives of real sites, by stage"]
    return {
        "scale sizes": _sizes(made),
        "scale stages": _stages(rows),
        "scale snapshot": _snapshot(rows),
    }


def _sizes(result: Row) -> str:
    """What jobs of several sizes cost, beside one run on the same archives."""
    names = ("how", "pairs", "CPU s", "CPU ms per page", "peak MB of a process")
    rows = [
        [f"{row['pages']:,}", *(_cell(row[name]) for name in names)]
        for row in result["tables"]["Archives of many sites, by size"]
    ]
    head = ["pages", *names]
    parts = [table(head, rows, right=[name for name in head if name != "how"])]
    for row in result["tables"]["Archives of many sites, by processes"][1:]:
        parts.append(
            f"With {row['pages']:,} pages, two processes take {row['wall s']} s,"
            f" {row['speed-up']} times as fast as one."
        )
    parts.append(f"Measured on {machine_words(result['machine'])}.")
    return "\n\n".join(parts)


def _means(rows: list[Row]) -> dict[str, tuple[float, float]]:
    """Milliseconds and kB per page of each stage: means over the sites."""
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["stage"]].append(row)
    return {
        stage: (
            sum(row["ms per page"] for row in own) / len(own),
            sum(row["kB per page"] for row in own) / len(own),
        )
        for stage, own in found.items()
    }


def _stages(rows: list[Row]) -> str:
    """The costs of real pages by stage: the least, the mean and the most over the sites."""
    lines = []
    for stage, means in _means(rows).items():
        own = [row for row in rows if row["stage"] == stage]
        ranges = [
            f"{min(values):.1f} to {max(values):.1f}"
            for name in ("ms per page", "kB per page")
            if (values := [row[name] for row in own])
        ]
        cells = (f"{mean:.1f} ({span})" for mean, span in zip(means, ranges, strict=True))
        lines.append([stage, *cells])
    sites = len({row["site"] for row in rows})
    head = ["stage", "ms per page", "kB per page"]
    return table(head, lines, right=head[1:]) + f"\n\nMeans of {sites} sites, with their range."


def _snapshot(rows: list[Row]) -> str:
    """What a snapshot of Common Crawl would cost, if all its pages were like those of the sites."""
    lines, total = [], [0.0, 0.0, 0.0]
    for stage, (milliseconds, kilobytes) in _means(rows).items():
        hours = milliseconds * PAGES / 3_600_000
        values = hours, hours * DOLLARS, kilobytes * PAGES / 1e9
        lines.append([stage, *(f"{value:,.0f}" for value in values)])
        if stage != FIRST:
            total = [before + value for before, value in zip(total, values, strict=True)]
    lines.append(["all stages", *(f"{value:,.0f}" for value in total)])
    head = ["stage", "core-hours", "dollars", "TB"]
    return table(head, lines, right=head[1:])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
