"""An HTTP server on loopback for a folder of files, such as the demo site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Thread
from typing import Any

TEMPLATED = ("robots.txt", "sitemap.xml")


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files in a folder; the server's URL is inserted into `TEMPLATED` files."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet: no waiting for acknowledgements
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Respond to a GET request; the server's URL is inserted into `TEMPLATED` files."""
        name = self.path.lstrip("/")
        if name not in TEMPLATED or not Path(self.directory, name).is_file():
            super().do_GET()
            return
        origin = f"http://{self.headers.get('Host', 'localhost')}"
        body = Path(self.directory, name).read_text("utf-8").replace("{{ORIGIN}}", origin).encode()
        self.send_response(200)
        self.send_header(
            "Content-Type", "text/plain" if name.endswith("txt") else "application/xml"
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the progress display is on the same terminal."""


class _Server(ThreadingHTTPServer):
    """A server that does not look up its own host name, which may take seconds."""

    daemon_threads = True

    def server_bind(self) -> None:
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])


@contextmanager
def serve(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder on loopback, and yield its URL; if the port is in use, choose another."""
    handler = partial(_Handler, directory=str(folder))
    try:
        server = _Server(("127.0.0.1", port), handler)
    except OSError:  # the port is in use
        server = _Server(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
