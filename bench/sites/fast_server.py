"""Serve one built site from memory, so that the server is never what a crawl waits for.

    python -m bench.sites.fast_server FOLDER             serve until stopped; prints the home URL
    python -m bench.sites.fast_server FOLDER --measure   requests per second of this server alone

FOLDER is what the site builder makes: htdocs/, meta.json and perhaps routes.json. The answers
are those of `bench.sites.serve`, but made beforehand; one host only, no access log.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mimetypes
import selectors
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from bench.support.processes import give_up, running

INDEXES = ("index.html", "index.htm", "index.en.html", "Overview.en.html")
PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".php")
READY = "http://"


def answer(status: str, body: bytes, *headers: str) -> bytes:
    """Write one whole HTTP answer.

    >>> answer("200 OK", b"x", "Content-Type: text/html").splitlines()[0]
    b'HTTP/1.1 200 OK'
    """
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def page(file: Path) -> bytes:
    """Hand out a file; as in `bench.sites.serve`, no charset is named."""
    known = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    is_page = any(suffix in PAGE_SUFFIXES for suffix in file.suffixes)
    return answer("200 OK", file.read_bytes(), f"Content-Type: {'text/html' if is_page else known}")


def redirect(status: str, location: str) -> bytes:
    """Send a client elsewhere."""
    return answer(status, b"", f"Location: {location}", "Content-Type: text/html")


NOT_FOUND = answer("404 Not Found", b"<h1>404 Not Found</h1>", "Content-Type: text/html")


def load(folder: Path) -> dict[str, bytes]:
    """Prepare every answer of a site, by its decoded path, or by path and query."""
    if not (folder / "meta.json").is_file():
        give_up(f"{folder.name} is not a built site (no meta.json)")
    root = folder / "htdocs"
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    if meta.get("hosts"):
        give_up(f"{folder.name} has several hosts; this server knows one: use bench.sites.serve")
    files = sorted(file for file in root.rglob("*") if file.is_file())
    answers = {f"/{file.relative_to(root).as_posix()}": page(file) for file in files}
    for folder_path in sorted({file.parent for file in files}):
        _add_folder(answers, "/" + folder_path.relative_to(root).as_posix().lstrip("."))
    for path in [path for path in answers if path.endswith(".html")]:
        answers.setdefault(path.removesuffix(".html"), answers[path])
    _add_routes(answers, folder)
    return answers


def _add_folder(answers: dict[str, bytes], path: str) -> None:
    """Let a folder answer with its index page, and its name without a slash with a redirect."""
    base = path.rstrip("/")
    index = next(
        (answers[f"{base}/{name}"] for name in INDEXES if f"{base}/{name}" in answers), None
    )
    if index is not None:
        answers.setdefault(f"{base}/", index)
    if base and f"{base}.html" not in answers:
        answers[base] = redirect("301 Moved Permanently", quote(base) + "/")


def _add_routes(answers: dict[str, bytes], folder: Path) -> None:
    """Add the query routes and the redirects of a site that has some."""
    file = folder / "routes.json"
    routes: dict[str, dict[str, str]] = json.loads(file.read_text()) if file.is_file() else {}
    for target, name in routes.get("routes", {}).items():
        answers[target] = page(folder / "htdocs" / name)
    for path, location in routes.get("redirects", {}).items():
        answers[path] = redirect("302 Found", location)


def find(answers: dict[str, bytes], target: str) -> bytes:
    """Look up the answer to a request target: as it stands, without its query, decoded.

    >>> find({"/a b": b"page"}, "/a%20b?x=1")
    b'page'
    """
    path = target.partition("?")[0]
    for candidate in (target, path, unquote(path)):
        if candidate in answers:
            return answers[candidate]
    return NOT_FOUND


class Connection(asyncio.Protocol):
    """One kept-alive connection: a request head in, a ready-made answer out."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        """Answer from this table."""
        self.answers = answers
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request."""
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.reply(head)

    def reply(self, head: bytes) -> None:
        """Write the answer to one request."""
        method, _, rest = head.partition(b" ")
        found = find(self.answers, rest.partition(b" ")[0].decode("latin-1"))
        if method == b"HEAD":
            found = found[: found.index(b"\r\n\r\n") + 4]
        self.transport.write(found)
        if b"connection: close" in head.lower():
            self.transport.close()


async def listen(folder: Path, port: int) -> None:
    """Serve a site until the process is told to stop."""
    answers = load(folder)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = await loop.create_server(lambda: Connection(answers), "127.0.0.1", port)
    print(f"{READY}127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await stop.wait()
    server.close()


@contextmanager
def served_from_memory(folder: Path) -> Iterator[str]:
    """Serve a built site in a process of its own while the block runs; yields its home URL."""
    with running(
        [sys.executable, "-m", "bench.sites.fast_server", str(folder)], ready=READY
    ) as home:
        yield home


def measure(folder: Path, *, connections: int, seconds: float) -> tuple[float, float]:
    """Measure requests per second and mean answer size, with a client that does no work."""
    answers = load(folder)
    paths = [path for path, found in answers.items() if b" 200 OK" in found[:15]]
    with served_from_memory(folder) as home:
        port = urlsplit(home).port
        assert port is not None
        sizes = _ask(port, answers, paths, connections=connections, seconds=seconds)
    return len(sizes) / seconds, sum(sizes) / len(sizes)


def _ask(
    port: int, answers: dict[str, bytes], paths: list[str], *, connections: int, seconds: float
) -> list[int]:
    """Ask for the paths over and over, one request at a time on each connection."""
    waiting = selectors.DefaultSelector()
    sizes: list[int] = []
    turn = 0
    left: dict[int, int] = {}
    for _ in range(connections):
        client = socket.create_connection(("127.0.0.1", port))
        waiting.register(client, selectors.EVENT_READ, client)
        left[client.fileno()] = 0
    end = time.perf_counter() + seconds
    ready = [key.data for key in waiting.get_map().values()]
    while time.perf_counter() < end:
        for client in ready:
            number = client.fileno()
            left[number] -= len(client.recv(1 << 20)) if left[number] else 0
            if not left[number]:
                path = paths[turn % len(paths)]
                left[number] = len(answers[path])
                sizes.append(left[number])
                client.sendall(
                    f"GET {quote(path, safe='/?=&')} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                )
                turn += 1
        ready = [key.data for key, _ in waiting.select()]
    for key in list(waiting.get_map().values()):
        key.data.close()
    return sizes


def main() -> int:
    """Serve or measure a site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a built site")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--measure", action="store_true", help="print the speed of the server")
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    if options.measure:
        speed, size = measure(options.folder, connections=options.connections, seconds=5.0)
        print(f"{speed:,.0f} requests/s, mean answer {size / 1000:.1f} kB")
    else:
        asyncio.run(listen(options.folder, options.port))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
