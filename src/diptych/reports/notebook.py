"""HTML of a run for notebooks: its funnel and a sample of its segments."""

from __future__ import annotations

from diptych.reports.run_page import render, sample
from diptych.reports.summary import summarise
from diptych.run.store import Store
from diptych.run.terms import Terms

_SHOWN = 10  # segments


def run_as_html(store: Store, terms: Terms) -> str:
    """The run as an HTML fragment without scripts and style sheets."""
    summary = summarise(store, terms.langs)
    return render(
        "notebook.html", folder=str(store.folder), langs=terms.langs, summary=summary,
        segments=sample(store, summary.segments, _SHOWN),
    ).decode()  # fmt: skip
