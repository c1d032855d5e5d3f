"""Handling of failed requests: Retry-After, backoff, giving up on URLs, and stopping hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diptych.frontier.hosts import Hosts
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import Claim, Frontier
from diptych.page.answer import ReadAnswer
from diptych.page.robots import Robots
from diptych.reason import Reason, fault_type, http_status
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.types import Failure, Kind

_NO_ANSWER = (
    Reason.TIMEOUT, Reason.CONNECTION_REFUSED, Reason.CONNECT, Reason.DISCONNECTED,
)  # fmt: skip
RETRIED = frozenset({*_NO_ANSWER, "http_429", "http_500", "http_502", "http_503", "http_504"})
REFUSALS = frozenset({*_NO_ANSWER, "http_401", "http_403", "http_429", "http_503"})
NETWORK_FAULTS: Mapping[str, str] = {
    Reason.DNS: "unknown host",
    Reason.CONNECTION_REFUSED: "connection refused",
    Reason.CONNECT: "connection failed",
    Reason.TIMEOUT: "timed out",
    Reason.DISCONNECTED: "connection lost",
    Reason.BAD_CERTIFICATE: "bad certificate",
    Reason.TLS: "TLS error",
    Reason.PROTOCOL: "invalid HTTP response",
    Reason.PRIVATE_ADDRESS: "private address, which is not allowed by default",
}
"""descriptions of network faults, for requests without a response"""
FORBIDDEN = frozenset({"http_401", "http_403"})  # refused, but not because of overload


@dataclass(slots=True)
class Stats:
    """Counts for a crawl so far, over all invocations of the run."""

    downloads: int = 0
    pages: int = 0
    segments: int = 0
    """kept segments of pairs that were verified during this invocation"""


@dataclass(frozen=True, slots=True)
class Retries:
    """Records responses and failures, and decides on retries."""

    store: Store
    frontier: Frontier
    hosts: Hosts
    politeness: Politeness
    limits: Limits
    stats: Stats

    def record(
        self, claim: Claim, answer: ReadAnswer | Failure, now: float, pointer: Pointer | None
    ) -> tuple[ReadAnswer, bool]:
        """Save the response to a claim, and schedule a retry if the request failed.

        `answer` is the response, archived at `pointer`, or the failure.  Return the response, and
        whether the URL was given up.
        """
        host = self.hosts[claim.host]
        failed = ReadAnswer(claim.url, 0, 0, now)
        reading = failed._replace(failure=answer) if isinstance(answer, Failure) else answer
        self.store.save_fetch(
            host.site.id, claim.url, reading.fetched_at, status=reading.status, size=reading.size,
            reason=reading.failure.reason if reading.failure else "", pointer=pointer,
        )  # fmt: skip
        host.site.bytes += reading.size
        host.site.downloads += reading.status > 0
        self.hosts.save_next_request(claim.host)
        self.stats.downloads += reading.status > 0
        if reading.failure is not None:
            return reading, self._fail(claim, reading.failure, reading.status, now)
        host.refusals = 0
        return reading, False

    def _fail(self, claim: Claim, failure: Failure, status: int, now: float) -> bool:
        """Schedule a retry of a failed request, or give up the URL and return True.

        A host that refuses too many requests in a row is stopped.
        """
        host, limits = self.hosts[claim.host], self.limits
        refused = failure.reason in REFUSALS
        host.refusals = host.refusals + 1 if refused else 0
        asked = failure.retry_after
        tries = max(host.refusals, claim.attempts + 1)
        wait = self.politeness.wait(tries) if asked is None else asked
        retried = failure.reason in RETRIED and claim.attempts + 1 < self._attempts(claim, failure)
        is_busy = refused and (asked is not None or failure.reason not in FORBIDDEN)
        if is_busy or (retried and claim.kind is Kind.ROBOTS):
            self.hosts.hold(claim.host, now + wait)
        retry_at = now + wait if retried else None
        self.frontier.fail(claim, now, reason=failure.reason, status=status, retry_at=retry_at)
        if refused and wait > self.politeness.max_wait:
            self.hosts.stop(claim.host, f"it asks clients to wait {wait:g} s")
        elif host.refusals >= limits.refusals:
            why = f"{host.refusals} refusals in a row ({_fault(failure)})"
            self.hosts.stop(claim.host, why)
        elif claim.kind is Kind.ROBOTS and not retried:
            self.hosts.save_robots(claim.host, Robots.of(None), now)
            self.hosts.stop(
                claim.host, _robots_failure(failure), is_unreachable=_is_unreachable(failure)
            )
        return not retried

    def _attempts(self, claim: Claim, failure: Failure) -> int:
        """The maximum number of attempts for a URL; at most two if no server is listening."""
        is_silent = claim.kind is Kind.ROBOTS and failure.reason == Reason.CONNECTION_REFUSED
        return min(2, self.limits.attempts) if is_silent else self.limits.attempts


def _is_unreachable(failure: Failure) -> bool:
    """True if a host did not respond at all; a private address does not count as unreachable."""
    is_answer = http_status(failure.reason) is not None or fault_type(failure.reason)
    return failure.reason != Reason.PRIVATE_ADDRESS and not is_answer


def _robots_failure(failure: Failure) -> str:
    """The message that explains why a robots.txt could not be fetched."""
    if kind := fault_type(failure.reason):
        return f"its robots.txt could not be processed ({kind})"
    if http_status(failure.reason) is None:
        return _fault(failure)
    return f"its robots.txt returned {_fault(failure)}, so nothing may be fetched"


def _fault(failure: Failure) -> str:
    """Describe a server or network failure in plain words, without a library's error message."""
    status = http_status(failure.reason)
    return f"HTTP {status}" if status else NETWORK_FAULTS.get(failure.reason, failure.reason)
