"""Words shown to people for each reason, flag, kind of evidence and end of a crawl."""

from __future__ import annotations

from collections.abc import Iterable

from diptych.files import shipped_table
from diptych.reason import SiteEnd, fault_type, http_status

MAX_NAMED = 5  # sites that are named one by one
REASONS = dict(shipped_table("diptych.reports", "reasons.tsv"))
"""words for each `Reason` and `SiteEnd`, marks and flags; a name without words is shown as it is"""
EVIDENCE = dict(shipped_table("diptych.reports", "evidence.tsv"))
"""evidence for a pair in words: the meaning of its number"""


def in_words(reason: str) -> str:
    """A reason as people say it.

    >>> in_words("robots"), in_words("http_503"), in_words("licence:CC0-1.0")
    ('forbidden by robots.txt', 'answered 503', 'licence:CC0-1.0')
    >>> in_words("failed:MemoryError")
    'which could not be processed (MemoryError)'
    """
    status = http_status(reason)
    if kind := fault_type(reason):
        return f"which could not be processed ({kind})"
    return REASONS.get(reason, f"answered {status}" if status else reason)


def ends_in_words(ends: Iterable[tuple[str, SiteEnd]]) -> list[str]:
    """Words for the ends of the crawls of sites: of each site, or of many that ended alike.

    >>> ends_in_words([("example.org", SiteEnd.PAGE_LIMIT)])
    ['example.org: page limit reached']
    """
    sites: dict[SiteEnd, list[str]] = {}
    for site, end in ends:
        sites.setdefault(end, []).append(site)
    return [
        f"{name}: {in_words(end)}"
        for end, names in sites.items()
        for name in (names if len(names) <= MAX_NAMED else [f"{len(names):,} sites"])
    ]
