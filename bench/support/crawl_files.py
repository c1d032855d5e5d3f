"""Files in the formats of Common Crawl, generated: archives, URL index, columnar index and lists.

crawl-data/CRAWL/segments/SEGMENT/warc/CC-MAIN-....warc.gz      pages (status 200)
crawl-data/CRAWL/segments/SEGMENT/crawldiagnostics/....warc.gz  redirects and errors
crawl-data/CRAWL/{warc,cc-index,cc-index-table}.paths.gz        lists of files
cc-index/collections/CRAWL/indexes/{cdx-NNNNN.gz,cluster.idx}   blocks of 3,000 lines
cc-index/table/cc-main/warc/crawl=CRAWL/subset=warc/part-....parquet
"""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.support import columnar_files
from diptych.text.digests import body_digest

CRAWL = "CC-MAIN-2026-40"
_BEGIN = datetime(2026, 9, 20, 10, 30, 59, tzinfo=UTC)
_SPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # records have the same ids every time


@dataclass(frozen=True)
class CrawledPage:
    """A response that the crawler received."""

    url: str
    body: bytes
    languages: str = ""
    """ISO 639-3 codes that CLD2 found, joined by commas; empty if it found none"""
    status: int = 200
    mime: str = "text/html"
    day: int = 0
    """days after the begin of the crawl"""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def at(self) -> datetime:
        """The time of the capture."""
        return _BEGIN + timedelta(days=self.day)


@dataclass(frozen=True)
class Record:
    """A page of the crawl, and the place of its record."""

    page: CrawledPage
    file: str
    offset: int
    length: int

    @property
    def key(self) -> str:
        """The SURT key of the URL."""
        return columnar_files.surt(self.page.url)

    @property
    def digest(self) -> str:
        """The digest of the body, as the index has it."""
        return body_digest(self.page.body).removeprefix("sha1:")

    def line(self) -> bytes:
        """The line of the URL index."""
        page = self.page
        about: dict[str, str] = {
            "url": page.url, "mime": page.mime, "mime-detected": page.mime,
            "status": str(page.status), "digest": self.digest, "length": str(self.length),
            "offset": str(self.offset), "filename": self.file,
        }  # fmt: skip
        if page.languages:
            about |= {"charset": "UTF-8", "languages": page.languages}
        return f"{self.key} {page.at:%Y%m%d%H%M%S} {json.dumps(about)}".encode()


