"""`diptych terms`: lists the terms of a run's site with their translations."""

from __future__ import annotations

import click

from diptych.api.terms import TermsOptions, write_run_terms
from diptych.commands._corpus import say_written, standard_output, warn_unfinished
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING


@command(TermsOptions)
def terms(asked: TermsOptions) -> int:
    """List the terms of RUN's site with their translations, the most useful first.

    Terms are short labels, such as menu items and headings, and expressions that the sentences of
    the corpus translate in the same way again and again.

    Each line has the term and its translation, their languages, count, confidence, kind (label or
    term), and an example with the URLs of its pages.
    """
    found, files = write_run_terms(asked, standard_output)
    warn_unfinished(asked.run)
    labels = sum(term.kind == "label" for term in found)
    say_written(f"{len(found):,} terms, {labels:,} of them labels", files)
    if not found:
        advice = "" if asked.min_count == 1 else "; try --min-count 1"
        click.echo(
            f"no terms: no translation occurs {asked.min_count:,} times or more in the segments of"
            f" {asked.run}{advice}",
            err=True,
        )
    return FOUND if found else NOTHING
