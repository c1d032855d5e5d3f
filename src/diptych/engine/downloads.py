"""Download whole files over HTTP, politely: a delay between the requests to a host, and patience.

A broken transfer goes on where it ended.  The web client is imported with the first download.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from diptych.engine.patience import MAX_WAIT, TRIES, Patience
from diptych.errors import without_password
from diptych.page.answer import REDIRECTS
from diptych.page.robots import retry_after
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.text.urls import normalise, origin_of
from diptych.types import Failure, Response, Url

if TYPE_CHECKING:
    from diptych.engine.event_loop import EventLoopThread
    from diptych.engine.fetch import Fetcher, FetchSettings, Transfer

MAX_REDIRECTS = 5  # as for robots.txt (RFC 9309, 2.3.1.2)
_MEGABYTE = 1_000_000
_MIN_PART = 5_000  # bytes; a file that comes in smaller parts takes too many requests
_ALL_SENT = re.compile(r"bytes \*/(\d{1,18})\Z", re.IGNORECASE)


@dataclass(slots=True)
class Downloads:
    """Downloads files from any number of hosts; use it as a context manager."""

    settings: Callable[[], FetchSettings]
    delay: float = 1.0
    shared: Path | None = None
    """folder in which several processes note when they may send the next request to a host"""
    patience: Callable[[float], Patience] = Patience
    watcher: Watcher = field(default_factory=Watcher)
    """is told how many megabytes have arrived, and may stop a download"""
    _hosts: dict[str, Patience] = field(default_factory=dict)
    _fetcher: Fetcher | None = None
    _loop: EventLoopThread | None = None

    def __enter__(self) -> Downloads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._loop is not None:
            self._loop.run(self._close())
            self._loop.close()

    async def _close(self) -> None:
        if self._fetcher is not None:
            await self._fetcher.__aexit__()

    def download(self, url: str, out: BinaryIO) -> Failure | None:
        """Write a file to `out`; returns why that failed, or None.

        Raises `OSError` if it cannot be written.
        """
        from diptych.engine.event_loop import EventLoopThread
        from diptych.engine.fetch import NotWrittenError, Transfer

        if self._loop is None:
            self._loop = EventLoopThread()
        transfer = Transfer(out)
        self.watcher.begin("downloading", unit="MB")
        try:
            return self._loop.run(self._download(url, transfer), partial(self._tick, transfer))
        except NotWrittenError as error:
            raise error.fault from error

    def _tick(self, transfer: Transfer) -> None:
        total = transfer.total
        self.watcher.done = transfer.out.tell() // _MEGABYTE
        self.watcher.total = None if total is None else total // _MEGABYTE
        self.watcher.tick()

    async def _download(self, url: str, transfer: Transfer) -> Failure | None:
        from diptych.engine.fetch import Fetcher

        if self._fetcher is None:
            # A file may be of any size, but it must arrive at some rate.
            self._fetcher = await Fetcher(replace(self.settings(), timeout=0.0)).__aenter__()
        redirects = 0
        while redirects <= MAX_REDIRECTS:
            target = sendable(url)
            if target is None:
                return Failure(Url(url), Reason.WRONG_SHAPE, _not_sendable(url))
            answer = await self._patience(target).ask(partial(self._ask, target, transfer))
            if isinstance(answer, Failure):
                return answer
            if answer.status in REDIRECTS:
                redirects += 1
                try:
                    url = urljoin(target, answer.header("Location").strip())
                except ValueError:
                    said = "the server redirects to an invalid URL"
                    return Failure(target, Reason.BAD_REDIRECT, said)
            elif answer.status != 206 or transfer.is_whole:
                return None
        return Failure(Url(url), Reason.TOO_MANY_REDIRECTS, "there are too many redirects")

    def _patience(self, url: Url) -> Patience:
        origin = origin_of(url)
        if origin not in self._hosts:
            self._hosts[origin] = self.patience(self.delay)
        return self._hosts[origin]

    async def _ask(self, url: Url, transfer: Transfer) -> Response | Failure:
        assert self._fetcher is not None
        patience = self._patience(url)
        if self.shared is not None:
            name = blake2b(origin_of(url).encode(), digest_size=8).hexdigest()
            await patience.sleep(_reserved(self.shared / f"{name}.next", self.delay))
        start = transfer.out.tell()
        if not transfer.version:  # nobody can tell whether the rest is of the same version
            transfer.restart()
        if transfer.restarts >= TRIES:
            return Failure(url, Reason.UNREADABLE, "the file changes while it is downloaded")
        answer = await self._fetcher.fetch_file(url, transfer)
        patience.has_answered |= transfer.out.tell() > 0
        if isinstance(answer, Failure) or answer.status in (200, *REDIRECTS):
            return answer
        if _is_part(answer, start, transfer):
            if transfer.is_whole or transfer.out.tell() >= start + _MIN_PART:
                return answer
            return Failure(url, Reason.CUT_OFF, "the server sends the file in very small parts")
        if answer.status == 416:  # the file is another one, and shorter
            transfer.restart()
        if answer.status in (206, 416) and transfer.out.tell() == 0 < start:
            return Failure(url, Reason.CUT_OFF, "the file has changed while it was downloaded")
        said = f"the server returned HTTP {answer.status}"
        return Failure(url, f"http_{answer.status}", said, retry_after(answer))


def _is_part(answer: Response, start: int, transfer: Transfer) -> bool:
    """True if a response is a part of a file, or says that all of it has been sent."""
    sent = _ALL_SENT.match(answer.header("Content-Range").strip())
    is_end = answer.status == 416 and sent is not None and int(sent[1]) == start > 0
    return (is_end and transfer.is_whole) or (answer.status == 206 and transfer.out.tell() > start)


def _not_sendable(url: str) -> str:
    """Why no file can be downloaded from a URL."""
    if without_password(url) != url:
        return "a user name in the URL is not supported"
    return "this is not the URL of a file"


def sendable(url: str) -> Url | None:
    """A URL whose host is in its normal form, while the rest stays as it is, as a signature may.

    >>> sendable("HTTPS://Example.ORG/%7ea?sid=ab12cd34ef56ab78&X-Sign=a%2fb#top")
    'https://example.org/%7ea?sid=ab12cd34ef56ab78&X-Sign=a%2fb'
    >>> sendable("ftp://example.org/a") is None
    True
    """
    normal = normalise(url)
    if normal is None or not (url.isascii() and url.isprintable() and " " not in url):
        return normal
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return Url(f"{origin_of(normal)}{parts.path or '/'}{query}")


def _reserved(path: Path, delay: float) -> float:
    """Reserve the time of the next request of any process; returns the seconds until then.

    Where files cannot be locked, each process waits for itself.
    """
    with suppress(OSError, ImportError), path.open("a+b") as stream:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        now, left = time.time(), 0.0
        with suppress(ValueError):
            left = float(stream.read(30) or 0) - now
        # The clock of another machine may be wrong, and the note may be no number.
        wait = min(left, MAX_WAIT) if left > 0 else 0.0
        stream.truncate(0)
        stream.write(b"%.3f" % (now + wait + delay))
        return wait
    return 0.0
