"""Words shown to people for each reason, flag, kind of evidence and end of a crawl."""

from __future__ import annotations

from collections.abc import Iterable

from diptych.files import shipped_table
from diptych.reason import SiteEnd, alias_rules, fault_type, http_status

MAX_NAMED = 5  # sites that are named one by one
REASONS = dict(shipped_table("diptych.reports", "reasons.tsv"))
"""words for each `Reason` and `SiteEnd`, marks and flags; a name without words is shown as it is"""
EVIDENCE = dict(shipped_table("diptych.reports", "evidence.tsv"))
"""evidence for a pair in words: the meaning of its number"""


_RULES = {
    "slash": "trailing slash",
    "without slash": "without trailing slash",
    "www": "with www",
    "sorted parameters": "order of parameters",
}
"""words for rules whose name does not say enough"""


def in_words(reason: str) -> str:
    """A reason as people say it.

    >>> in_words("robots"), in_words("http_503"), in_words("licence:CC0-1.0")
    ('forbidden by robots.txt', 'answered 503', 'licence:CC0-1.0')
    >>> in_words("failed:MemoryError")
    'which could not be processed (MemoryError)'
    >>> in_words("alias slash")
    'the same page as another (trailing slash)'
    """
    if rules := alias_rules(reason):
        return f"the same page as another ({rules_in_words(rules)})"
    status = http_status(reason)
    if kind := fault_type(reason):
        return f"which could not be processed ({kind})"
    return REASONS.get(reason, f"answered {status}" if status else reason)


def rules_in_words(rules: Iterable[str]) -> str:
    """Rules by which URLs are one page, as people say it.

    >>> rules_in_words(["https", "without ?share"])
    'https and without ?share'
    """
    return " and ".join(_RULES.get(rule, rule) for rule in rules)


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
