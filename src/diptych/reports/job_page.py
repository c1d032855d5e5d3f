"""The report.html of a job: a sortable table of its sites, with links to their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from diptych.errors import StoreError
from diptych.files import replace_file, shipped_text
from diptych.reports.reasons import in_words
from diptych.reports.run_page import render


class SiteRow(NamedTuple):
    """A row of the table."""

    name: str
    pages: int
    pairs: int
    segments: int
    downloads: int
    cost: float | None
    """downloads per pair; None without pairs"""
    end: str
    """reason why the crawl ended, or why the site failed"""
    attempts: int
    is_done: bool

    @classmethod
    def of(cls, name: str, result: Mapping[str, Any], failure: str, attempts: int) -> SiteRow:
        """The row of a task; `result` comes from a file, which may hold anything."""
        pages, pairs, segments, downloads = (
            value if type(value := result.get(key)) is int else 0
            for key in ("pages", "pairs", "segments", "downloads")
        )
        ends = result.get("ends")
        named = [in_words(str(end)) for end in ends] if isinstance(ends, list) else []
        return cls(
            name, pages, pairs, segments, downloads, downloads / pairs if pairs else None,
            failure or ", ".join(named), attempts, not failure,
        )  # fmt: skip


def write_job_page(
    folder: Path, title: str, langs: Sequence[str], signature: str, rows: Sequence[SiteRow],
    segments: int,
) -> None:  # fmt: skip
    """Write `report.html` to a job folder; `segments` is the size of the merged corpus."""
    failed = sum(not row.is_done for row in rows)
    script = shipped_text("diptych.reports", "templates/sort.js")
    page = render(
        "job.html",
        script=script, title=title, langs=" - ".join(langs), signature=signature, rows=rows,
        plot=None,
        tiles=[
            ("sites", f"{len(rows):,}"),
            *([("sites failed", f"{failed:,}")] if failed else []),
            ("page pairs", f"{sum(row.pairs for row in rows):,}"),
            ("segments", f"{segments:,}"),
            ("pages", f"{sum(row.pages for row in rows):,}"),
            ("downloads", f"{sum(row.downloads for row in rows):,}"),
        ],
    )  # fmt: skip
    replace_file(folder / "report.html", page, error=StoreError)
