"""The command line: the command `diptych X` is defined in the module X of this package."""

from __future__ import annotations

from importlib import import_module

import click

from diptych._version import VERSION
from diptych.commands.options import Group

NAMES = (
    "mine update export terms merge rebuild status explain check pair url_lang url_pair train"
    " discover detect backlinks align lexicon strategies demo"
)
"""modules in the order of `diptych --help`; each defines a command of the same name"""


MAX_WIDTH = 110  # maximum columns of help texts


class _Commands(Group):
    """The commands in the order of `NAMES`; a module is imported when its command is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [name.replace("_", "-") for name in NAMES.split()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None if there is none."""
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            module = cmd_name.replace("-", "_")
            self.add_command(getattr(import_module(f"diptych.commands.{module}"), module))
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MAX_WIDTH},
)
@click.version_option(VERSION, prog_name="diptych")
def main() -> None:
    """Mine parallel text from websites in two or more languages."""
