"""An HTTP client with proxies, timeouts and size limits; network errors become a `Failure`."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from diptych.engine.addresses import guarded_socket, is_private_name, refused_addresses
from diptych.engine.clock import SteadyClock
from diptych.engine.connections import Answer, Connector
from diptych.engine.proxies import Proxies, Proxy
from diptych.errors import MachineError, machine_advice, without_password
from diptych.page.answer import REDIRECTS
from diptych.page.robots import MAX_ROBOTS_BYTES
from diptych.page.sitemaps import MAX_SITEMAP_BYTES
from diptych.reason import Reason
from diptych.text.urls import host_of, resolve
from diptych.types import Failure, Kind, Response, Url

ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2: at least five
HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
UNKNOWN_TYPES = ("", "text/plain", "application/octet-stream", "unknown/unknown")
_OUR_FAULTS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_MAX_VALIDATOR = 512  # characters; longer ones are not sent back
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:(\d{1,18})|\*)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Settings for HTTP requests."""

    agent: str
    proxy: str | None = None
    allow_private: bool = False
    concurrency: int = 64
    timeout: float = 60.0
    """seconds for a whole response"""
    stall: float = 20.0
    """seconds to wait for a connection, or for the next byte"""
    page_bytes: int = 10_000_000
    min_rate: float = 5_000.0
    """bytes per second; the download of a file that is slower is broken off"""
    rate_seconds: float = 60.0
    """seconds over which the rate of a download is measured"""
    resolver: AbstractResolver | None = None
    """resolves host names; None means this machine's resolver"""
    clock: Callable[[], float] = field(default_factory=SteadyClock, compare=False)
    """the time for delays, limits and the dates of responses"""


class NotWrittenError(Exception):
    """Raised if a download cannot be written: this is no fault of the web."""

    def __init__(self, fault: OSError) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(slots=True)
class Transfer:
    """A file that is downloaded in one or more requests."""

    out: BinaryIO
    """what has arrived so far"""
    etag: str = ""
    modified: str = ""
    """the `ETag` and `Last-Modified` of the version that is being downloaded"""
    total: int | None = None
    """the size of the whole file, if the server tells it"""
    restarts: int = 0
    """how often what had arrived was dropped"""

    @property
    def version(self) -> str:
        """The validator of the version that is being downloaded (RFC 9110, 13.1.5), if any."""
        chosen = self.etag if self.etag.startswith('"') else self.modified
        return chosen if chosen.isascii() and len(chosen) <= _MAX_VALIDATOR else ""

    @property
    def is_whole(self) -> bool:
        """True if all of the file has arrived, as far as the server tells."""
        return self.total is None or self.out.tell() >= self.total

    def headers(self) -> dict[str, str]:
        """The headers of a request for the rest of the file."""
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        if start := self.out.tell():
            headers |= {"Range": f"bytes={start}-", "If-Range": self.version}
        return headers

    def restart(self) -> None:
        """Drop what has arrived."""
        if self.out.tell():
            self.restarts += 1
            self.out.seek(0)
            self.out.truncate()

    def begin(self, answer: aiohttp.ClientResponse) -> bool:
        """Get ready for the body of a response; False if it is no part of the file.

        What has arrived is dropped if the response is another version of the file, or all of it.
        """
        sent = _RANGE.match(answer.headers.get("Content-Range", "").strip())
        start = self.out.tell()
        is_part = answer.status == 206 and sent is not None and int(sent[1]) == start
        if not is_part and answer.status != 200:
            return False
        total = int(sent[2]) if is_part and sent and sent[2] else None
        etag, modified = (answer.headers.get(name, "") for name in ("ETag", "Last-Modified"))
        if is_part and start:
            if not self._is_same(etag, modified, total):
                self.restart()
                return False
            self.total = total if self.total is None else self.total
            return True
        self.restart()
        self.etag, self.modified = etag, modified
        self.total = total if is_part else answer.content_length
        return True

    def _is_same(self, etag: str, modified: str, total: int | None) -> bool:
        """True if a part is one of the version that is being downloaded."""
        # Beside an ETag, a part need not have a date (RFC 9110, 15.3.7).
        is_dated = modified == self.modified or (not modified and self.version == self.etag)
        return (
            etag == self.etag and is_dated and (None in (total, self.total) or total == self.total)
        )

    def write(self, piece: bytes) -> None:
        """Write a piece of the file."""
        try:
            self.out.write(piece)
        except OSError as fault:
            raise NotWrittenError(fault) from fault


