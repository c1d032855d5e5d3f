"""The sum of the summaries of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from diptych.reports.summary import Step, Summary

_COUNTS = ("downloads", "pages", "pairs", "segments", "queued")
_TABLES = (
    "faults", "downloads_by_kind", "skipped", "unanswered", "langs", "marks", "flags", "personal",
    "aliases",
)  # fmt: skip
_LISTS = ("hosts", "ends", "declared", "scripted")


def total(summaries: Iterable[Summary]) -> Summary:
    """Add up the figures of several runs; estimates and curves of single runs are left out."""
    found = list(summaries)
    added: dict[str, Any] = {name: sum(getattr(each, name) for each in found) for name in _COUNTS}
    added |= {name: _added(getattr(each, name) for each in found) for name in _TABLES}
    added |= {
        name: tuple(item for each in found for item in getattr(each, name)) for name in _LISTS
    }
    thresholds = {each.threshold for each in found}
    rows = [each.rows for each in found if each.rows is not None]
    return Summary(
        **added, steps=_steps(found),
        threshold=thresholds.pop() if len(thresholds) == 1 else None,
        lang_pairs=_lang_pairs(found), rows=sum(rows) if rows else None,
    )  # fmt: skip


def _added(tables: Iterable[Iterable[tuple[str, int]]]) -> tuple[tuple[str, int], ...]:
    """Add up counts by name, the largest first.

    >>> _added([[("a", 1), ("b", 2)], [("a", 3)]])
    (('a', 4), ('b', 2))
    """
    counts: Counter[str] = Counter()
    for table in tables:
        for name, count in table:
            counts[name] += count
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _steps(summaries: Sequence[Summary]) -> tuple[Step, ...]:
    names = dict.fromkeys(step.name for each in summaries for step in each.steps)
    steps = []
    for name in names:
        same = [step for each in summaries for step in each.steps if step.name == name]
        steps.append(
            Step(name, sum(step.count for step in same), _added(step.lost for step in same))
        )
    return tuple(steps)


def _lang_pairs(summaries: Sequence[Summary]) -> tuple[tuple[str, str, int, int], ...]:
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for each in summaries:
        for left, right, pairs, segments in each.lang_pairs:
            before = counts.get((left, right), (0, 0))
            counts[left, right] = before[0] + pairs, before[1] + segments
    return tuple((*langs, *both) for langs, both in counts.items())
