"""Words shown to people for each reason, flag, kind of evidence and end of a crawl."""

from __future__ import annotations

from diptych.files import shipped_table
from diptych.reason import fault_type, http_status
from diptych.types import SiteEnd

REASONS = dict(shipped_table("diptych.reports", "reasons.tsv"))
"""words for each `Reason`, and for marks and flags; a name without words is shown as it is"""
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


def end_in_words(site: str, end: SiteEnd) -> str:
    """Words for the end of the crawl of a site.

    >>> end_in_words("example.org", SiteEnd.PAGE_LIMIT)
    'example.org: page limit reached'
    """
    return f"{site}: {end.value}{' reached' if end.is_limit else ''}"
