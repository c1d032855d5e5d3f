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
    if not found:
        advice = "" if asked.min_count == 1 else "; try a lower --min-count"
        click.echo(
            f"no terms in {asked.run}: no term has the same translation in {asked.min_count:,}"
            f" segments{advice}",
            err=True,
        )
        return NOTHING
    labels = sum(term.kind == "label" for term in found)
    say_written(f"{len(found):,} terms, {labels:,} of them labels", files)
    return FOUND
