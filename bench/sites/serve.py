"""Serve built sites on loopback, each host on a port of its own.

    python -m bench.sites.serve SITE... [--logs DIR]

SITE is the folder of a built site, or the name of one.  Prints the home page and the hosts of each
site as JSON, then serves until it is stopped.  With `--logs` every answer is a line of DIR/SITE.log
in the common log format; a path on the host of French begins with `//fr/`.  No charset is sent, as
pages declare their own, often old, encodings.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from aiohttp import web

from bench.sites.archive import HOST
from bench.sites.built import ServedSite, built_folder
from bench.sites.engine import BuiltSite
from bench.support.processes import give_up
from diptych.types import Url

_METHODS = ("GET", "HEAD")


class _Host:
    """One host of a site: answers requests, and notes them."""

    def __init__(self, site: BuiltSite, label: str, log: TextIO | None) -> None:
        self.site, self.label, self.log = site, label, log

    async def answer(self, request: web.BaseRequest) -> web.Response:
        """The file that a URL leads to, a redirect, or that there is none."""
        url = Url(f"http://{self.label or 'www'}.{HOST}{request.raw_path}")
        sent = self.site.respond(url, 0.0) if request.method in _METHODS else None
        if sent is None:
            response = web.Response(status=405)
        else:
            headers = dict(sent[0].headers)
            response = web.Response(status=sent[0].status, headers=headers, body=sent[0].body)
        self._note(request, response.status, len(sent[0].body) if sent else 0)
        return response

    def _note(self, request: web.BaseRequest, status: int, length: int) -> None:
        if self.log is not None:
            now = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S %z")
            path = f"//{self.label}{request.raw_path}" if self.label else request.raw_path
            agent = request.headers.get("User-Agent", "-").replace('"', "'")
            asked = f'"{request.method} {path} HTTP/1.1"'
            print(f'{request.remote} - - [{now}] {asked} {status} {length} "{agent}"',
                  file=self.log, flush=True)  # fmt: skip


async def listen(sites: Sequence[BuiltSite], logs: Path | None) -> None:
    """Serve sites until the process is told to stop."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with ExitStack() as files:
        runners: list[web.ServerRunner] = []
        served = {}
        for site in sites:
            log = None
            if logs is not None:
                name = logs / f"{site.folder.name}.log"
                log = files.enter_context(name.open("a", encoding="utf-8"))
            served[site.folder.name] = await _listen_to(site, log, runners)
        print(json.dumps(served), flush=True)
        await stop.wait()
        for runner in runners:
            await runner.cleanup()


async def _listen_to(
    site: BuiltSite, log: TextIO | None, runners: list[web.ServerRunner]
) -> ServedSite:
    """Open a port for each host of a site."""
    for label in site.hosts or [""]:
        runner = web.ServerRunner(web.Server(_Host(site, label, log).answer))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address, port = runner.addresses[0][:2]
        site.authorities[label] = f"{address}:{port}"
        runners.append(runner)
    first = site.authorities[site.pivot if site.hosts else ""]
    return ServedSite(f"http://{first}/", [f"http://{name}" for name in site.authorities.values()])


def main() -> None:
    """Serve the sites given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sites", nargs="+", type=Path, metavar="SITE")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="folder for access logs")
    options = parser.parse_args()
    folders = [site if site.is_dir() else built_folder() / site for site in options.sites]
    for folder in folders:
        if not (folder / "meta.json").is_file():
            give_up(f"{folder} is no built site")
    if options.logs is not None:
        options.logs.mkdir(parents=True, exist_ok=True)
    asyncio.run(listen([BuiltSite(folder) for folder in folders], options.logs))


if __name__ == "__main__":
    main()
