"""The demo: a small bilingual site of our own, served on loopback and mined end to end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import click

__all__ = ["GOLD", "SITE", "demo", "serve"]

SITE = Path(__file__).parent / "site"
GOLD = Path(__file__).parent / "gold.tsv"
PORT = 8735  # fixed where it is free, so that the same command goes on with the same run
TEMPLATED = ("robots.txt", "sitemap.xml")


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site; robots.txt and sitemap.xml name the address they are served from."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet: no waiting for acknowledgements
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer, templated files apart."""
        name = self.path.lstrip("/")
        if name not in TEMPLATED:
            super().do_GET()
            return
        origin = f"http://{self.headers.get('Host', 'localhost')}"
        body = (SITE / name).read_text("utf-8").replace("{{ORIGIN}}", origin).encode()
        self.send_response(200)
        self.send_header(
            "Content-Type", "text/plain" if name.endswith("txt") else "application/xml"
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the progress display is on the same terminal."""


@contextmanager
def serve(port: int = 0) -> Iterator[str]:
    """Serve the demo site on loopback and give its address."""
    handler = partial(_Handler, directory=str(SITE))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:  # the port is taken
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def demo(out: Path, *, as_json: bool) -> int:
    """Serve the site, mine it, and say where things are."""
    from diptych.commands import main

    with serve(PORT) as address:
        click.echo(f"serving the demo site at {address}", err=True)
        options = ["--langs", "en,fr", "--out", str(out), "--delay", "0.05", "--allow-private"]
        arguments = ["mine", address, *options]
        click.echo(f"diptych {' '.join(arguments)}", err=True)
        try:
            main.main([*arguments, *(["--json"] if as_json else [])], standalone_mode=False)
        except SystemExit as end:
            return int(end.code or 0)
    return 0