@dataclass
class CrawlFiles:
    """Writes the files of a crawl below a folder."""

    root: Path
    crawl: str = CRAWL
    block_lines: int = 3000
    archives: int = 2
    """number of archives over which the pages of a segment are spread"""
    index_files: int = 2
    with_table: bool = True
    """True to write the columnar index too"""
    records: list[Record] = field(default_factory=list)
    _paths: dict[str, list[str]] = field(default_factory=dict)

    def write(self, pages: Sequence[CrawledPage], others: Iterable[bytes] = ()) -> None:
        """Write all files; `others` are further lines of the URL index, sorted or not."""
        good = [page for page in pages if page.status == 200]
        bad = [page for page in pages if page.status != 200]
        for number in range(self.archives):
            self._write_archive("warc", number, good[number :: self.archives])
        self._write_archive("crawldiagnostics", 0, bad)
        self._write_index(others)
        if self.with_table:
            self._write_table()
        for name, paths in self._paths.items():
            text = "".join(f"{path}\n" for path in paths)
            path = self.root / "crawl-data" / self.crawl / f"{name}.paths.gz"
            path.write_bytes(gzip.compress(text.encode(), mtime=0))

    def _write_archive(self, subset: str, number: int, pages: Sequence[CrawledPage]) -> None:
        """Write an archive: information, and for each page a request, response and metadata."""
        segment = "1789900000000.42"
        name = f"CC-MAIN-20260920103059-20260920133059-{number:05d}.warc.gz"
        file = f"crawl-data/{self.crawl}/segments/{segment}/{subset}/{name}"
        path = self._new(file, subset)
        with path.open("wb") as out:
            out.write(_record("warcinfo", file, b"isPartOf: " + self.crawl.encode() + b"\r\n"))
            for page in pages:
                host = page.url.partition("://")[2].partition("/")[0]
                asked = f"GET / HTTP/1.1\r\nUser-Agent: CCBot/2.0\r\nHost: {host}\r\n\r\n"
                out.write(_record("request", page.url, asked.encode(), page))
                offset = out.tell()
                length = out.write(_record("response", page.url, _http(page), page))
                self.records.append(Record(page, file, offset, length))
                about = f'languages-cld2: {{"languages": "{page.languages}"}}\r\n'
                out.write(_record("metadata", page.url, about.encode(), page))

    def _write_index(self, others: Iterable[bytes]) -> None:
        """Write the URL index in blocks, each of them a gzip member, and the first key of each."""
        lines = sorted([*(record.line() for record in self.records), *others])
        folder = f"cc-index/collections/{self.crawl}/indexes"
        blocks = [
            lines[start : start + self.block_lines]
            for start in range(0, len(lines), self.block_lines)
        ]
        cluster: list[bytes] = []
        per_file = -(-len(blocks) // self.index_files) or 1
        for number in range(self.index_files):
            name = f"cdx-{number:05d}.gz"
            with self._new(f"{folder}/{name}", "cc-index").open("wb") as out:
                for block in blocks[number * per_file : (number + 1) * per_file]:
                    offset = out.tell()
                    length = out.write(gzip.compress(b"\n".join(block) + b"\n", mtime=0))
                    first = b" ".join(block[0].split(b" ")[:2])
                    place = f"\t{name}\t{offset}\t{length}\t{len(cluster) + 1}\n"
                    cluster.append(first + place.encode())
        self._new(f"{folder}/cluster.idx", "cc-index").write_bytes(b"".join(cluster))
        self._new(f"{folder}/metadata.yaml", "cc-index").write_text("surt: true\n")

    def _write_table(self) -> None:
        """Write the columnar index of the pages."""
        table = f"cc-index/table/cc-main/warc/crawl={self.crawl}/subset=warc"
        file = f"{table}/part-00000-0a1b2c3d.c000.gz.parquet"
        columnar_files.write(
            self._new(file, "cc-index-table"),
            [_row(each) for each in self.records if each.page.status == 200],
        )

    def _new(self, file: str, listed: str) -> Path:
        """The path of a file to write, which is added to a list of files."""
        self._paths.setdefault(listed, []).append(file)
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def other_line(host: str, number: int) -> bytes:
    """A line of the URL index about a page that no archive has."""
    url = f"https://{host}/page/{number:07d}"
    file = f"crawl-data/{CRAWL}/segments/1789900000000.42/warc/CC-MAIN-0-0-99999.warc.gz"
    page = CrawledPage(url, url.encode(), "eng")
    return Record(page, file, 1000 * number, 900).line()


def _row(record: Record) -> dict[str, Any]:
    page = record.page
    return columnar_files.row(
        page.url,
        page.languages or None,
        {
            "fetch_time": page.at.replace(tzinfo=None),
            "content_digest": record.digest,
            "warc_filename": record.file,
            "warc_record_offset": record.offset,
            "warc_record_length": record.length,
        },
    )


def _http(page: CrawledPage) -> bytes:
    """The response as the crawler stores it: decoded, with renamed headers."""
    lines = [
        f"HTTP/1.1 {page.status} {'OK' if page.status == 200 else 'Moved'}",
        f"Date: {page.at:%a, %d %b %Y %H:%M:%S GMT}",
        f"Content-Type: {page.mime}; charset=utf-8",
        "X-Crawler-Transfer-Encoding: chunked",
        "X-Crawler-Content-Encoding: gzip",
        *(f"{name}: {value}" for name, value in page.headers),
        f"Content-Length: {len(page.body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + page.body


def _record(kind: str, about: str, block: bytes, page: CrawledPage | None = None) -> bytes:
    """A compressed record as Common Crawl writes it (WARC 1.0)."""
    types = {"warcinfo": "application/warc-fields", "metadata": "application/warc-fields"}
    fields = {
        "WARC-Type": kind,
        "WARC-Date": f"{(page.at if page else _BEGIN):%Y-%m-%dT%H:%M:%SZ}",
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_SPACE, f'{kind} {about}')}>",
        "Content-Length": str(len(block)),
        "Content-Type": types.get(kind, f"application/http; msgtype={kind}"),
    }
    if page is not None:
        fields |= {"WARC-Warcinfo-ID": f"<urn:uuid:{_SPACE}>", "WARC-Target-URI": about}
    if page is not None and kind == "response":
        fields |= {
            "WARC-Concurrent-To": f"<urn:uuid:{uuid.uuid5(_SPACE, f'request {about}')}>",
            "WARC-IP-Address": "93.184.216.34",
            "WARC-Payload-Digest": body_digest(page.body),
            "WARC-Block-Digest": body_digest(block),
            "WARC-Identified-Payload-Type": page.mime,
        }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return gzip.compress(b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n", mtime=0)