class Fetcher:
    """An HTTP client with persistent connections; use it as an asynchronous context manager."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._proxies = Proxies(settings.proxy)
        self._direct: aiohttp.ClientSession | None = None
        self._proxied: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetcher:
        guard = None if self._settings.allow_private else guarded_socket
        self._direct = self._session(Connector(
            limit=self._settings.concurrency, ttl_dns_cache=300, socket_factory=guard,
            resolver=self._settings.resolver,
        ))  # fmt: skip
        # The proxy itself may be on a private address: the user chose it.
        self._proxied = self._session(Connector(limit=self._settings.concurrency))
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in (self._direct, self._proxied):
            if session is not None:
                await session.close()

    def _session(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        settings = self._settings
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=Answer,
            timeout=aiohttp.ClientTimeout(
                total=settings.timeout, sock_connect=settings.stall, sock_read=settings.stall
            ),
            headers={
                "User-Agent": settings.agent,
                "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
                "Accept-Encoding": "gzip, br, zstd",
            },
        )

    async def fetch(
        self, url: Url, kind: Kind, headers: Mapping[str, str] | None = None
    ) -> Response | Failure:
        """Fetch a URL, with additional request headers; redirects are returned as responses.

        Only the redirects of robots.txt are followed.
        """
        if kind is not Kind.ROBOTS:
            return await self._get(url, partial(self._take, url, kind), headers)
        target: Url = url
        for _ in range(ROBOTS_REDIRECTS + 1):
            response = await self._get(target, partial(self._take, target, kind))
            if isinstance(response, Failure) or response.status not in REDIRECTS:
                break
            following = resolve(target, response.header("Location"))
            if following is None:
                break
            target = following
        return replace(response, url=url)

    async def fetch_range(self, url: Url, start: int, length: int) -> Response | Failure:
        """Fetch at most `length` bytes of a file from `start` on; redirects are not followed.

        The body is empty unless the server sends exactly a part that begins at `start`.
        """
        asked = {
            "Range": f"bytes={start}-{start + length - 1}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
        }
        take = partial(_take_range, url, start, length, self._settings.clock)
        return await self._get(url, take, asked)

    async def fetch_file(self, url: Url, transfer: Transfer) -> Response | Failure:
        """Fetch the rest of a file; the body of the response is empty, redirects are not followed.

        Nothing is written if the server sends something else.
        """
        return await self._get(url, partial(self._take_file, url, transfer), transfer.headers())

    async def _get(
        self,
        url: Url,
        take: Callable[[aiohttp.ClientResponse], Awaitable[Response]],
        headers: Mapping[str, str] | None = None,
    ) -> Response | Failure:
        try:
            proxy = self._proxies.proxy_for(url)
        except ValueError as error:
            return Failure(url, Reason.CONNECT, str(error))
        session = self._proxied if proxy else self._direct
        assert session is not None, "use the fetcher in an `async with` block"
        if proxy and not self._settings.allow_private and is_private_name(host_of(url)):
            return Failure(url, Reason.PRIVATE_ADDRESS, host_of(url))
        refused: list[str] = []
        refused_addresses.set(refused)
        try:
            request = session.get(
                URL(url, encoded=True), allow_redirects=False, **_headers(url, proxy, headers)
            )
            async with request as answer:
                return await take(answer)
        except (aiohttp.ClientError, OSError, ValueError, asyncio.IncompleteReadError) as error:
            _raise_if_ours(url, error)
            return _failure(url, error, refused)

    async def _take(self, url: Url, kind: Kind, answer: aiohttp.ClientResponse) -> Response:
        truncated, body = await self._body(kind, answer)
        return _response(url, answer, body, self._settings.clock, truncated)

    async def _body(self, kind: Kind, answer: aiohttp.ClientResponse) -> tuple[str, bytes]:
        """Read the body; return the reason for truncation (empty if complete) and the body."""
        limit = self._limit(kind)
        if kind is Kind.PAGE and answer.status not in REDIRECTS and not _may_be_html(answer):
            answer.close()
            return "content_type", b""
        length = answer.content_length
        if length is not None and length > limit and kind is not Kind.ROBOTS:
            answer.close()
            return "length", b""
        if length is not None and length <= limit:
            return "", await answer.read()
        chunks: list[bytes] = []
        size = 0
        async for chunk in answer.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                answer.close()
                return "length", b"".join(chunks)[:limit]
        return "", b"".join(chunks)

    async def _take_file(
        self, url: Url, transfer: Transfer, answer: aiohttp.ClientResponse
    ) -> Response:
        """Write the body to a file, if it is the file or the rest of it."""
        if not transfer.begin(answer):
            answer.close()
            return _response(url, answer, b"", self._settings.clock)
        since, size, rate = time.monotonic(), 0, self._settings.min_rate
        async for piece in answer.content.iter_any():
            transfer.write(piece)
            size += len(piece)
            seconds = time.monotonic() - since
            if seconds >= self._settings.rate_seconds:
                if size < rate * seconds:
                    raise TimeoutError(f"it sends fewer than {rate:,.0f} bytes per second")
                since, size = time.monotonic(), 0
        return _response(url, answer, b"", self._settings.clock)

    def _limit(self, kind: Kind) -> int:
        if kind is Kind.SITEMAP:
            return MAX_SITEMAP_BYTES
        return MAX_ROBOTS_BYTES if kind is Kind.ROBOTS else self._settings.page_bytes


def _response(
    url: Url, answer: aiohttp.ClientResponse, body: bytes, clock: Callable[[], float],
    truncated: str = "",
) -> Response:  # fmt: skip
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.raw_headers
    )
    peer = getattr(answer, "peer", "")
    return Response(url, answer.status, headers, body, clock(), peer, truncated)


async def _take_range(
    url: Url, start: int, length: int, clock: Callable[[], float], answer: aiohttp.ClientResponse
) -> Response:
    """Read the part of a file that was asked for; a body of any other kind is not read."""
    sent = _RANGE.match(answer.headers.get("Content-Range", "").strip())
    is_part = answer.status == 206 and sent is not None and int(sent[1]) == start
    if not is_part:
        answer.close()
        return _response(url, answer, b"", clock)
    chunks: list[bytes] = []
    size = 0
    async for chunk in answer.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > length:
            answer.close()
            break
    return _response(url, answer, b"".join(chunks)[:length], clock)


def _headers(url: Url, proxy: Proxy | None, own: Mapping[str, str] | None) -> dict[str, Any]:
    """The proxy and the headers of a request as arguments; only the proxy gets its password."""
    if proxy is None:
        return {"headers": own}
    if url.startswith("https:"):  # a tunnel through the proxy
        return {"headers": own, "proxy": proxy.url, "proxy_headers": dict(proxy.headers)}
    return {"headers": {**(own or {}), **proxy.headers}, "proxy": proxy.url}


def _may_be_html(answer: aiohttp.ClientResponse) -> bool:
    declared = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return declared in HTML_TYPES or declared in UNKNOWN_TYPES


def _raise_if_ours(url: Url, error: Exception) -> None:
    """Raise a `MachineError` if this machine is the reason for a fault, and not the web.

    Otherwise, hosts would be given up because this process has too many open files.
    """
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, OSError) and cause.errno in _OUR_FAULTS:
        said = f"cannot connect to {host_of(url)}: {os.strerror(cause.errno)}"
        raise MachineError(f"{said}; {machine_advice(cause)}") from error


def _failure(url: Url, error: Exception, refused: list[str]) -> Failure:
    """Convert an error to a `Failure`; `refused` lists the private addresses that were refused."""
    text = without_password(str(error)) or type(error).__name__
    reason = next((reason for kinds, reason in _REASONS if isinstance(error, kinds)), None)
    if reason is Reason.CONNECT and refused:
        reason = Reason.PRIVATE_ADDRESS
    elif reason is Reason.CONNECT and _is_refusal(error):
        reason = Reason.CONNECTION_REFUSED
    return Failure(url, reason or Reason.PROTOCOL, text[:200])


def _is_refusal(error: Exception) -> bool:
    """True if the server itself, rather than a proxy, refused the connection."""
    is_of_server = not isinstance(error, aiohttp.ClientProxyConnectionError)
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return is_of_server and getattr(cause, "errno", None) == errno.ECONNREFUSED


_REASONS: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    ((TimeoutError,), Reason.TIMEOUT),
    ((aiohttp.ClientConnectorDNSError,), Reason.DNS),
    ((aiohttp.ClientConnectorCertificateError,), Reason.BAD_CERTIFICATE),
    ((aiohttp.ClientSSLError,), Reason.TLS),
    ((aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError), Reason.CONNECT),
    ((aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError), Reason.DISCONNECTED),
    ((aiohttp.ClientOSError,), Reason.DISCONNECTED),
    ((aiohttp.ClientResponseError, aiohttp.InvalidURL, ValueError), Reason.PROTOCOL),
    ((OSError,), Reason.CONNECT),
)
