"""Words shown to people for each reason, flag, kind of evidence and end of a crawl."""

from __future__ import annotations

from importlib.resources import files

from diptych.reason import http_status
from diptych.types import SiteEnd


def _table(name: str) -> dict[str, str]:
    """A table of names and words that is beside this module."""
    lines = (files("diptych.reports") / name).read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


REASONS = _table("reasons.tsv")
"""words for each `Reason`, and for marks and flags; a name without words is shown as it is"""
EVIDENCE = _table("evidence.tsv")
"""evidence for a pair in words: the meaning of its number"""


def in_words(reason: str) -> str:
    """A reason as people say it.

    >>> in_words("robots"), in_words("http_503"), in_words("licence:CC0-1.0")
    ('forbidden by robots.txt', 'answered 503', 'licence:CC0-1.0')
    """
    status = http_status(reason)
    return REASONS.get(reason, f"answered {status}" if status else reason)


def end_in_words(site: str, end: SiteEnd) -> str:
    """Words for the end of the crawl of a site.

    >>> end_in_words("example.org", SiteEnd.PAGE_LIMIT)
    'example.org: page limit reached'
    """
    return f"{site}: {end.value}{' reached' if end.is_limit else ''}"
