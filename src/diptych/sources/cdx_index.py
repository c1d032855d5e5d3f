"""The URL index of a Common Crawl archive (CDXJ in ZipNum blocks): its keys, and its lines.

A line is a SURT key, a time and a JSON object.  Blocks of 3,000 lines are gzip members of
`cdx-NNNNN.gz`, and each line of `cluster.idx` is the first key of a block and its place.  All of it
comes from outside: a line with anything unexpected is not used.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from diptych.run.captures import Block
from diptych.run.copied_records import Capture
from diptych.text.urls import normalise, site_name
from diptych.types import Url

MAX_BLOCK = 32_000_000  # bytes of a block, decompressed; 3,000 lines have 1 to 2 MB
MAX_COMPRESSED = 16_000_000  # bytes of a block as it is stored; usually 200 to 300 kB
MAX_LINE = 1 << 17  # bytes of a line; a URL may have 2 kB, and it is there twice
MAX_LENGTH = 32_000_000  # bytes of a record as it is stored
MAX_OFFSET = 1 << 40  # bytes of an archive; Common Crawl's have 1 GB
PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""media types of pages"""
INVALID, NO_PAGE, OTHER_LANGUAGE, OUTSIDE = "invalid", "no_page", "other_language", "outside"
"""reasons to skip a capture"""
_FILE = re.compile(r"crawl-data/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_][A-Za-z0-9._=-]*)+\.warc\.gz\Z")
_INDEX_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\.gz\Z")
_TIME = re.compile(r"\d{14}\Z")
_DIGEST = re.compile(r"[A-Z2-7]{32}\Z")
_LANGUAGES = re.compile(r"[a-z]{3}(?:,[a-z]{3})*\Z")


class KeyRange(NamedTuple):
    """A range of SURT keys: from `low` on, and less than `high`."""

    low: bytes
    high: bytes


def key_ranges(url: str, scope: str) -> list[KeyRange]:
    """The keys of all pages of the site of a URL, in order.

    `scope` is the extent of a site.  Keys are without `www`, in lower case; a folder is only a
    condition on the URLs within its host.

    >>> key_ranges("https://www.example.org/", "site")
    [KeyRange(low=b'org,example)', high=b'org,example-')]
    >>> key_ranges("https://fr.example.org:8080/", "host")
    [KeyRange(low=b'org,example,fr:8080)', high=b'org,example,fr:8080*')]
    """
    name = site_name(url) if scope == "site" else url.partition("://")[2].partition("/")[0]
    host, colon, port = name.partition(":") if not name.startswith("[") else (name, "", "")
    host = ",".join(re.sub(r"\Awww\d*\.(?=.*\.)", "", host).split(".")[::-1])
    # `)` ends a host, `,` begins the hosts below it, and `-` is the next character.
    own = KeyRange(f"{host}{colon}{port})".encode(), f"{host}{colon}{port}*".encode())
    if scope != "site":
        return [own]
    if port:
        return [KeyRange(f"{host},".encode(), f"{host}-".encode()), own]
    return [own._replace(high=f"{host}-".encode())]


def is_inside(key: bytes, ranges: Sequence[KeyRange]) -> bool:
    """True if a key lies in one of the ranges."""
    return any(low <= key < high for low, high in ranges)


class IndexLine(NamedTuple):
    """A line of `cluster.idx`: the first key of a block, and its place."""

    key: bytes
    block: Block


def index_line(line: bytes) -> IndexLine | None:
    r"""Parse a line of `cluster.idx`; None if it is invalid.

    >>> index_line(b"org,example)/a 20260920103059\tcdx-00042.gz\t1000\t200\t7")
    IndexLine(key=b'org,example)/a', block=Block(file='cdx-00042.gz', offset=1000, length=200))
    >>> index_line(b"org,example)/a 20260920103059\t../etc/passwd\t1000\t200\t7") is None
    True
    """
    fields = line.split(b"\t")
    if len(fields) < 4:
        return None
    file = fields[1].decode("ascii", "replace")
    offset, length = (_number(field.decode("ascii", "replace")) for field in fields[2:4])
    is_place = offset is not None and length is not None and 0 < length <= MAX_COMPRESSED
    if not is_place or not _INDEX_FILE.match(file):
        return None
    return IndexLine(fields[0].partition(b" ")[0], Block(file, offset or 0, length or 0))


