"""Figures of the last update of a run: what changed, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from diptych.reports.reasons import counted
from diptych.run.updates import UpdateCounts, Visited

_NAMES = {
    Visited.UNCHANGED: "unchanged",
    Visited.SAME_TEXT: "with the same text",
    Visited.NOT_ASKED: "unchanged according to a sitemap",
    Visited.CHANGED: "changed",
    Visited.NEW: "new",
    Visited.VANISHED: "vanished",
    "unvisited": "not visited",
}


def update_lines(update: UpdateCounts) -> Iterator[str]:
    """The report lines on the last update: pages, page pairs, segments and costs."""
    day = datetime.fromtimestamp(int(update.started_at), UTC).strftime("%Y-%m-%d %H:%M UTC")
    state = "" if update.is_finished else " (not finished)"
    pages = [
        f"{update.pages[name]:,} {text}" for name, text in _NAMES.items() if name in update.pages
    ]
    yield f"update of {day}{state}: pages: {', '.join(pages) or 'none visited'}"
    before, after = update.pairs
    new, kept, gone = update.new_segments, update.kept_segments, update.gone_segments
    yield (
        f"page pairs verified: {before:,} before, {after:,} now; segments: {new:,} new,"
        f" {kept:,} kept, {gone:,} gone"
    )
    requests, size = update.whole
    yield (
        f"{counted(update.requests, 'response')} with {_megabytes(update.bytes)}; all pages and"
        f" sitemaps take {requests:,} with {_megabytes(size)}"
    )


def update_figures(update: UpdateCounts) -> dict[str, Any]:
    """The figures of the last update as members of a JSON object."""
    return {
        "started": datetime.fromtimestamp(int(update.started_at), UTC).isoformat(),
        "finished": update.is_finished,
        "pages": {str(name): count for name, count in update.pages.items()},
        "pairs": {"before": update.pairs[0], "after": update.pairs[1]},
        "segments": {
            "before": update.segments[0],
            "after": update.segments[1],
            "new": update.new_segments,
            "kept": update.kept_segments,
            "gone": update.gone_segments,
        },
        "responses": update.requests,
        "bytes": update.bytes,
        "whole_crawl": {"responses": update.whole[0], "bytes": update.whole[1]},
    }


def _megabytes(size: int) -> str:
    """A number of bytes in megabytes.

    >>> _megabytes(1_234_567)
    '1.23 MB'
    """
    return f"{size / 1e6:,.2f} MB"
