"""Detect crawler traps: repeating or deep paths, calendars, dates and sort orders.

Some traps are always refused.  Others, such as calendars and sort orders, also contain real pages,
so a limited number of URLs is allowed in each trap family.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from diptych.reason import Reason
from diptych.text.urls import origin_of

MAX_SEGMENTS = 25  # deeper paths are caused by broken relative links
MAX_PARAMETERS = 12
MAX_REPEATS = 3  # /a/b/a/b/a/b
CALENDAR_LIMIT = 60  # pages of one calendar: five years of months
DATE_LIMIT = 3000  # pages whose URL is only a date: eight years of days
SORT_LIMIT = 1  # sort orders of one list

_CALENDAR = re.compile(
    r"calend|kalend|agenda|\bcal\b|events?\b|event-?list|\bmonth\b|\bweek\b|\bday\b|\bmois\b|\bmonat\b"
    r"|tribe|[?&](?:date|day|month|year|week|time|start|from|yr|mo)=",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(?:19|20|21)\d\d[-/._]?(?:0?[1-9]|1[0-2])(?:[-/._]?(?:0?[1-9]|[12]\d|3[01]))?(?!\d)"
    r"|[?&](?:date|day|month|year|week|yr|mo)=\d+",
    re.IGNORECASE,
)
_SORT = frozenset(
    "sort sortby sort_by sort-by orderby order_by order sortorder sort_order sortdir dir"
    " direction asc desc c o view display layout mode show items".split()
)
_PAGE_SIZE = frozenset("limit perpage per_page pagesize page_size itemsperpage".split())
_SORT_VALUE = re.compile(
    r"(?:asc|desc|list|grid|table|name|date|price|size|title|time|[nmsd]|[ad])"
    r"(?:[-_ ]?(?:asc|desc))?\Z",
    re.IGNORECASE,
)


class Family(NamedTuple):
    """A trap family, i.e. a potentially endless set of similar URLs, and its maximum size."""

    key: str
    limit: int
    reason: str


def refusal(url: str) -> str:
    """The reason to refuse a URL as a trap, judging by the URL alone; empty if it is not a trap.

    >>> str(refusal("http://example.org/a/b/a/b/a/b/c.html"))
    'trap_repeating_path'
    >>> refusal("http://example.org/en/en-gb/")
    ''
    """
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) > MAX_SEGMENTS:
        return Reason.TRAP_DEEP_PATH
    if query.count("&") >= MAX_PARAMETERS:
        return Reason.TRAP_PARAMETERS
    if len(segments) > MAX_REPEATS and _repeats(segments):
        return Reason.TRAP_REPEATING_PATH
    return ""


def _repeats(segments: list[str]) -> bool:
    """True if a sequence of one to three segments occurs `MAX_REPEATS` times in a row."""
    for length in (1, 2, 3):
        for start in range(len(segments) - length * MAX_REPEATS + 1):
            run = segments[start : start + length]
            again = segments[start : start + length * MAX_REPEATS]
            if any(run) and again == run * MAX_REPEATS:
                return True
    return False


def family_of(url: str) -> Family | None:
    """The trap family to which a URL belongs; None if there is no such family.

    >>> family_of("http://example.org/calendar/2024/05/").limit
    60
    >>> family_of("http://example.org/list?id=4&sort=name").key
    'sort http://example.org/list?id=4'
    >>> family_of("http://example.org/2024/05/12/the-lamp-is-lit.html") is None
    True
    """
    path, _, query = url.partition("?")
    if query:
        sort = _sort_family(path, query)
        if sort is not None:
            return sort
    if not _DATE.search(url):
        return None
    skeleton = re.sub(r"\d+", "0", url[len(origin_of(url)) :])
    if _CALENDAR.search(url):
        return Family(f"calendar {origin_of(url)}{skeleton}", CALENDAR_LIMIT, Reason.TRAP_CALENDAR)
    last = path.rstrip("/").rpartition("/")[2]
    if not re.search(r"[^\W\d_]", re.sub(r"\.\w+\Z", "", last)):
        return Family(f"date {origin_of(url)}{skeleton}", DATE_LIMIT, Reason.TRAP_DATES)
    return None


def _sort_family(path: str, query: str) -> Family | None:
    parameters = parse_qsl(query, keep_blank_values=True)
    rest = [(name, value) for name, value in parameters if not _is_sort(name, value)]
    if len(rest) == len(parameters):
        return None
    kept = "&".join(f"{name}={value}" for name, value in rest)
    return Family(f"sort {path}?{kept}", SORT_LIMIT, Reason.TRAP_SORT_ORDER)


def _is_sort(name: str, value: str) -> bool:
    name = name.lower()
    if name in _PAGE_SIZE:
        return value.isdigit()
    return name in _SORT and bool(_SORT_VALUE.match(value))
