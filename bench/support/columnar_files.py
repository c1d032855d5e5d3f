"""Parquet files in the schema of Common Crawl's columnar index, filled with generated pages.

The schema is the flat one of commoncrawl/cc-index-table, as of CC-MAIN-2026-30: names, order and
types of all columns; `crawl` and `subset` are folder names, not columns of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

if TYPE_CHECKING:
    import pyarrow as pa

CRAWL = "CC-MAIN-2026-30"
_PARTS = ("2nd", "3rd", "4th", "5th")
_WHEN = datetime(2026, 7, 20, 12, 30)
_WARC = f"crawl-data/{CRAWL}/segments/1784500000000.1/warc/CC-MAIN-20260720-00000.warc.gz"


@cache
def schema() -> pa.Schema:
    """All columns of a file, with their types."""
    import pyarrow as pa

    parts = [f"url_host_{part}_last_part" for part in _PARTS]
    suffixes = [
        f"url_host_{name}"
        for name in ("registry_suffix", "registered_domain", "private_suffix", "private_domain")
    ]
    text = pa.string()
    return pa.schema(
        [
            *(pa.field(name, text, nullable=False) for name in _FIRST),
            *(pa.field(name, text) for name in ("url_host_tld", *parts, *suffixes)),
            pa.field("url_host_name_reversed", text),
            pa.field("url_protocol", text, nullable=False),
            pa.field("url_port", pa.int32()),
            pa.field("url_path", text, nullable=False),
            pa.field("url_query", text),
            pa.field("fetch_time", pa.timestamp("ms", tz="UTC"), nullable=False),
            pa.field("fetch_status", pa.int16(), nullable=False),
            *(pa.field(name, text) for name in _CONTENT),
            pa.field("warc_record_id", pa.binary(), nullable=False),
            pa.field("warc_filename", text, nullable=False),
            pa.field("warc_record_offset", pa.int32(), nullable=False),
            pa.field("warc_record_length", pa.int32(), nullable=False),
            pa.field("warc_segment", text, nullable=False),
        ]
    )


_FIRST = ("url_surtkey", "url", "url_host_name")
_CONTENT = (
    "fetch_redirect", "content_digest", "content_mime_type", "content_mime_detected",
    "content_charset", "content_languages", "content_truncated",
)  # fmt: skip


@cache
def _suffixes(only_icann: bool) -> PublicSuffixList:
    return PublicSuffixList(only_icann=only_icann)


def host_columns(host: str) -> dict[str, str | None]:
    """The columns that describe a host.

    >>> [host_columns("fr.a.blogspot.com")[f"url_host_{name}_domain"]
    ...  for name in ("registered", "private")]
    ['blogspot.com', 'a.blogspot.com']
    """
    named: dict[str, str | None] = {"url_host_name": host}
    if host.replace(".", "").isdigit():  # an address has no parts
        return named
    labels = host.split(".")[::-1]
    named["url_host_tld"] = labels[0]
    for part, label in zip(_PARTS, labels[1:], strict=False):
        named[f"url_host_{part}_last_part"] = label
    registry, private = _suffixes(True), _suffixes(False)
    return {
        **named,
        "url_host_registry_suffix": registry.publicsuffix(host),
        "url_host_registered_domain": registry.privatesuffix(host),
        "url_host_private_suffix": private.publicsuffix(host),
        "url_host_private_domain": private.privatesuffix(host),
        "url_host_name_reversed": ".".join(labels),
    }


def surt(url: str) -> str:
    """The sort key of rows: the reversed host without `www`, in lower case.

    >>> surt("https://www.example.org/A?b"), surt("http://www2.example.org:8080/")
    ('org,example)/a?b', 'org,example:8080)/')
    """
    parts = urlsplit(url)
    host = re.sub(r"\Awww\d*\.", "", parts.hostname or "")
    port = f":{parts.port}" if parts.port else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{','.join(host.split('.')[::-1])}{port}){parts.path.lower()}{query.lower()}"


def row(
    url: str, languages: str | None, changed: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The row of a page: a distinct HTML page, except for the given columns."""
    parts = urlsplit(url)
    usual = {
        "url_surtkey": surt(url),
        "url": url,
        **host_columns(parts.hostname or ""),
        "url_protocol": parts.scheme,
        "url_port": parts.port,
        "url_path": parts.path,
        "url_query": parts.query or None,
        "fetch_time": _WHEN,
        "fetch_status": 200,
        "content_digest": sha1(url.encode()).hexdigest()[:32].upper(),
        "content_mime_type": "text/html",
        "content_mime_detected": "text/html",
        "content_charset": "UTF-8",
        "content_languages": languages,
        "warc_record_id": sha1(url.encode()).digest()[:16],
        "warc_filename": _WARC,
        "warc_record_offset": 1,
        "warc_record_length": 1000,
        "warc_segment": "1784500000000.1",
    }
    return {**usual, **(changed or {})}


def write(path: Path, rows: Iterable[Mapping[str, Any]], *, without: tuple[str, ...] = ()) -> Path:
    """Write a file of pages in the order of the index; some columns may be left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ordered = sorted(rows, key=lambda each: str(each["url_surtkey"]))
    table = pa.Table.from_pylist([dict(each) for each in ordered], schema=schema())
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        pq.write_table(table.drop_columns(list(without)), stream, compression="gzip")
    return path
