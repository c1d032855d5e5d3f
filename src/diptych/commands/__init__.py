"""The command line: the command `diptych X` is defined in the module X of this package."""

from __future__ import annotations

from importlib import import_module

import click

from diptych._version import VERSION
from diptych.commands.options import Group

NAMES = (
    "mine update export terms merge rebuild status explain pair url_lang url_pair train discover"
    " detect backlinks align lexicon strategies demo"
)
"""modules in the order of `diptych --help`; each defines a command of the same name"""


MAX_WIDTH = 110  # maximum columns of help texts


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MAX_WIDTH},
)
@click.version_option(VERSION, prog_name="diptych")
def main() -> None:
    """Mine parallel text from websites in two or more languages."""


for _name in NAMES.split():
    main.add_command(getattr(import_module(f"diptych.commands.{_name}"), _name))
