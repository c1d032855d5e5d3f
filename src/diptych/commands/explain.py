"""`diptych explain`: explains what a run knows and has decided about a URL or a pair."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diptych.api.declare import argument
from diptych.commands.declare import command
from diptych.commands.options import FOUND


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Options of `diptych explain`."""

    run: Path = argument()
    urls: tuple[str, ...] = argument("[URL [URL]]", default=())


@command(ExplainOptions)
def explain(asked: ExplainOptions) -> int:
    """Explain what RUN knows and has decided about a URL or a pair of URLs.

    Without a URL, all rejected page pairs are listed.  RUN can also be a job.
    """
    from diptych.job.folder import is_job
    from diptych.reports.explain import explain as explained
    from diptych.run.terms import open_to_read

    if is_job(asked.run):
        from diptych.api.job import Job

        click.echo(Job(asked.run).explain(*asked.urls))
        return FOUND
    with open_to_read(asked.run) as store:
        click.echo(explained(store, asked.urls))
    return FOUND
