"""`diptych status`: shows the progress of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diptych.api.declare import argument
from diptych.commands.declare import command
from diptych.commands.options import FOUND, as_object, summary_console


@dataclass(frozen=True, kw_only=True)
class StatusOptions:
    """Options of `diptych status`."""

    run: Path = argument()
    as_json: bool = as_object("Print one JSON object.")


@command(StatusOptions)
def status(asked: StatusOptions) -> int:
    """Show the progress of RUN, or of a job, even while it is running."""
    from diptych.job.folder import is_job
    from diptych.run.terms import open_to_read, read_terms

    if is_job(asked.run):
        from diptych.commands._job import job_status

        return job_status(asked.run, as_json=asked.as_json)
    terms = read_terms(asked.run)
    if "detect" in terms.recipe:
        from diptych.reports.site_page import SearchSummary, follows_links

        with open_to_read(asked.run) as store:
            standing = SearchSummary.of(store)
        lines = standing.lines(follows_links=follows_links(terms))
        click.echo(standing.to_json() if asked.as_json else "\n".join(lines))
        return FOUND
    from diptych.commands.mine import to_json
    from diptych.reason import SiteEnd
    from diptych.reports.funnel import print_funnel
    from diptych.reports.reasons import ends_in_words
    from diptych.reports.summary import summarise

    with open_to_read(asked.run) as store:
        summary = summarise(store, terms.langs)
    if asked.as_json:
        click.echo(to_json(summary))
    else:
        notes = ends_in_words(
            (site, end)
            for site, end in summary.ends
            if end.is_decided or end is SiteEnd.INTERRUPTED
        )
        print_funnel(summary_console(stderr=False), summary, asked.run, notes)
    return FOUND
