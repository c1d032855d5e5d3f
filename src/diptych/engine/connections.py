"""Connections of the HTTP client: a limit on the bytes around a body, and the peer's address.

The parser of HTTP skips interim responses and extensions of chunks, however many arrive.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

# Bytes of a response that are not in its body, beyond as many as are: the parser allows 128 headers
# of 8 kB, and chunks of a few bytes take as much time as large ones.
_MAX_OVERHEAD = 1_200_000


class Connector(aiohttp.TCPConnector):
    """Opens connections that limit the overhead of each response."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        kind: type[ResponseHandler] = _Connection
        self._factory = partial(kind, loop=self._loop)


class Answer(aiohttp.ClientResponse):
    """A response that records the peer's IP address before the connection is closed."""

    peer = ""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head of the response."""
        if connection.transport is not None:
            self.peer = str((connection.transport.get_extra_info("peername") or ("",))[0])
        await super().start(connection)
        if isinstance(connection.protocol, _Connection):
            connection.protocol.body = self.content
        return self


class _Connection(ResponseHandler):
    """A connection on which a response fails if most of its bytes are overhead."""

    received = 0
    """bytes of the current response"""
    body: aiohttp.StreamReader | None = None
    """the body of the current response; None until its head has arrived"""

    def set_response_params(self, **settings: Any) -> None:
        """Prepare for the next response."""
        self.received, self.body = 0, None
        super().set_response_params(**settings)

    def data_received(self, data: bytes) -> None:
        """Parse the bytes that have arrived."""
        self.received += len(data)
        size = self.body.total_bytes if self.body is not None else 0
        if self.received - size <= _MAX_OVERHEAD + size + len(data):
            super().data_received(data)
            return
        error = ValueError("the response has too many bytes outside of its body")
        self.set_exception(error)
        if self.body is not None:
            self.body.set_exception(error)
        if self.transport is not None:
            self.transport.close()
