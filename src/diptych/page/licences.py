"""Map the URLs and titles of licences to SPDX names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from diptych.files import shipped_table

_MAX_ADDRESS = 300  # characters that are searched
# Only links with one of these are examined; most pages have none.
_HINTS = ("creativecommons.org/", "/fdl", "government-licence")
_PARTS = ("by", "nc", "nd", "sa")  # the order in SPDX; the licences of 2002 used another order
_CC_URL = re.compile(
    r"creativecommons\.org/licen[cs]es/((?:by|nc|nd|sa)(?:-(?:nc|nd|sa)){0,3})"
    r"(?:/(\d\.\d)(?:/(igo|scotland|[a-z]{2})(?![a-z]))?)?"
)
_CC_NAME = re.compile(
    r"\b(?:cc|creative commons)[ -](by(?:-(?:nc|nd|sa)){0,3})(?:[ -](\d\.\d))?()(?![\w-])"
)
_UNPORTED = "4.0"  # from this version on, one text is valid for all countries

# For each licence its kind, a pattern of its URL or name in lower case, and its SPDX name, where
# {} stands for the version.  Links to program licences are everywhere: such a licence counts only
# if the page states it for itself.
_PATTERNS = [
    (kind, re.compile(pattern), name)
    for kind, pattern, name in shipped_table("diptych.page", "licences.tsv")
]
_SPDX = re.compile(
    r"spdx\.org/licenses/([A-Za-z0-9][A-Za-z0-9.+-]{0,39}?)(?:\.html|\.json)?(?:\Z|[#?])"
)


def licence_named(text: str) -> str:
    """The SPDX name of the licence that a URL or title denotes, or an empty string.

    >>> licence_named("https://creativecommons.org/licenses/by-sa/3.0/de/deed.de")
    'CC-BY-SA-3.0-DE'
    >>> licence_named("CC BY-NC 4.0"), licence_named("/copyright.html")
    ('CC-BY-NC-4.0', '')
    """
    text = text[:_MAX_ADDRESS]
    if exact := _SPDX.search(text):
        return exact[1]
    lowered = text.lower()
    return _of_content(lowered) or _known(lowered, "program")


def licences_linked(addresses: Iterable[str]) -> set[str]:
    """Find the SPDX names of content licences among linked addresses.

    >>> sorted(licences_linked(["http://a.org/", "https://www.gnu.org/licenses/fdl-1.3.html"]))
    ['GFDL-1.3']
    """
    joined = "\n".join(addresses)
    there = [hint for hint in _HINTS if hint in joined]
    if not there:
        return set()
    likely = {line for line in joined.split("\n") if any(hint in line for hint in there)}
    return {_of_content(line[:_MAX_ADDRESS].lower()) for line in likely} - {""}


def _of_content(lowered: str) -> str:
    found = _CC_URL.search(lowered) or _CC_NAME.search(lowered)
    return _creative_commons(*found.groups()) if found else _known(lowered, "content")


def _known(lowered: str, kind: str) -> str:
    for own, pattern, name in _PATTERNS:
        if own == kind and (found := pattern.search(lowered)):
            version = found[1] if pattern.groups else None
            return name.format(version) if version else name.partition("-{}")[0]
    return ""


def _creative_commons(parts: str, version: str | None, country: str | None) -> str:
    """The SPDX name of a Creative Commons licence.

    >>> _creative_commons("by-nd-nc", "1.0", None)
    'CC-BY-NC-ND-1.0'
    """
    name = ["cc", *(part for part in _PARTS if part in parts.split("-"))]
    name += [version] if version else []
    name += [country] if version and country and version < _UNPORTED else []
    return "-".join(name).upper()
