"""Read parts of files at a service, politely: over HTTP, from S3 and other stores, from a folder.

All requests share one budget: at most `connections` at a time, `delay` seconds between them, and a
service that asks for less is left alone for a while.
"""

from __future__ import annotations

import asyncio
import errno
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

from diptych.engine.event_loop import EventLoopThread
from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.engine.patience import Patience
from diptych.errors import ConfigError, in_one_line
from diptych.files import parser_errors, reason_of
from diptych.learn.libraries import library
from diptych.page.robots import retry_after
from diptych.reason import Reason
from diptych.text.urls import normalise
from diptych.types import Failure, Response, Url

TICK = 0.1  # seconds between ticks while nothing arrives
_TIMEOUT = 300.0  # seconds for a whole part
Found = TypeVar("Found", bytes, int)
_TOTAL = re.compile(r"bytes \d+-\d+/(\d{1,18})\Z", re.IGNORECASE)


class Part(NamedTuple):
    """A part of a file: the path of the file at the service, and the place of the bytes."""

    path: str
    start: int
    length: int

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.start + self.length


class Store(Protocol):
    """A place with files that can be read in parts."""

    async def read(self, part: Part) -> bytes | Failure:
        """Read a part once; fewer bytes if the file ends before."""
        ...

    async def size(self, path: str) -> int | Failure:
        """The size of a file in bytes."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


@dataclass(slots=True)
class PoliteReader:
    """Reads parts of the files of one service; use it as a context manager."""

    store: Store
    patience: Patience = field(default_factory=Patience)
    connections: int = 1
    requests: int = 0
    """requests sent so far"""
    received: int = 0
    """bytes received so far"""
    _loop: EventLoopThread = field(default_factory=EventLoopThread)

    def __enter__(self) -> PoliteReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop.is_started:
            self._loop.run(self.store.close())
            self._loop.close()

    def read(self, part: Part, tick: Callable[[], None]) -> bytes | Failure:
        """Read a part; if the file ends before, there are fewer bytes."""
        ((_, found),) = self.read_all([part], tick)
        return found

    def size(self, path: str) -> int | Failure:
        """The size of a file in bytes."""
        return self._loop.run(self._patiently(partial(self.store.size, path)))

    def read_all(
        self, parts: Iterable[Part], tick: Callable[[], None]
    ) -> Iterator[tuple[Part, bytes | Failure]]:
        """Read parts, and yield them as they arrive; `tick` is called ten times a second.

        Only as many parts as there are connections are taken ahead of those that were yielded.
        """
        waiting = iter(parts)
        running: dict[Future[bytes | Failure], Part] = {}
        try:
            while True:
                while len(running) < self.connections and (part := next(waiting, None)):
                    reading = self._patiently(partial(self.store.read, part))
                    running[asyncio.run_coroutine_threadsafe(reading, self._loop.loop)] = part
                if not running:
                    return
                tick()
                for future in wait(running, TICK, FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            for future in running:
                future.cancel()

    async def _patiently(self, ask: Callable[[], Awaitable[Found | Failure]]) -> Found | Failure:
        """Send a request, and repeat it while the service is busy; the result or last failure."""

        async def counted() -> Found | Failure:
            self.requests += 1
            found = await ask()
            if isinstance(found, bytes):
                self.received += len(found)
            return found

        return await self.patience.ask(counted)


@dataclass(slots=True)
class WebStore:
    """Files at a web server that sends parts of files."""

    base: str
    settings: FetchSettings
    _fetcher: Fetcher | None = None

    async def read(self, part: Part) -> bytes | Failure:
        """Read a part of a file."""
        answer = await self._ask(part)
        if isinstance(answer, Failure):
            return answer
        total = _TOTAL.match(answer.header("Content-Range").strip())
        whole = min(part.end, int(total[1]) if total else part.end) - part.start
        if len(answer.body) != whole:
            return Failure(answer.url, Reason.CUT_OFF, "the response is incomplete")
        return answer.body

    async def size(self, path: str) -> int | Failure:
        """The size of a file, from the response to a request for its first byte."""
        answer = await self._ask(Part(path, 0, 1))
        if isinstance(answer, Failure):
            return answer
        total = _TOTAL.match(answer.header("Content-Range").strip())
        if total is None:
            return Failure(answer.url, Reason.WRONG_SHAPE, "the server does not tell its size")
        return int(total[1])

    async def _ask(self, part: Part) -> Response | Failure:
        url = normalise(self.base + part.path)
        if url is None:
            return Failure(Url(part.path), Reason.WRONG_SHAPE, "this is not the path of a file")
        if self._fetcher is None:
            self._fetcher = await Fetcher(self.settings).__aenter__()
        answer = await self._fetcher.fetch_range(url, part.start, part.length)
        if isinstance(answer, Failure) or (answer.status == 206 and answer.body):
            return answer
        if answer.status in (200, 206):
            said = "the server does not send parts of files"
            return Failure(url, Reason.WRONG_SHAPE, said)
        said = f"the server returned HTTP {answer.status}"
        return Failure(url, f"http_{answer.status}", said, retry_after(answer))

    async def close(self) -> None:
        """Close all connections."""
        if self._fetcher is not None:
            await self._fetcher.__aexit__()


@dataclass(slots=True)
class FileStore:
    """Files in a folder of this machine, or in any store that fsspec knows, such as S3."""

    base: str
    _system: Any = None
    """the file system of fsspec; None for a folder"""

    async def read(self, part: Part) -> bytes | Failure:
        """Read a part of a file, in another thread."""
        return await self._in_thread(part.path, partial(self._read, part))

    async def size(self, path: str) -> int | Failure:
        """The size of a file."""
        return await self._in_thread(path, partial(self._size, path))

    async def _in_thread(self, path: str, work: Callable[[], Found]) -> Found | Failure:
        try:
            return await asyncio.to_thread(work)
        except FileNotFoundError:
            return Failure(Url(path), "http_404", "there is no such file")
        except PermissionError as fault:
            return Failure(Url(path), "http_403", reason_of(fault))
        except parser_errors() as fault:
            return Failure(Url(path), self._reason(fault), reason_of(fault))

    def _reason(self, fault: Exception) -> str:
        """The reason for a failure other than a missing file, in terms of HTTP."""
        if self._system is None or not isinstance(fault, OSError):
            return Reason.WRONG_SHAPE
        # s3fs has this error for a part behind the end of a file.
        return "http_416" if fault.errno == errno.EINVAL else "http_503"

    def _read(self, part: Part) -> bytes:
        if self._system is not None:
            name = self._name(part.path)
            data: bytes = self._system.cat_file(name, start=part.start, end=part.end)
            return data[: part.length]
        with Path(self._name(part.path)).open("rb") as stream:
            stream.seek(part.start)
            return stream.read(part.length)

    def _size(self, path: str) -> int:
        if self._system is not None:
            return int(self._system.size(self._name(path)))
        return Path(self._name(path)).stat().st_size

    def _name(self, path: str) -> str:
        return self.base + path

    async def close(self) -> None:
        """Nothing is open."""


def open_store(base: str, settings: FetchSettings) -> Store:
    """The store at a base URL (http, https, file, s3 and others of fsspec) or in a folder."""
    folder = base if base.endswith("/") else f"{base}/"
    scheme = urlsplit(folder).scheme if "://" in folder else ""
    if scheme in ("http", "https"):
        if normalise(folder) is None:
            raise ConfigError(f"'{in_one_line(base)}' is not a valid URL")
        return WebStore(folder, replace(settings, timeout=_TIMEOUT))
    if not scheme or scheme == "file":
        path = Path(url2pathname(urlsplit(folder).path) if scheme else folder)
        if not path.is_dir():
            raise ConfigError(f"there is no folder {in_one_line(base)}")
        return FileStore(f"{path}/")
    if not folder.isprintable() or "::" in folder:  # fsspec treats that as two chained addresses
        raise ConfigError(f"'{in_one_line(base)}' is not a valid URL")
    if scheme == "s3":
        library("s3fs", base)
    fsspec = library("fsspec", base)
    try:
        system, inner = fsspec.core.url_to_fs(folder)
    except parser_errors() as fault:
        raise ConfigError(f"cannot use {in_one_line(base)}: {reason_of(fault)}") from fault
    return FileStore(f"{inner.rstrip('/')}/", system)
