"""`diptych export`: writes the corpus of a run in a chosen format."""

from __future__ import annotations

from diptych.api.export import ExportOptions, export_run, lines_of, terms_of
from diptych.commands._corpus import say_written, standard_output, warn_unfinished
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING


@command(ExportOptions)
def export(asked: ExportOptions) -> int:
    """Write the corpus of RUN to a file, even while RUN is being mined.

    RUN can also be a job: its finished runs are merged.
    """
    from diptych.api.job_corpus import export_job
    from diptych.job.folder import is_job

    is_of_job = is_job(asked.run)
    if not is_of_job:
        terms_of(asked.run)  # a missing run is reported before any other error
    unit = lines_of(asked.exporter(n_way=asked.n_way), n_way=asked.n_way)
    written = (export_job if is_of_job else export_run)(asked, standard_output)
    warn_unfinished(asked.run)
    say_written(f"{written.lines:,} {unit}", written.files)
    return FOUND if written.lines else NOTHING
