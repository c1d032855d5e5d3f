"""Flags of a page: machine translation, robots directives, licences, TDM reservation, languages.

A flag is one word, `kind` or `kind:name`.  Flags are evidence: nothing is discarded here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from diptych.kernels.dom_scan import Scanned, ScannedMeta
from diptych.language.codes import hreflang_language
from diptych.page.licences import licence_named, licences_linked
from diptych.page.translators import machine_declared, machines
from diptych.types import Link

_MAX_LICENCES = 8  # of each kind: stated licences and linked licences
_MAX_FLAG = 64  # characters
_FLAG = re.compile(r"[A-Za-z0-9:._/+-]+")
_MAX_ELEMENTS = 200  # meta elements, and licence statements
_BEGINNING, _END = 12_000, 6_000  # bytes searched at the start and end of a page's source
_MISPLACED = 2_000  # bytes of the body that are searched for misplaced meta elements
MAX_VALUE = 2_000  # characters of a header or attribute value
_MANY_LANGUAGES = 12  # few sites have human translations into that many languages

# Robots meta elements and headers: the agents they address, and the directives that forbid.
_AGENTS = frozenset({"", "*", "robots", "googlebot", "diptychbot"})
_DIRECTIVES = {
    "noindex": "noindex", "none": "noindex", "noarchive": "noarchive", "noai": "noai",
    "noimageai": "noimageai",
}  # fmt: skip
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SEPARATOR = re.compile(r"[\s,;]+")
_RESERVED = "tdm-reserved"
_OTHER = "licence:other"  # only if none of the stated licences is known

_LICENCE_NAMES = frozenset(
    "dcterms.license dc.license dc.rights.license dcterms.licence license licence".split()
)
_RIGHTS_NAMES = frozenset("dc.rights dcterms.rights rights copyright".split())
_STATEMENTS = "a[rel~=license i],link[rel~=license i],area[rel~=license i]"
_JSON_LICENCE = re.compile(
    rb'"license"\s{0,20}:\s{0,20}(?:\{[^{}"]{0,20}"@id"\s{0,9}:\s{0,9})?"([^"]{1,300})"'
)
_HEADER_LICENCE = re.compile(r"""<([^<>]*)>[^<>,]*;\s*rel\s*=\s*["']?[^"',;<>]*\blicense\b""", re.I)


class Declared(NamedTuple):
    """The elements of a page that declare something about it."""

    metas: Sequence[ScannedMeta] = ()
    licences: Sequence[str] = ()
    """targets of links with the relation `license`"""


def declared_by(parser: LexborHTMLParser) -> Declared:
    """The declarations of a page, found with selectors."""
    head = parser.head
    in_head = {element.mem_id for element in head.css("meta")} if head is not None else set()
    metas = []
    for element in parser.css("meta"):
        own = element.attributes
        name, content = own.get("name") or own.get("property") or "", own.get("content") or ""
        metas.append(ScannedMeta(name, content, element.mem_id in in_head))
    licences = [element.attributes.get("href") or "" for element in parser.css(_STATEMENTS)]
    return Declared(metas, licences)


def scanned_declared(scanned: Scanned) -> Declared:
    """The declarations of a page that was scanned."""
    return Declared(scanned.metas, scanned.licences)


def page_flags(
    parser: LexborHTMLParser,
    headers: Iterable[tuple[str, str]],
    url: str,
    links: Sequence[Link],
    declared: Declared,
) -> tuple[str, ...]:
    """All flags of a page, sorted.

    >>> parser = LexborHTMLParser("<meta name=robots content='noai, noindex'><p>a")
    >>> page_flags(parser, [("TDM-Reservation", "1")], "http://a.org/", [], declared_by(parser))
    ('noai', 'noindex', 'tdm-reserved')
    """
    raw = parser.raw_html
    source = _edges(raw)
    root = parser.root.attributes if parser.root is not None else {}
    html_lang = root.get("lang") or root.get("xml:lang") or ""
    found = header_flags(headers)
    metas = list(_metas(declared.metas, source))
    found.update(_robots_meta(metas))
    names = machines(source, url, html_lang, (root.get("class") or "").lower())
    names.update(machine_declared(name, content) for name, content in metas)
    found.update(f"machine:{name}" for name in names if name)
    found.update(_languages(links))
    stated = {*_stated_in_metas(metas), *map(_licence, declared.licences[:_MAX_ELEMENTS])}
    found.update(_licences(raw, source, stated, links))
    return _bounded(found)


def _licence(said: str) -> str:
    return licence_named(said) or "other"


def _edges(raw: bytes) -> bytes:
    """The start and end of a page's source, in lower case; most declarations are found there.

    Searching the whole source would make parsing a long page 10% slower.
    """
    middle = len(raw) > _BEGINNING + _END
    return (raw[:_BEGINNING] + b"<" + raw[-_END:] if middle else raw).lower()


def _bounded(found: Iterable[str]) -> tuple[str, ...]:
    """Sort flags, and drop surplus licences and flags that are too long or malformed."""
    kept = sorted(flag for flag in found if len(flag) <= _MAX_FLAG and _FLAG.fullmatch(flag))
    stated = [flag for flag in kept if flag.startswith("licence:")]
    linked = [flag for flag in kept if flag.startswith("licence-link:")]
    if len(stated) > 1 and _OTHER in stated:
        stated.remove(_OTHER)
    # Only the number of licences is unbounded; they must not displace what the page forbids.
    others = {*kept} - {*stated, *linked, _OTHER}
    return tuple(sorted({*others, *stated[:_MAX_LICENCES], *linked[:_MAX_LICENCES]}))


def _metas(metas: Sequence[ScannedMeta], source: bytes) -> Iterator[tuple[str, str]]:
    """Yield the lower-case name and the content of each meta element."""
    # Those in the body count only if they stand at its start, where some sites misplace them.
    body = max(0, source.find(b"<body"))
    is_outside = source.find(b"<meta", body, body + _MISPLACED) >= 0
    own = [meta for meta in metas if is_outside or meta.is_in_head]
    for name, content, _ in own[:_MAX_ELEMENTS]:
        if name:
            yield name[:100].strip().lower(), content[:MAX_VALUE].strip()


# Robots


def header_flags(headers: Iterable[tuple[str, str]]) -> set[str]:
    """Flags from HTTP headers: `X-Robots-Tag`, `TDM-Reservation` (W3C), `Link`.

    >>> sorted(header_flags([("X-Robots-Tag", "otherbot: noindex, googlebot: noarchive, noai")]))
    ['noai', 'noarchive']
    """
    found: set[str] = set()
    for name, value in headers:
        lowered = name.lower()
        if lowered == "x-robots-tag":
            found.update(_forbidden(value[:MAX_VALUE]))
        elif lowered == "tdm-reservation" and value.strip() == "1":
            found.add(_RESERVED)
        elif lowered == "link" and "license" in value.lower():
            statements = _HEADER_LICENCE.findall(value[:MAX_VALUE])
            found.update(f"licence:{licence_named(said) or 'other'}" for said in statements)
    return found


def _forbidden(value: str) -> Iterator[str]:
    """Yield the flags from an `X-Robots-Tag` header that apply to our agent.

    The name of a user agent applies to all directives up to the next name.
    """
    agent = ""
    for item in value.lower().split(","):
        name, colon, rest = item.partition(":")
        if colon and name.strip() not in _VALUED:
            agent, item = name.strip(), rest
        if agent in _AGENTS:
            yield from _flags_of(item)


def _flags_of(directives: str) -> Iterator[str]:
    for word in _SEPARATOR.split(directives):
        if word in _DIRECTIVES:
            yield _DIRECTIVES[word]


def _robots_meta(metas: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, content in metas:
        if name in _AGENTS:
            yield from _flags_of(content.lower())
        elif name == "tdm-reservation" and content == "1":
            yield _RESERVED


# Languages and licences


def _languages(links: Iterable[Link]) -> list[str]:
    """The flag `languages:N` if a page declares unusually many translations, otherwise no flag."""
    values = {link[2] for link in links if link[1] == "alternate"}
    if len(values) < _MANY_LANGUAGES:
        return []
    names = {hreflang_language(lang).partition("-")[0] for lang in sorted(values)[:_MAX_ELEMENTS]}
    count = len(names - {""})
    return [f"languages:{count}"] if count >= _MANY_LANGUAGES else []


def _licences(raw: bytes, source: bytes, stated: set[str], links: Iterable[Link]) -> Iterator[str]:
    """Yield flags for the licences that a page states for itself or only links to."""
    linked = licences_linked([link[0] for link in links])
    for said, is_own in _stated_in_json(raw, source):
        (stated if is_own else linked).add(_licence(said))
    yield from (f"licence:{name}" for name in stated)
    yield from (f"licence-link:{name}" for name in linked - stated - {"other"})


def _stated_in_metas(metas: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, content in metas:
        if name in _LICENCE_NAMES and content:
            yield licence_named(content) or "other"
        elif name in _RIGHTS_NAMES and (named := licence_named(content)):
            yield named  # other statements reserve rights and are not licences


def _stated_in_json(raw: bytes, source: bytes) -> Iterator[tuple[str, bool]]:
    """Yield (licence, is_own) for each licence in JSON-LD.

    `is_own` is False if the licence may apply to an image rather than to the page.
    """
    if b'"license"' not in source or b"ld+json" not in source:
        return
    is_own = b'"imageobject"' not in source
    for found in _JSON_LICENCE.findall(raw)[:_MAX_ELEMENTS]:
        yield found.decode("utf-8", "replace").replace("\\/", "/"), is_own
