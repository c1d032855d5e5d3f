"""`diptych update`: visits the pages of a run again, and mines those that have changed."""

from __future__ import annotations

from dataclasses import dataclass

from diptych.api.declare import option
from diptych.api.update import UpdateOptions, update_run
from diptych.commands.declare import command
from diptych.commands.mine import print_mined
from diptych.commands.options import as_object


@dataclass(frozen=True, kw_only=True)
class UpdateCommandOptions(UpdateOptions):
    """Options of `diptych update`."""

    as_json: bool = as_object()
    quiet: bool = option("Do not show progress.", default=False)


@command(UpdateCommandOptions)
def update(asked: UpdateCommandOptions) -> int:
    """Visit the pages of RUN again, and mine those that have changed.

    Pages that have not changed are not sent again, and their pairs are not aligned again.  Run the
    same command again to continue an interrupted update.
    """
    return print_mined(
        lambda monitor, environment: update_run(asked, monitor, environment),
        as_json=asked.as_json,
        quiet=asked.quiet,
    )
