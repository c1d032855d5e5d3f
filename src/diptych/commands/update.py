"""`diptych update`: visits the pages of a run again, and mines those that have changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from diptych.api.declare import option
from diptych.api.update import UpdateOptions, update_run
from diptych.commands.declare import command
from diptych.commands.mine import print_mined
from diptych.commands.options import as_object
from diptych.job.folder import is_job


@dataclass(frozen=True, kw_only=True)
class UpdateCommandOptions(UpdateOptions):
    """Options of `diptych update`."""

    as_json: bool = as_object()
    quiet: bool = option("Do not show progress.", default=False)


@command(UpdateCommandOptions)
def update(asked: UpdateCommandOptions) -> int:
    """Visit the pages of RUN, or of all runs of a job, again, and mine those that have changed.

    Pages that have not changed are not sent again, and their pairs are not aligned again.  Run the
    same command again to continue an interrupted update.
    """
    if is_job(asked.run):
        from diptych.api.job_update import update_job
        from diptych.commands._job import print_job

        return print_job(partial(update_job, asked), as_json=asked.as_json, quiet=asked.quiet)
    return print_mined(partial(update_run, asked), as_json=asked.as_json, quiet=asked.quiet)