def block_lines(data: bytes) -> Iterator[bytes]:
    """The lines of a block; a `ValueError` if it is no gzip member of a usual size."""
    inflater = zlib.decompressobj(31)
    try:
        text = inflater.decompress(data, MAX_BLOCK + 1)
    except zlib.error as fault:
        raise ValueError("it is not compressed with gzip") from fault
    if len(text) > MAX_BLOCK or not inflater.eof:
        raise ValueError("it is too long, or incomplete")
    return (line for line in text.split(b"\n") if line)


class Filter(NamedTuple):
    """The captures of interest: their languages, and the site of each URL."""

    codes: Mapping[str, str]
    """codes of the requested languages in the index; empty: any language"""
    site_of: Callable[[str], str | None]


def capture_of(fields: Mapping[str, Any], chosen: Filter) -> tuple[str, Capture | str]:
    """The site and the capture that an entry describes, or its site and why it is skipped.

    >>> chosen = Filter({"eng": "en"}, lambda url: "a.org")
    >>> capture_of({"url": "http://a.org/", "status": "301"}, chosen)
    ('a.org', 'no_page')
    """
    url = normalise(str(fields.get("url") or ""))
    site = chosen.site_of(url) if url else None
    if url is None or site is None:
        return "", OUTSIDE if url else INVALID
    mime = fields.get("mime-detected") or fields.get("mime")
    if str(fields.get("status")) != "200" or mime not in PAGES:
        return site, NO_PAGE
    said = fields.get("languages") or ""
    langs = said.split(",") if isinstance(said, str) and _LANGUAGES.match(said) else []
    known = [code for code in langs if code in chosen.codes]
    if langs and chosen.codes and not known:
        return site, OTHER_LANGUAGE
    found = _placed(url, (known or langs or [""])[0], fields)
    return site, INVALID if found is None else found


def _placed(url: Url, lang: str, fields: Mapping[str, Any]) -> Capture | None:
    """The capture with the place of its record; None if that is impossible."""
    at, file, digest = (str(fields.get(name) or "") for name in ("timestamp", "filename", "digest"))
    offset, length = _number(fields.get("offset")), _number(fields.get("length"))
    if offset is None or length is None or not 0 < length <= MAX_LENGTH:
        return None
    if not _TIME.match(at) or not _FILE.match(file) or ".." in file:
        return None
    return Capture(url, at, lang, digest if _DIGEST.match(digest) else "", file, offset, length)


def entries(lines: Iterable[bytes], ranges: Sequence[KeyRange]) -> Iterator[Mapping[str, Any]]:
    r"""The entries of an index whose keys are in the ranges; an invalid one is empty.

    >>> line = b'org,a)/ 20260920103059 {"url": "http://a.org/", "status": "200"}'
    >>> list(entries([line, b"org,a)/b 2026 ["], key_ranges("http://a.org/", "site")))
    [{'url': 'http://a.org/', 'status': '200', 'timestamp': '20260920103059'}, {}]
    """
    for line in lines:
        key, _, rest = line.partition(b" ")
        if not is_inside(key, ranges):
            continue
        at, _, text = rest.partition(b" ")
        try:
            found = orjson.loads(text) if len(line) <= MAX_LINE else None
        except ValueError:
            found = None
        timestamp = at.decode("ascii", "replace")
        yield {**found, "timestamp": timestamp} if isinstance(found, dict) else {}


def _number(value: object) -> int | None:
    """A number of bytes, which the index writes as a string; None if it is impossible.

    >>> _number("12"), _number(12), _number("-1"), _number("1e3"), _number(10 ** 30)
    (12, 12, None, None, None)
    """
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else MAX_OFFSET
    return number if number < MAX_OFFSET else None
