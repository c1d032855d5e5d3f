"""Crawls of all misbehaving sites: one crawl for each way to crawl them, on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from diptych.frontier.politeness import Limits
from support.crawling import Outcome, crawl
from support.misbehaviour.row import HASTY, PUBLIC, USUAL, Misbehaviour
from support.serving import MISSING, Answer, Request, Server, reserved, secure_server, serve

THEN = "then"  # between the addresses of the first and of all further look-ups

SETTINGS: dict[str, dict[str, Any]] = {
    USUAL: {},
    HASTY: {"stall": 0.5, "timeout": 1.0},
}


@dataclass
class Names(AbstractResolver):
    """Knows the hosts of the table; those of which it says nothing else are public."""

    addresses: dict[str, tuple[str, ...]]
    lookups: Counter[str] = field(default_factory=Counter)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = self.addresses.get(host, (PUBLIC,))
        if THEN in found:
            place = found.index(THEN)
            found = found[place + 1 :] if self.lookups[host] else found[:place]
        self.lookups[host] += 1
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            ResolveResult(
                hostname=host, host=address, port=port, proto=0, flags=socket.AI_NUMERICHOST,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            )
            for address in found
        ]  # fmt: skip

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class Crawled:
    """What became of the sites of a table, and what their server and the network saw."""

    outcome: Outcome
    server: Server
    ports: dict[str, int]
    connected: set[str]
    """the addresses that were connected to"""

    def url(self, row: Misbehaviour, path: str) -> str:
        """A URL of a row, from its path."""
        return (row.origin + path if path.startswith("/") else path).format(
            host=row.host, **self.ports
        )

    def became(self, url: str) -> str:
        """What became of a URL: `page`, a reason, or a state."""
        outcome = self.outcome
        url = url.removeprefix(outcome.base)
        if url in outcome.redirected:
            return "redirect"
        if url in outcome.pages:
            return "page"
        state = outcome.states.get(url)
        return outcome.reasons.get(url) or (state.name.lower() if state is not None else "unknown")

    def stopped(self, row: Misbehaviour) -> str:
        """Why no more requests are sent to the host of a row; empty if it is not stopped."""
        return self.outcome.stopped.get(self.url(row, row.origin), "")

    def requests(self, row: Misbehaviour) -> int:
        """How often the site of a row was asked."""
        return sum(site_of(request) == row.host for request in self.server.log)


def site_of(request: Request) -> str:
    """The site that a request is for, by its `Host` header."""
    host = request.headers.get("host", "").partition(":")[0]
    return ".".join(host.split(".")[-2:])


@contextmanager
def _others() -> Iterator[dict[str, int]]:
    """The ports of servers that offer a bad certificate, are mute, close, or do not listen."""
    with ExitStack() as stack:
        tls = stack.enter_context(secure_server())
        closed, mute = (stack.enter_context(reserved()) for _ in range(2))
        mute.listen()
        closing = stack.enter_context(_saying(b""))
        plain = stack.enter_context(_saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        places = {"closed": closed, "mute": mute, "closing": closing, "plain": plain}
        ports = {name: int(place.getsockname()[1]) for name, place in places.items()}
        yield {**ports, "tls": int(tls.rstrip("/").rpartition(":")[2])}


@contextmanager
def _saying(answer: bytes) -> Iterator[socket.socket]:
    """A server that reads the first bytes of each connection, says something, and closes it."""
    with reserved() as place:
        place.listen()
        thread = Thread(target=_say, args=(place, answer))
        thread.start()
        try:
            yield place
        finally:
            place.shutdown(socket.SHUT_RDWR)
            thread.join()


def _say(place: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = place.accept()
        except OSError:
            return
        with connection:
            connection.recv(10_000)
            connection.sendall(answer)


@contextmanager
def public_loopback() -> Iterator[set[str]]:
    """Let connections to `PUBLIC` reach loopback; gives the addresses that are connected to."""
    connected: set[str] = set()
    loops = asyncio.SelectorEventLoop
    connect = loops.sock_connect

    async def to_loopback(self: Any, sock: socket.socket, address: tuple[Any, ...]) -> None:
        connected.add(str(address[0]))
        if address[0] == PUBLIC:
            address = ("127.0.0.1", *address[1:])
        await connect(self, sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "sock_connect", to_loopback)
        yield connected


def crawled(table: Sequence[Misbehaviour], way: str, folder: Path) -> Crawled:
    """Crawl the sites of a table in one of the ways."""
    rows = {row.host: row for row in table if row.crawled == way}

    def site(request: Request) -> Answer:
        row = rows.get(site_of(request))
        return row.answer(request) if row else MISSING

    with _others() as ports, public_loopback() as connected, serve(site) as server:
        ports = {**ports, "port": server.port}
        addresses = {
            name.format(host=row.host): found
            for row in rows.values()
            for name, found in row.addresses.items()
        }
        outcome = crawl(
            *(f"{row.origin.format(host=row.host, **ports)}/" for row in rows.values()),
            folder=folder, resolver=Names(addresses), allow_private=False, backoff=1e-3,
            limits=Limits(attempts=2), **SETTINGS[way],
        )  # fmt: skip
        return Crawled(outcome, server, ports, connected)
