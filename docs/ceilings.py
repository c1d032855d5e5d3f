"""The table of ceilings in docs/reliability.md, generated from the constants that set them."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from figures import table

_CALL = re.compile(r"\('?'?\)")


def _seconds(value: float) -> str:
    return f"{value:,.0f} s"


def _size(value: int) -> str:
    """Bytes in the unit in which they are an integer, such as `2 GiB` or `10 MB`."""
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (10**6, "MB"), (10**3, "kB")):
        if value >= factor and value % factor == 0:
            return f"{value // factor:,} {unit}"
    return f"{value:,} bytes"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _share(value: float) -> str:
    return f"{value:.0%}"


CEILINGS: dict[str, tuple[tuple[str, str, Callable[[Any], str]], ...]] = {
    "download": (
        ("time for a whole response", "engine.fetch:FetchSettings('').timeout", _seconds),
        ("time without a byte", "engine.fetch:FetchSettings('').stall", _seconds),
        ("body of a page as it is sent", "engine.fetch:FetchSettings('').page_bytes", _size),
        ("robots.txt", "page.robots:MAX_ROBOTS_BYTES", _size),
        ("sitemap", "page.sitemaps:MAX_SITEMAP_BYTES", _size),
        ("redirects in a row", "frontier.politeness:Limits().redirects", _count),
        ("attempts at a URL", "frontier.politeness:Limits().attempts", _count),
    ),
    "page": (
        ("time to parse it", "engine.limits:PAGE_LIMITS.seconds", _seconds),
        ("memory to parse it", "engine.limits:PAGE_LIMITS.bytes", _size),
        ("body, unpacked", "page.body:_LIMIT", _size),
        ("encodings of a body, one in the other", "page.body:_MAX_ENCODINGS", _count),
        ("levels of elements", "page.nesting:MAX_DEPTH", _count),
        ("attributes of an element", "page.nesting:MAX_ATTRIBUTES", _count),
        ("elements that are read", "page.blocks:MAX_ELEMENTS", _count),
        ("blocks of text", "page.blocks:MAX_BLOCKS", _count),
        ("links", "page.links:MAX_LINKS", _count),
        ("characters of a URL", "text.urls:MAX_LENGTH", _count),
        ("stored content, unpacked", "page.content:MAX_CONTENT", _size),
    ),
    "pair": (
        ("time to align it", "engine.limits:PAIR_LIMITS.seconds", _seconds),
        ("memory to align it", "engine.limits:PAIR_LIMITS.bytes", _size),
        ("letters of a sentence", "text.sentences:MAX_SENTENCE", _count),
        ("letters of a side of a segment", "text.lengths:MAX_SEGMENT", _count),
    ),
    "site": (
        ("time to pair its pages", "engine.limits:SITE_LIMITS.seconds", _seconds),
        ("memory to pair its pages", "engine.limits:SITE_LIMITS.bytes", _size),
        ("URLs that the crawl ranks", "stages.crawl.hybrid.known_urls:MAX_KNOWN", _count),
        ("sitemaps", "frontier.politeness:Limits().sitemaps", _count),
        ("URLs in a sitemap", "page.sitemaps:MAX_ENTRIES", _count),
        ("refusals in a row", "frontier.politeness:Limits().refusals", _count),
        ("wait that it may ask for", "frontier.politeness:Politeness('').max_wait", _seconds),
        ("pages of one calendar", "frontier.traps:CALENDAR_LIMIT", _count),
    ),
    "machine": (
        ("share of its memory for a task", "engine.limits:MEMORY_SHARE", _share),
        ("memory that a task always has", "engine.limits:MIN_MEMORY", _size),
        ("open archives of a run", "run.open_archives:MAX_OPEN", _count),
        ("size of a WARC file", "run.archive:ROTATE_AT", _size),
    ),
}
"""by what is limited: names, places of constants, and how to write them"""


def ceilings() -> str:
    """The ceilings as a table: what is limited, by how much, and the constant that says so."""
    rows = (
        [scope, name, shown(_value(place)), f"`{_CALL.sub('', place).replace(':', '.')}`"]
        for scope, entries in CEILINGS.items()
        for name, place, shown in entries
    )
    return table(["of a", "ceiling", "value", "constant"], rows, right=["value"])


def _value(place: str) -> Any:
    """The value of a constant, or of a field of a class with its defaults."""
    module, _, path = place.partition(":")
    found: Any = import_module(f"diptych.{module}")
    for name in path.split("."):
        called, bracket, argument = name.partition("(")
        found = getattr(found, called)
        if bracket:
            found = found(*(["a"] if argument.startswith("'") else []))
    return found
