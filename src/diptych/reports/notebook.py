"""HTML view of a run for notebooks: its funnel and a sample of its segments."""

from __future__ import annotations

from diptych.errors import for_python
from diptych.reports.closing import closing_of
from diptych.reports.funnel import funnel_rows
from diptych.reports.nothing_found import why_nothing
from diptych.reports.run_page import render, sample
from diptych.reports.summary import Summary, summarise
from diptych.run.store import Store
from diptych.run.terms import Terms

_SHOWN = 10  # segments


def run_as_html(store: Store, terms: Terms) -> str:
    """The run as an HTML fragment without scripts or style sheets."""
    summary = summarise(store, terms.langs)
    return render(
        "notebook.html", folder=str(store.folder), langs=terms.langs,
        rows=funnel_rows(summary), lines=list(map(for_python, _lines(summary, store))),
        segments=sample(store, summary.segments, _SHOWN),
    ).decode()  # fmt: skip


def _lines(summary: Summary, store: Store) -> list[str]:
    """The lines of the report on the queue and how to continue, or on why nothing was found."""
    if summary.segments:
        return closing_of(summary)
    cause, *others = why_nothing(summary, store.folder).lines()
    return [f"nothing found: {cause}", *others]
