"""The rules in robots.txt (RFC 9309), and the Retry-After header."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from diptych.types import Response

if TYPE_CHECKING:
    from protego import Protego

MAX_ROBOTS_BYTES = 512_000  # RFC 9309, 2.5: at least 500 kibibytes
DISALLOW_ALL = "User-agent: *\nDisallow: /\n"


@dataclass(frozen=True, slots=True)
class Robots:
    """The content of a host's robots.txt, and the outcome of fetching it."""

    text: str
    status: str
    """`read`, `missing` (4xx: all allowed) or `unreachable` (5xx, time-out: nothing allowed)"""

    @classmethod
    def of(cls, response: Response | None) -> Robots:
        """Create a `Robots` from the response to /robots.txt (None if there was no response).

        >>> Robots.of(None).status
        'unreachable'
        """
        if response is None or response.status >= 500:
            return cls(DISALLOW_ALL, "unreachable")
        if response.status >= 300:  # 4xx, and redirects that lead nowhere (RFC 9309, 2.3.1.2)
            return cls("", "missing")
        return cls(response.body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace"), "read")

    def rules(self) -> Protego:
        """Parse the rules in robots.txt."""
        from protego import Protego

        return Protego.parse(self.text.lstrip("\ufeff"))

    def forbids_all(self) -> bool:
        """True if robots.txt forbids every page to crawlers that it does not name.

        >>> Robots(DISALLOW_ALL, "read").forbids_all(), Robots("", "read").forbids_all()
        (True, False)
        """
        lines = self.text.lower().splitlines()
        allows_some = any(line.lstrip().startswith("allow") for line in lines)
        return not allows_some and not self.rules().can_fetch("/", "*")


def retry_after(response: Response) -> float | None:
    """The number of seconds to wait according to the Retry-After header; None if there is none.

    A date is compared with that of the response, because our clock may be wrong.

    >>> from diptych.types import Url
    >>> retry_after(Response(Url("http://a.b/"), 429, (("Retry-After", "3"),), b"", 0.0))
    3.0
    """
    value = response.header("Retry-After").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, until - _sent_at(response))


def _sent_at(response: Response) -> float:
    """The time when a server sent a response, by its own clock if it says so."""
    try:
        return parsedate_to_datetime(response.header("Date")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return response.fetched_at
