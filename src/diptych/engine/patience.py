"""Requests to one service or host: the delay between them, and pauses while it is busy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from diptych.errors import in_one_line, option_name, without_password
from diptych.reason import Reason, http_status
from diptych.types import Failure

TRIES = 8  # requests for one thing; the waits between them add up to two minutes
# If access is denied (S3 says so of missing files too), or a host was never reached.
REFUSED_TRIES = 3
MAX_WAIT = 120.0  # seconds that a service may ask to wait; if it asks for more, there is no retry
_BUSY = frozenset({403, 408, 425, 429, 500, 502, 503, 504})
_NO_ANSWER = frozenset(
    {Reason.TIMEOUT, Reason.DISCONNECTED, Reason.CONNECT, Reason.DNS, Reason.CUT_OFF,
     Reason.CONNECTION_REFUSED, Reason.PROTOCOL, Reason.TLS}
)  # fmt: skip
_NOT_REACHED = frozenset({Reason.DNS, Reason.CONNECTION_REFUSED, Reason.CONNECT, Reason.TLS})
Found = TypeVar("Found")


def is_passing(failure: Failure) -> bool:
    """True if the same request may succeed later: the service is busy, or did not answer.

    >>> [is_passing(Failure("http://a.b/", reason)) for reason in ("http_503", "http_404")]
    [True, False]
    """
    return failure.reason in _NO_ANSWER or http_status(failure.reason) in _BUSY


@dataclass(slots=True)
class Patience:
    """Sends requests `delay` seconds apart, and repeats them while the service is busy."""

    delay: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    has_answered: bool = False
    """anything has ever arrived; if not, the name of the host or the proxy may be wrong"""
    _waits_if_denied: bool = False
    _free_at: float = 0.0
    """time of the next request"""

    @contextmanager
    def if_denied(self) -> Iterator[None]:
        """Inside the context, wait for a service that denies access as for a busy one."""
        self._waits_if_denied = True
        try:
            yield
        finally:
            self._waits_if_denied = False

    async def ask(self, request: Callable[[], Awaitable[Found | Failure]]) -> Found | Failure:
        """Send a request, and repeat it while the service is busy; the result or last failure."""
        attempt = 0
        while True:
            attempt += 1
            await self._turn()
            found = await request()
            if not isinstance(found, Failure) or http_status(found.reason):
                self.has_answered = True
            if not isinstance(found, Failure) or not is_passing(found):
                return found
            wanted = found.retry_after or 0.0
            if attempt >= self._tries(found) or wanted > MAX_WAIT:
                return found
            # Everyone waits: other connections ask the same service.
            pause = max(wanted, self.delay, 1.0) * (1.0 if wanted else 2.0 ** (attempt - 1))
            self._free_at = max(self._free_at, self.clock() + min(pause, MAX_WAIT))

    def _tries(self, failure: Failure) -> int:
        """The number of requests after which a failure is final."""
        is_denied = http_status(failure.reason) == 403 and not self._waits_if_denied
        is_unknown = failure.reason in _NOT_REACHED and not self.has_answered
        return REFUSED_TRIES if is_denied or is_unknown else TRIES

    async def _turn(self) -> None:
        """Wait until the next request may be sent."""
        while (left := self._free_at - self.clock()) > 0:
            await self.sleep(left)
        self._free_at = max(self._free_at, self.clock()) + self.delay


def unreadable(url: str, failure: Failure) -> str:
    """The message that a file cannot be read, and what to do."""
    said = f"cannot read {url}: {in_one_line(failure.detail) or failure.reason}"
    return f"{without_password(said)}; {_advice(failure)}"


def _advice(failure: Failure) -> str:
    status = http_status(failure.reason)
    if failure.reason == Reason.PRIVATE_ADDRESS:
        return f"for a private address, add {option_name('allow_private')}"
    if failure.retry_after:
        return f"the service asks to wait {failure.retry_after:,.0f} s; then run the same command"
    if status in (403, 429, 503):
        return "the service is busy or refuses: wait some minutes, then run the same command again"
    if failure.reason == Reason.WRONG_SHAPE:
        return "check the base URL and your access to it"
    return "run the same command again to continue"
