"""Copying records from other archives: what is kept, what is added, what is refused."""

from __future__ import annotations

import gzip
import io

import pytest
from fastwarc.warc import ArchiveIterator

from bench.support.crawl_files import CrawledPage, CrawlFiles, Record
from diptych.reason import Reason
from diptych.run import copied_records
from diptych.run.copied_records import Capture, CopiedRecord, copy_record
from diptych.types import Url

URL = "https://a.example/en/"
SOURCE = "https://data.example/crawl-data/x.warc.gz"
BODY = "<p>Ça va</p>".encode()


@pytest.fixture
def made(tmp_path) -> tuple[Record, bytes]:
    files = CrawlFiles(tmp_path, archives=1)
    files.write([CrawledPage(URL, BODY, "eng")])
    (record,) = files.records
    data = (tmp_path / record.file).read_bytes()
    return record, data[record.offset : record.offset + record.length]


def capture(record: Record, **changed: object) -> Capture:
    found = Capture(
        Url(record.page.url), "20260920103059", "eng", record.digest, record.file, record.offset,
        record.length,
    )  # fmt: skip
    return found._replace(**changed)


def parsed(data: bytes) -> tuple[dict[str, str], bytes]:
    """The fields and the block of the only record."""
    records = ArchiveIterator(io.BytesIO(data), parse_http=False)
    ((fields, block),) = [(dict(each.headers.items()), each.reader.read()) for each in records]
    return fields, block


def test_a_copy_keeps_everything_and_names_its_origin(made):
    record, member = made
    copied = copy_record(member, capture(record), SOURCE)
    assert isinstance(copied, CopiedRecord)
    old_fields, old_block = parsed(member)
    fields, block = parsed(copied.data)
    last = record.offset + record.length - 1
    added = {"WARC-Source-URI": SOURCE, "WARC-Source-Range": f"bytes={record.offset}-{last}"}
    assert fields == old_fields | added
    assert fields["WARC-Date"] == "2026-09-20T10:30:59Z"
    assert block == old_block
    assert (copied.response.url, copied.response.body) == (URL, BODY)


def changed(member: bytes, old: bytes, new: bytes) -> bytes:
    raw = gzip.decompress(member)
    assert old in raw
    return gzip.compress(raw.replace(old, new, 1))


def test_a_record_of_another_page_is_refused(made):
    record, member = made
    other = capture(record, url=Url("https://a.example/fr/"))
    assert copy_record(member, other, SOURCE) is Reason.NO_RECORD


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"WARC-Type: response", b"WARC-Type: revisit", Reason.NO_RECORD),
        (b"WARC/1.0", b"WORM/1.0", Reason.NO_RECORD),
        (b"HTTP/1.1 200", b"HTTP/1.1 404", Reason.NO_RECORD),
        (b"WARC-Type:", b"WARC-Source-URI: x\r\nWARC-Type:", Reason.NO_RECORD),
        (b"va</p>", b"la</p>", Reason.OTHER_CONTENT),
        (b"Content-Length:", b"Content-Size:", Reason.UNREADABLE),
        (b"\r\n\r\nHTTP", b"\r\n\r\n\r\nHTTP", Reason.UNREADABLE),
        (b"WARC-Target-URI: https:", b"WARC-Target-URI: file:", Reason.NO_RECORD),
    ],
)
def test_what_is_not_the_record_of_the_page_is_refused(made, old, new, reason):
    record, member = made
    assert copy_record(changed(member, old, new), capture(record), SOURCE) is reason


def test_bytes_that_are_no_single_member_are_refused(made):
    record, member = made
    for data in (b"", b"no gzip", member[:-1], member[5:], member + member, member + b"\0"):
        assert copy_record(data, capture(record), SOURCE) is Reason.UNREADABLE


def test_a_record_that_inflates_without_end_is_refused(made, monkeypatch):
    record, _ = made
    monkeypatch.setattr(copied_records, "MAX_RECORD", 10_000)
    bomb = gzip.compress(b"WARC/1.0\r\n" + bytes(1_000_000))
    assert copy_record(bomb, capture(record), SOURCE) is Reason.TOO_LARGE


def test_without_a_digest_in_the_index_the_rest_is_checked(made):
    record, member = made
    unknown = capture(record, digest="")
    assert isinstance(copy_record(member, unknown, SOURCE), CopiedRecord)
    assert copy_record(member, capture(record, digest="A" * 32), SOURCE) is Reason.OTHER_CONTENT
