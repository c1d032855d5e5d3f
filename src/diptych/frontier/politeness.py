"""Politeness (delay, longest Crawl-delay, Retry-After, backoff) and limits of a crawl."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BACKOFF = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class Politeness:
    """Politeness to a host, unless its robots.txt asks for more."""

    agent: str
    delay: float = 1.0
    connections: int = 1
    obey_robots: bool = True
    max_crawl_delay: float = 600.0
    """a host that asks for a longer Crawl-delay is left alone for this run"""
    max_wait: float = 600.0
    """a host that asks for a longer Retry-After is left alone for this run"""
    backoff: float = 1.0
    """seconds after a first refusal; doubled with each that follows"""

    @property
    def token(self) -> str:
        """The product token that robots.txt groups are matched against.

        >>> Politeness(agent="DiptychBot/0.1 (+https://example.org/bot)").token
        'DiptychBot'
        """
        return self.agent.partition("/")[0].partition(" ")[0]

    def wait(self, refusals: int) -> float:
        """Seconds to leave a host alone after so many refusals in a row.

        >>> [Politeness(agent="a").wait(refusals) for refusals in (1, 2, 3, 20)]
        [1.0, 2.0, 4.0, 300.0]
        """
        doublings = min(max(refusals - 1, 0), 32)
        return float(min(self.backoff * 2**doublings, MAX_BACKOFF))

    def delay_for(self, crawl_delay: float | None) -> float:
        """Seconds between requests to a host that asks for a Crawl-delay, or for none.

        >>> [Politeness(agent="a").delay_for(asked) for asked in (None, 0.5, 60.0, 3600.0)]
        [1.0, 1.0, 60.0, 600.0]
        """
        return max(self.delay, min(crawl_delay or 0.0, self.max_crawl_delay))

    def is_too_slow(self, crawl_delay: float | None) -> bool:
        """True if a Crawl-delay is too long to wait for."""
        return crawl_delay is not None and crawl_delay > max(self.max_crawl_delay, self.delay)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a crawl; pages, bytes and seconds are counted per site."""

    max_pages: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None
    redirects: int = 10
    attempts: int = 3
    refusals: int = 8
    """a host that refuses this often in a row is asked no more"""
    sitemaps: int = 50
    share: float | None = None
    """share of its pairs with which a site ends, where the crawl policy makes an estimate"""
    patience: float | None = None
    """downloads that one more pair may cost, where the crawl policy makes an estimate"""
