"""`diptych demo`: serves the bundled bilingual site on loopback and mines it."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from diptych.api.declare import option
from diptych.commands.declare import command
from diptych.commands.options import as_object, environment, mark_saved

PORT = 8735  # used if it is free, so that the same command continues the same run


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options of `diptych demo`."""

    out: Path = option("Folder for the run.", default=Path("diptych-demo"))
    serve: bool = option(
        "Serve the site until Ctrl-C is pressed, without mining it.", default=False
    )
    port: int = option(
        "Port to serve the site on; if it is in use, another port is chosen.", default=PORT,
        least=0, most=65535, metavar="N", envvar="DIPTYCH_DEMO_PORT",
    )  # fmt: skip
    as_json: bool = as_object()


@command(DemoOptions)
def demo(asked: DemoOptions) -> int:
    """Serve the bundled bilingual site on loopback and mine it."""
    from diptych.commands.mine import mine
    from diptych.demo import SITE
    from diptych.engine.file_server import serve

    serving = "serving the demo site at "
    if asked.serve:
        with suppress(KeyboardInterrupt), serve(SITE, asked.port) as address:
            click.echo(f"{serving}{address}", err=True)
            while True:
                time.sleep(3600)
        return 0
    with serve(SITE, asked.port) as address:
        click.echo(f"{serving}{address}", err=True)
        out = ["--out", str(asked.out)]
        arguments = [address, "--langs", "en,fr", *out, "--delay", "0.05", "--allow-private"]
        click.echo(f"diptych mine {' '.join(arguments)}", err=True)
        mark_saved()
        arguments += ["--json"] if asked.as_json else []
        try:
            mine.main(arguments, standalone_mode=False, obj=environment())
        except SystemExit as end:
            return int(end.code or 0)
    return 0
