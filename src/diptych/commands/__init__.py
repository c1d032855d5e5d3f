"""The command line: `diptych X` is the module X in this folder."""

from __future__ import annotations

import click

from diptych._version import VERSION
from diptych.commands import (
    align,
    backlinks,
    demo,
    detect,
    discover,
    explain,
    export,
    lexicon,
    merge,
    mine,
    pair,
    rebuild,
    status,
    strategies,
    train,
    url_lang,
    url_pair,
)
from diptych.commands.options import Group


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="diptych")
def main() -> None:
    """Mine parallel text from the web: give it a website and two languages."""


for _command in (
    mine.mine, export.export, merge.merge, rebuild.rebuild, status.status, explain.explain,
    pair.pair, url_lang.url_lang, url_pair.url_pair, train.train, discover.discover, detect.detect,
    backlinks.backlinks, align.align, lexicon.lexicon, strategies.strategies, demo.demo,
):  # fmt: skip
    main.add_command(_command)
