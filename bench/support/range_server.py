"""A web server on loopback that sends parts of the files in a folder, and logs what it is asked."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import unquote

_RANGE = re.compile(r"bytes=(\d+)-(\d+)\Z")


class Asked(NamedTuple):
    """A request for a part of a file; `length` is the number of bytes that were sent."""

    path: str
    start: int
    length: int
    at: float
    agent: str


class Refusal(NamedTuple):
    """An answer without a part of a file; `cut` is a number of bytes of it to send instead."""

    status: int = 503
    headers: tuple[tuple[str, str], ...] = ()
    cut: int | None = None


@dataclass
class RangeServer:
    """A running server."""

    root: Path
    url: str = ""
    log: list[Asked] = field(default_factory=list)
    refuse: Callable[[Asked], Refusal | None] = lambda asked: None
    """decides on each request before it is answered"""
    busiest: int = 0
    """largest number of requests at the same time"""
    _busy: int = 0
    _lock: Lock = field(default_factory=Lock)

    def sent(self, under: str = "") -> int:
        """The number of bytes sent of files whose paths begin so."""
        return sum(asked.length for asked in self.log if asked.path.startswith(under))

    def parts(self, under: str = "") -> list[tuple[str, int, int]]:
        """The parts sent of files whose paths begin so, in order."""
        return [asked[:3] for asked in self.log if asked.path.startswith(under) and asked.length]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        with self._lock:
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            self._answer(handler)
        finally:
            with self._lock:
                self._busy -= 1

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = unquote(handler.path.lstrip("/"))
        file = self.root / path
        found = _RANGE.match(handler.headers.get("Range", ""))
        start, last = (int(found[1]), int(found[2])) if found else (0, 1 << 60)
        size = file.stat().st_size if file.is_file() else 0
        data = b""
        if file.is_file() and start < size:
            with file.open("rb") as stream:
                stream.seek(start)
                data = stream.read(min(last + 1, size) - start)
        agent = handler.headers.get("User-Agent", "")
        asked = Asked(path, start, len(data), time.monotonic(), agent)
        refusal = self.refuse(asked)
        status = (206 if found else 200) if data else 416 if file.is_file() else 404
        headers = [("Content-Range", f"bytes {start}-{start + len(data) - 1}/{size}")]
        if refusal is not None and refusal.cut is None:
            asked, data = asked._replace(length=0), b""
            status, headers = refusal.status, list(refusal.headers)
        with self._lock:
            self.log.append(asked)
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data if refusal is None else data[: refusal.cut or 0])
        if refusal is not None and refusal.cut is not None:
            handler.close_connection = True


@contextmanager
def serve_ranges(root: Path) -> Iterator[RangeServer]:
    """Serve the files in a folder inside the context."""
    server = RangeServer(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def server_bind(self) -> None:
            """Bind without asking a resolver for the name of this machine."""
            TCPServer.server_bind(self)
            self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

        def handle_error(self, *_: Any) -> None:
            """Say nothing of clients that are gone."""

    listener = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listener.server_address[1]}/"
    thread = Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
