"""What the commands of the command line have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diptych.errors import DiptychError

__all__ = ["AS_LINES", "FILE", "FOUND", "LANGID", "LANGS", "MISTAKE", "NOTHING", "Group"]

FOUND, NOTHING, MISTAKE = 0, 1, 2
FILE = click.Path(path_type=Path)
AS_LINES = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")

LANGS = click.option(
    "--langs", required=True, metavar="en,fr", help="Two or more languages, ISO 639 codes."
)

LANGID = click.option(
    "--langid", "taught", multiple=True, type=FILE, metavar="FILE",
    help="A language you have taught, from: diptych train langid (also several).",
)  # fmt: skip


class Group(click.Group):
    """Commands in the order they are written down; our errors are one line and exit 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of ours ends it with its line."""
        try:
            return super().invoke(ctx)
        except DiptychError as error:
            click.echo(f"error: {error}", err=True)
            raise SystemExit(MISTAKE) from error
