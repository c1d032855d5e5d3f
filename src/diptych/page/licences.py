"""Names of licences (SPDX) from their addresses and titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_MAX_ADDRESS = 300  # characters that are looked at
# Links to one of these are looked at; most pages have none, and are soon done.
_HINTS = ("creativecommons.org/", "/fdl", "government-licence")
_PARTS = ("by", "nc", "nd", "sa")  # the order SPDX has; the licences of 2002 had another
_CC_URL = re.compile(
    r"creativecommons\.org/licen[cs]es/((?:by|nc|nd|sa)(?:-(?:nc|nd|sa)){0,3})"
    r"(?:/(\d\.\d)(?:/(igo|scotland|[a-z]{2})(?![a-z]))?)?"
)
_CC_NAME = re.compile(
    r"\b(?:cc|creative commons)[ -](by(?:-(?:nc|nd|sa)){0,3})(?:[ -](\d\.\d))?()(?![\w-])"
)
_UNPORTED = "4.0"  # from here on there is one text for all countries

# Address or name in lower case, and what SPDX calls it; {} stands for the version that was found.
_CONTENT = (
    (r"creativecommons\.org/publicdomain/zero|\bcc0\b|\bcc-zero\b", "CC0-1.0"),
    (r"creativecommons\.org/publicdomain/mark", "CC-PDM-1.0"),
    (r"creativecommons\.org/licen[cs]es/publicdomain", "CC-PDDC"),
    (r"gnu\.org/(?:[\w-]+/){1,2}fdl(?:-(\d\.\d))?(?![\w-])", "GFDL-{}"),
    (r"\bgfdl(?:-(\d\.\d))?(?![\w.-])", "GFDL-{}"),
    (r"nationalarchives\.gov\.uk/doc/open-government-licence(?:/version/(\d))?", "OGL-UK-{}.0"),
    (r"open-government-licence-canada", "OGL-Canada-2.0"),
    (r"opendatacommons\.org/licen[cs]es/odbl", "ODbL-1.0"),
    (r"opendatacommons\.org/licen[cs]es/by", "ODC-By-1.0"),
    (r"etalab\.gouv\.fr/licence-ouverte", "etalab-2.0"),
    (r"govdata\.de/dl-de/by-2-0", "DL-DE-BY-2.0"),
    (r"govdata\.de/dl-de/zero-2-0", "DL-DE-ZERO-2.0"),
)
# Programs are linked with these: they count only where the page says that it means itself.
_PROGRAMS = (
    (r"gnu\.org/(?:[\w-]+/){1,2}gpl(?:-(\d\.\d))?(?![\w-])", "GPL-{}"),
    (r"gnu\.org/(?:[\w-]+/){1,2}lgpl(?:-(\d\.\d))?(?![\w-])", "LGPL-{}"),
    (r"apache\.org/licen[cs]es/license-2\.0", "Apache-2.0"),
    (r"opensource\.org/licen[cs]es?/mit(?![\w-])", "MIT"),
)
_SPDX = re.compile(
    r"spdx\.org/licenses/([A-Za-z0-9][A-Za-z0-9.+-]{0,39}?)(?:\.html|\.json)?(?:\Z|[#?])"
)


def _reader(table: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    compiled = [(re.compile(pattern), name) for pattern, name in table]

    def read(address: str) -> str:
        for pattern, name in compiled:
            if found := pattern.search(address):
                version = found[1] if pattern.groups else None
                return name.format(version) if version else name.partition("-{}")[0]
        return ""

    return read


_content, _programs = _reader(_CONTENT), _reader(_PROGRAMS)


def licence_named(text: str) -> str:
    """The licence that an address or a name stands for, or an empty string.

    >>> licence_named("https://creativecommons.org/licenses/by-sa/3.0/de/deed.de")
    'CC-BY-SA-3.0-DE'
    >>> licence_named("CC BY-NC 4.0"), licence_named("/copyright.html")
    ('CC-BY-NC-4.0', '')
    """
    text = text[:_MAX_ADDRESS]
    if exact := _SPDX.search(text):
        return exact[1]
    lowered = text.lower()
    return _of_content(lowered) or _programs(lowered)


def licences_linked(addresses: Iterable[str]) -> set[str]:
    """The licences for texts that some addresses lead to.

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
    return _creative_commons(*found.groups()) if found else _content(lowered)


def _creative_commons(parts: str, version: str | None, country: str | None) -> str:
    """The name of a Creative Commons licence, its parts in the order of SPDX.

    >>> _creative_commons("by-nd-nc", "1.0", None)
    'CC-BY-NC-ND-1.0'
    """
    name = ["cc", *(part for part in _PARTS if part in parts.split("-"))]
    name += [version] if version else []
    name += [country] if version and country and version < _UNPORTED else []
    return "-".join(name).upper()
