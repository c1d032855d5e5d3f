"""A real web server on loopback that can answer badly: bodies stall, connections are reset.

`serve` answers for a site in a thread.  A site is a mapping from paths to answers, or a function
of the request.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock, Thread
from typing import NamedTuple


class Request(NamedTuple):
    """One request as the server saw it; nth says how often that was asked of the host before."""

    at: float
    method: str
    path: str
    headers: dict[str, str]
    nth: int = 0


@dataclass(frozen=True)
class Reply:
    """A well-formed answer; framing is `length`, `chunked` or `close`."""

    body: str | bytes = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    type: str = "text/html; charset=utf-8"
    framing: str = "length"
    wait: float = 0.0

    def raw(self, origin: str = "http://example.org") -> bytes:
        """The bytes of the answer; `{origin}` in it is the address of the server."""
        body = self.body
        body = body.replace("{origin}", origin).encode() if isinstance(body, str) else body
        head = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        if self.type:
            head.append(f"Content-Type: {self.type}")
        head += [f"{name}: {value.replace('{origin}', origin)}" for name, value in self.headers]
        if self.framing == "length":
            head.append(f"Content-Length: {len(body)}")
        elif self.framing == "chunked":
            head.append("Transfer-Encoding: chunked")
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        else:
            head.append("Connection: close")
        return "\r\n".join([*head, "", ""]).encode() + body


@dataclass(frozen=True)
class Fault:
    """An answer that breaks the rules: some bytes, then what is done with the connection.

    then is `close`, `reset`, `stall` (until the client goes), `drip` (a byte now and then) or
    `flood` (the same piece again and again, without end).
    """

    sent: bytes = b""
    then: str = "close"
    piece: bytes = b""
    """what is sent again and again; if nothing is given, a blank or many zeros"""


Answer = Reply | Fault
Site = Mapping[str, Answer | Callable[[Request], Answer]] | Callable[[Request], Answer]

MISSING = Reply("not here", 404, type="text/plain")


class Server:
    """Answers for one site; `log` is what it was asked, `busiest` how much of that at once."""

    def __init__(
        self, site: Site, *, latency: float = 0.0, place: socket.socket | None = None
    ) -> None:
        self.log: list[Request] = []
        self.busiest = 0
        self.before: Callable[[Request], None] = lambda request: None
        """is done before a request is answered"""
        self.flooded: Counter[str] = Counter()
        """bytes of a flood that went out before the client hung up, by path"""
        self._site = site
        self._asked: Counter[tuple[str, str]] = Counter()
        self._latency = latency
        self._busy = 0
        self._lock = Lock()
        self._closing = Event()
        self._connections: set[socket.socket] = set()
        self._threads: list[Thread] = []
        self._listener = reserved() if place is None else place.dup()
        self._listener.listen(128)
        self.port: int = self._listener.getsockname()[1]
        self.url = url_of(self._listener)

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.log]

    def times(self, path: str) -> list[float]:
        """When a path was asked for."""
        return [request.at for request in self.log if request.path == path]

    def gaps(self) -> list[float]:
        """Seconds between each request and the one before it."""
        times = [request.at for request in self.log]
        return [after - before for before, after in pairwise(times)]

    def start(self) -> None:
        """Answer from threads of its own."""
        self._start(self._accept)

    def stop(self) -> None:
        """Break all connections off and wait for the threads."""
        self._closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._connections.add(connection)
            self._start(self._converse, connection)

    def _converse(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError), connection, connection.makefile("rb") as stream:
                while (request := self._read(stream)) is not None:
                    if not self._handle(request, connection):
                        return
        finally:
            with self._lock:
                self._connections.discard(connection)

    def _read(self, stream: Iterable[bytes]) -> Request | None:
        lines: list[str] = []
        for line in stream:
            if not line.strip():
                break
            lines.append(line.decode("latin-1").strip())
        if not lines:
            return None
        method, path, _ = lines[0].split(" ", 2)
        fields = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        asked = headers.get("host", ""), path
        with self._lock:
            request = Request(time.monotonic(), method, path, headers, self._asked[asked])
            self._asked[asked] += 1
            self.log.append(request)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        return request

    def _handle(self, request: Request, connection: socket.socket) -> bool:
        """Answer a request; False when the connection is used up."""
        try:
            self.before(request)
            answer = self._answer(request)
            if isinstance(answer, Fault):
                self._play(answer, request, connection)
                return False
            self._closing.wait(self._latency + answer.wait)
            raw = answer.raw("http://" + request.headers.get("host", ""))
        finally:
            with self._lock:
                self._busy -= 1  # before the answer is out: the next request may be faster than we
        connection.sendall(raw)
        return answer.framing != "close"

    def _answer(self, request: Request) -> Answer:
        answer = self._site if callable(self._site) else self._site.get(request.path, MISSING)
        return answer if isinstance(answer, Reply | Fault) else answer(request)

    def _play(self, fault: Fault, request: Request, connection: socket.socket) -> None:
        connection.sendall(fault.sent)
        if fault.then == "stall":
            connection.recv(1)
        elif fault.then == "drip":
            while not self._closing.wait(0.1):
                connection.sendall(fault.piece or b" ")
        elif fault.then == "flood":
            piece = fault.piece or bytes(65_536)
            while not self._closing.is_set():
                connection.sendall(piece)
                self.flooded[request.path] += len(piece)
        elif fault.then == "reset":
            # The client must have read what came before, or its system throws that away too.
            self._closing.wait(0.2)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reserved() -> socket.socket:
    """A place on loopback where connections are refused, and no other process can listen."""
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    return place


def url_of(place: socket.socket) -> str:
    """The address of whoever listens at a place."""
    return f"http://127.0.0.1:{place.getsockname()[1]}/"


@contextmanager
def serve(
    site: Site, *, latency: float = 0.0, place: socket.socket | None = None
) -> Iterator[Server]:
    """A site on loopback for the time of a test."""
    server = Server(site, latency=latency, place=place)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def secure_server() -> Iterator[str]:
    """The address of a server on loopback whose certificate is signed by nobody but itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    with reserved() as place:
        place.listen()
        thread = Thread(target=_shake_hands, args=(place, context))
        thread.start()
        try:
            yield url_of(place).replace("http://", "https://")
        finally:
            place.shutdown(socket.SHUT_RDWR)
            thread.join()


def _shake_hands(place: socket.socket, context: ssl.SSLContext) -> None:
    """Offer a certificate to each client, until the place is shut down."""
    with suppress(OSError):
        while True:
            connection, _ = place.accept()
            with connection, suppress(OSError), context.wrap_socket(connection, server_side=True):
                pass
