"""User-facing explanations of reason codes, flags, kinds of evidence, and why crawls ended."""

from __future__ import annotations

from collections.abc import Iterable

from diptych.files import shipped_table
from diptych.reason import SiteEnd, alias_rules, fault_type, http_status

MAX_NAMED = 5  # maximum number of sites that are listed by name
REASONS = {name: words for name, *words in shipped_table("diptych.reports", "reasons.tsv")}
"""text for each `Reason`, `SiteEnd`, `DownloadKind`, mark and flag: the singular, and the plural if
it differs; a name without a text is shown unchanged"""
EVIDENCE = {
    name: (short, meaning)
    for name, short, meaning in shipped_table("diptych.reports", "evidence.tsv")
}
"""for each kind of evidence for a pair, its displayed name and the meaning of its score"""


_RULES = {
    "slash": "trailing slash",
    "without slash": "without trailing slash",
    "www": "with www",
    "sorted parameters": "order of parameters",
}
"""texts for rules whose names are not clear enough"""


def in_words(reason: str, count: int = 1) -> str:
    """The text for a reason, in the singular or plural depending on `count`.

    >>> in_words("robots"), in_words("http_503"), in_words("licence:CC0-1.0")
    ('forbidden by robots.txt', 'HTTP error 503', 'licence:CC0-1.0')
    >>> in_words("failed:MemoryError")
    'could not be processed (MemoryError)'
    >>> in_words("alias slash")
    'the same page as another (trailing slash)'
    """
    if rules := alias_rules(reason):
        return f"the same page as another ({rules_in_words(rules)})"
    if kind := fault_type(reason):
        return f"could not be processed ({kind})"
    if reason in REASONS:
        return REASONS[reason][0 if count == 1 else -1]
    status = http_status(reason)
    return f"{_inflected(count, 'HTTP error')} {status}" if status else reason


def counted(count: int, noun: str) -> str:
    """A count followed by a noun, which is in the plural unless the count is 1.

    >>> counted(1, "URL"), counted(1200, "URL")
    ('1 URL', '1,200 URLs')
    """
    return f"{count:,} {_inflected(count, noun)}"


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """The texts for several reasons, with their counts.

    >>> listed([("timeout", 1200), ("redirect", 2), ("http_404", 1)])
    '1,200 timed out, 2 redirects, 1 not found (404)'
    """
    return ", ".join(f"{count:,} {in_words(reason, count)}" for reason, count in counts)


def evidence_in_words(names: str) -> str:
    """The displayed names of several kinds of evidence, which are joined by `+` in `names`.

    >>> evidence_in_words("hreflang+keys")
    'hreflang, URL pattern'
    """
    return ", ".join(EVIDENCE[name][0] if name in EVIDENCE else name for name in names.split("+"))


def rules_in_words(rules: Iterable[str]) -> str:
    """The text for the alias rules by which two URLs lead to the same page.

    >>> rules_in_words(["https", "without ?share"])
    'https and without ?share'
    >>> rules_in_words(["without /amp and slash"])
    'without /amp or a trailing slash'
    """
    return " and ".join(
        _RULES.get(rule, rule.replace(" and slash", " or a trailing slash")) for rule in rules
    )


def ends_in_words(ends: Iterable[tuple[str, SiteEnd]]) -> list[str]:
    """The lines of the report on why crawls ended; many sites with the same reason share a line.

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


def _inflected(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
