"""Politeness settings (delay, maximum Crawl-delay, Retry-After, backoff) and limits of a crawl."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BACKOFF = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class Politeness:
    """Politeness settings for requests to a host; its robots.txt may request a longer delay."""

    agent: str
    delay: float = 1.0
    connections: int = 1
    obey_robots: bool = True
    max_crawl_delay: float = 600.0
    """seconds; a host that requests a longer Crawl-delay is skipped in this run"""
    max_wait: float = 600.0
    """seconds; a host that requests a longer Retry-After is skipped in this run"""
    backoff: float = 1.0
    """seconds to wait after the first refusal; doubled with each further refusal"""

    @property
    def token(self) -> str:
        """The product token to match against the groups of a robots.txt.

        >>> Politeness(agent="DiptychBot/0.1 (+https://example.org/bot)").token
        'DiptychBot'
        """
        return self.agent.partition("/")[0].partition(" ")[0]

    def wait(self, refusals: int) -> float:
        """The seconds to wait after a host has refused `refusals` requests in a row.

        >>> [Politeness(agent="a").wait(refusals) for refusals in (1, 2, 3, 20)]
        [1.0, 2.0, 4.0, 300.0]
        """
        doublings = min(max(refusals - 1, 0), 32)
        return float(min(self.backoff * 2**doublings, MAX_BACKOFF))

    def delay_for(self, crawl_delay: float | None) -> float:
        """The delay in seconds between requests to a host, given its Crawl-delay, if any.

        >>> [Politeness(agent="a").delay_for(asked) for asked in (None, 0.5, 60.0, 3600.0)]
        [1.0, 1.0, 60.0, 600.0]
        """
        return max(self.delay, min(crawl_delay or 0.0, self.max_crawl_delay))

    def is_too_slow(self, crawl_delay: float | None) -> bool:
        """True if a Crawl-delay exceeds the maximum."""
        return crawl_delay is not None and crawl_delay > max(self.max_crawl_delay, self.delay)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for a crawl; pages, bytes and seconds are counted per site."""

    max_pages: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None
    redirects: int = 10
    attempts: int = 3
    refusals: int = 8
    """consecutive refusals after which no more requests are sent to a host"""
    sitemaps: int = 50
    share: float | None = None
    """share of a site's pairs at which its crawl ends, if the crawl policy estimates that share"""
    patience: float | None = None
    """downloads that one more pair may cost, if the crawl policy estimates that cost"""
