from __future__ import annotations

import gzip
import io
import os
import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples
from warcio.archiveiterator import ArchiveIterator

from diptych.errors import ArchiveError
from diptych.run.scan import ArchivedResponse, check_archive, records, scan
from diptych.run.warc import Origin, compose, compose_info, read_at
from diptych.text.digests import body_digest
from diptych.types import Response, Url

URL = Url("http://example.org/caf%C3%A9?a=1&b=2")
HTML = (("Content-Type", "text/html"),)


def answer(
    body: bytes = b"<p>lamp</p>",
    *headers: tuple[str, str],
    url: Url = URL,
    status: int = 200,
    truncated: str = "",
    ip: str = "",
) -> Response:
    return Response(url, status, headers or HTML, body, 1_700_000_000.0, ip, truncated)


def scanned(data: bytes, name: str = "a.warc.gz") -> tuple[list[Response], str]:
    """The responses of an archive, and its error message."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        found: list[Response] = []
        try:
            for located in scan(path):
                found.append(located.response)
        except ArchiveError as error:
            return found, str(error)
        return found, ""


def same(left: Response, right: Response) -> bool:
    """True if two heads are equal except for the position of Content-Length."""
    return (left.url, left.status, left.body, left.fetched_at, left.ip, left.truncated) == (
        right.url, right.status, right.body, right.fetched_at, right.ip, right.truncated,
    )  # fmt: skip


tokens = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,15}", fullmatch=True).filter(
    lambda name: (
        name.lower() not in ("content-length", "transfer-encoding", "connection", "keep-alive")
    )
)
visible = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
values = st.lists(visible, min_size=1, max_size=4).map(" ".join)
headers = st.lists(st.tuples(tokens, values), max_size=5).map(tuple)
statuses = st.sampled_from([200, 204, 301, 404, 429, 503, 999])


@given(body=st.binary(max_size=2000), headers=headers, status=statuses)
@example(body=b"\r\n\r\n", headers=(), status=200)
@example(body=b"HTTP/1.1 200 OK\r\n\r\n", headers=(), status=200)
@example(
    body=b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    headers=(),
    status=200,
)
@example(body=bytes(range(256)) * 8, headers=(("Content-Encoding", "gzip"),), status=200)
def test_composed_records_are_read_again(
    body: bytes, headers: tuple[tuple[str, str], ...], status: int
) -> None:
    response = Response(URL, status, headers, body, 1_700_000_000.0, "192.0.2.1")
    again = read_at(io.BytesIO(compose(response)), 0)
    assert again is not None
    assert same(again, response)
    assert again.headers == (*headers, ("Content-Length", str(len(body))))


@given(st.lists(st.binary(max_size=500), max_size=6))
def test_records_of_a_file_are_found_at_their_offsets(bodies: list[bytes]) -> None:
    records = [compose(answer(body, url=Url(f"http://a.org/{n}"))) for n, body in enumerate(bodies)]
    data = compose_info(agent="a", name="b", now=0.0) + b"".join(records)
    found, error = scanned(data)
    assert error == ""
    assert [response.body for response in found] == bodies
    offset = len(data) - sum(map(len, records))
    for record, body in zip(records, bodies, strict=True):
        response = read_at(io.BytesIO(data), offset)
        assert response is not None
        assert response.body == body
        offset += len(record)


def test_record_whose_content_has_changed_does_not_have_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    whole, changed = (gzip.decompress(compose(answer(body))) for body in (b"lamp", b"lump"))
    changed = changed.replace(b"lump", b"lamp")
    path.write_bytes(whole + changed + whole)
    found = [(record.offset, record.is_whole) for record in records(path, len(whole + changed))]
    assert found == [(0, True), (len(whole), False)]


def test_scan_says_where_each_record_is(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(
        compose_info(agent="a", name="b", now=0.0)
        + b"".join(compose(answer(b"x" * n, url=Url(f"http://a.org/{n}"))) for n in range(5))
    )
    located = list(scan(path))
    assert len(located) == 5
    for offset, response in located:
        with path.open("rb") as stream:
            assert read_at(stream, offset) == response


@pytest.mark.parametrize("value", ["café", "\xe9\xe8", "a\tb", " a  b ", "a\r\n b"])
def test_odd_header_values_stay_one_line_and_one_header(value: str) -> None:
    again = read_at(io.BytesIO(compose(answer(b"x", ("X-Odd", value), ("X-Next", "1")))), 0)
    assert again is not None
    names = [name for name, _ in again.headers]
    assert names == ["X-Odd", "X-Next", "Content-Length"]
    assert again.body == b"x"


@pytest.mark.parametrize(("status", "line"), [(404, b"404 Not Found"), (999, b"999 Unknown")])
def test_first_line_names_the_status(status: int, line: bytes) -> None:
    record = gzip.decompress(compose(answer(status=status)))
    assert b"\r\n\r\nHTTP/1.1 " + line + b"\r\nContent-Type" in record


def test_header_value_that_no_server_sends_is_stored_in_utf_8() -> None:
    data = gzip.decompress(compose(answer(b"x", ("X-Odd", "日本"))))
    assert "\r\nX-Odd: 日本\r\n".encode() in data


@pytest.mark.parametrize(
    "value", ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "a\r\n\r\n<p>"]
)
def test_header_value_cannot_become_a_header_or_the_body(value: str) -> None:
    again = read_at(io.BytesIO(compose(answer(b"x", ("X-Odd", value)))), 0)
    assert again is not None
    assert [name for name, _ in again.headers] == ["X-Odd", "Content-Length"]
    assert again.body == b"x"


def test_record_ends_as_the_standard_says() -> None:
    record = gzip.decompress(compose(answer(b"lamp")))
    head, _, rest = record.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)\Z", head)
    assert length is not None
    assert rest[int(length[1]) :] == b"\r\n\r\n"
    assert rest[: int(length[1])].endswith(b"\r\n\r\nlamp")


def wire(text: str) -> str:
    """A UTF-8 header value as HTTP libraries show it, decoded as Latin-1."""
    return text.encode().decode("latin-1")


@pytest.mark.parametrize(
    "value",
    ["\xe9t\xe9", wire("été"), wire("voilà/à"), wire("groß"), wire("日本"), "\x80\x97\x9f\xff"],
)
def test_bytes_of_header_values_are_kept(value: str) -> None:
    data = compose(answer(b"x", ("Location", value), ("X-Next", "1")))
    assert b"Location: " + value.encode("latin-1") + b"\r\n" in gzip.decompress(data)
    again = read_at(io.BytesIO(data), 0)
    assert again is not None
    assert again.header("Location") == value


def test_body_is_stored_as_it_is_with_its_own_length() -> None:
    headers = (
        ("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
        ("Keep-Alive", "timeout=5"), ("Content-Encoding", "gzip"),
    )  # fmt: skip
    again = read_at(io.BytesIO(compose(answer(b"\x1f\x8bwhatever", *headers))), 0)
    assert again is not None
    assert again.headers == (
        ("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Content-Length", "10"),
    )  # fmt: skip
    assert again.body == b"\x1f\x8bwhatever"


@pytest.mark.parametrize("length", ["3", "99999", "nonsense"])
def test_wrong_length_in_the_head_does_not_cut_the_body(length: str) -> None:
    again = read_at(
        io.BytesIO(compose(answer(b"longer than three", ("Content-Length", length)))), 0
    )
    assert again is not None
    assert again.body == b"longer than three"
    assert again.headers == (("Content-Length", length),), "as the server said it"


@pytest.mark.parametrize(
    ("truncated", "stored"),
    [
        ("", ""),
        ("length", "length"),
        ("time", "time"),
        ("disconnect", "disconnect"),
        ("content_type", "unspecified"),
    ],
)
def test_reason_of_truncation_is_stored(truncated: str, stored: str) -> None:
    data = compose(answer(b"", truncated=truncated))
    again = read_at(io.BytesIO(data), 0)
    assert again is not None
    assert again.truncated == stored
    assert bool(again.header("Content-Length")) is not bool(stored), "nobody knows how long it was"
    assert (b"WARC-Truncated" in gzip.decompress(data)) is bool(stored)


# -- other readers -----------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.binary(max_size=800), headers, statuses), min_size=1, max_size=4))
def test_warcio_reads_the_same_and_the_digests_hold(
    answers: list[tuple[bytes, tuple[tuple[str, str], ...], int]],
) -> None:
    responses = [
        Response(URL, status, headers, body, 1e9, "192.0.2.1") for body, headers, status in answers
    ]
    data = compose_info(agent="a", name="b", now=0.0) + b"".join(map(compose, responses))
    iterator = ArchiveIterator(io.BytesIO(data), check_digests="raise")
    records = []
    for record in iterator:
        records.append(
            (record.rec_type, record.rec_headers, record.http_headers, record.raw_stream.read())
        )
    assert [kind for kind, *_ in records] == ["warcinfo", *["response"] * len(responses)]
    for (_, fields, http, body), response in zip(records[1:], responses, strict=True):
        assert body == response.body
        assert http.get_statuscode() == str(response.status)
        assert fields.get_header("WARC-Target-URI") == response.url
        assert fields.get_header("WARC-Date") == "2001-09-09T01:46:40Z"
        assert fields.get_header("WARC-IP-Address") == "192.0.2.1"
        assert fields.get_header("WARC-Payload-Digest").startswith("sha1:")
    assert iterator.err_count == 0


def test_info_record_names_software_file_and_agent() -> None:
    text = gzip.decompress(compose_info(agent="DiptychBot/1", name="x.warc.gz", now=0.0)).decode()
    assert text.startswith("WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 1970-01-01T00:00:00Z\r\n")
    assert "WARC-Filename: x.warc.gz\r\n" in text
    assert "Content-Type: application/warc-fields\r\n" in text
    assert "software: diptych/" in text
    assert "http-header-user-agent: DiptychBot/1\r\n" in text
    block = text.partition("\r\n\r\n")[2].removesuffix("\r\n\r\n")
    assert f"WARC-Block-Digest: {body_digest(block.encode())}\r\n" in text


def test_every_record_has_an_identity_of_its_own() -> None:
    ids = {
        re.search(
            rb"WARC-Record-ID: (<urn:uuid:[0-9a-f-]{36}>)\r\n", gzip.decompress(compose(answer()))
        )
        for _ in range(20)
    }
    found = {match[1] for match in ids if match}
    assert len(found) == 20


OTHERS = [
    b"WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: <http://Example.org:80/%d>\r\n"
    b"WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:%d>\r\n"
    b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
    % (kind, number, number, content_type, len(block), block)
    for number, (kind, content_type, block) in enumerate(
        [
            (b"request", b"application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n"),
            (
                b"response",
                b"application/http; msgtype=response",
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a</p>",
            ),
            (b"metadata", b"application/warc-fields", b"a: b\r\n"),
            (b"resource", b"text/html", b"<p>b</p>"),
        ]
    )
]


@pytest.mark.parametrize(
    ("data", "name"),
    [(b"".join(OTHERS), "a.warc"), (b"".join(map(gzip.compress, OTHERS)), "a.warc.gz")],
    ids=["plain", "compressed"],
)
def test_archives_of_others_are_read(data: bytes, name: str) -> None:
    found, error = scanned(data, name)
    assert error == ""
    assert [(response.url, response.status, response.body) for response in found] == [
        ("http://example.org/1", 200, b"<p>a</p>"),
        ("http://example.org/3", 200, b"<p>b</p>"),
    ]
    assert found[1].header("content-type") == "text/html"
    assert {response.ip for response in found} == {""}
    assert {response.fetched_at for response in found} == {1_704_067_200.0}


def plain(head: bytes, block: bytes = b"<p>b</p>") -> bytes:
    return b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.org/\r\n" + (
        b"%sContent-Length: %d\r\n\r\n%s\r\n\r\n" % (head, len(block), block)
    )


def test_record_without_a_type_or_a_date_is_read() -> None:
    (found,), error = scanned(plain(b""), "a.warc")
    assert (found.header("content-type"), found.status, found.fetched_at) == ("", 200, 0.0)
    assert error == ""


def test_record_of_any_kind_is_found_again_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, [*OTHERS[::-1], *OTHERS])))
    located = list(scan(path))
    assert len(located) == 4
    with path.open("rb") as stream:
        assert [read_at(stream, offset) for offset, _ in located] == [
            response for _, response in located
        ]


def test_archive_compressed_as_a_whole_is_an_error_with_advice(tmp_path: Path) -> None:
    # Its records cannot be found again by their place in the file.
    path = tmp_path / "whole.warc.gz"
    path.write_bytes(gzip.compress(b"".join(map(gzip.decompress, RECORDS))))
    found: list[ArchivedResponse] = []
    with pytest.raises(ArchiveError, match="recompress"):
        found.extend(scan(path))
    for offset, response in found:
        with path.open("rb") as stream:
            assert read_at(stream, offset) == response


def http_record(block: bytes) -> bytes:
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/\r\n"
        b"WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"Content-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
    )


@pytest.mark.parametrize("value", ["chunked", "Chunked"])
def test_chunks_that_other_tools_store_are_put_together(value: str) -> None:
    block = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: {value}\r\n\r\n"
        "4\r\n<p>l\r\n7\r\namp</p>\r\n0\r\n\r\n"
    ).encode()
    found, error = scanned(http_record(block), "a.warc")
    assert ([response.body for response in found], error) == ([b"<p>lamp</p>"], "")


@pytest.mark.parametrize("header", [b"Vary: chunked", b"Transfer-Encoding: identity"])
def test_body_that_is_not_said_to_be_in_chunks_stays_as_it_is(header: bytes) -> None:
    body = b"4\r\nlamp\r\n0\r\n\r\n"
    (found,), _ = scanned(http_record(b"HTTP/1.1 200 OK\r\n" + header + b"\r\n\r\n" + body))
    assert found.body == body


def test_body_that_is_only_said_to_be_in_chunks_stays_as_it_is() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    (found,), error = scanned(http_record(head + b"<p>lamp</p>"), "a.warc")
    assert (found.body, error) == (b"<p>lamp</p>", "")


@pytest.mark.parametrize("line", [b"HTTP/1.1", b"HTTP/1.1 fine", b"HTTP/1.1 0 None"])
def test_response_without_a_status_counts_as_200(line: bytes) -> None:
    block = line + b"\r\nContent-Type: text/html\r\n\r\n<p>lamp</p>"
    (found,), error = scanned(http_record(block), "a.warc")
    assert (found.status, found.body, error) == (200, b"<p>lamp</p>", "")


def test_gzip_header_has_no_time() -> None:
    assert compose(answer())[4:8] == bytes(4), "where gzip has a time of its own"


@pytest.mark.parametrize("uri", ["dns:example.org", "mailto:a@b.org", "", "http://[bad"])
def test_records_that_are_not_http_are_skipped(uri: str) -> None:
    good = compose(answer(b"good"))
    odd = compose(answer(b"odd", url=Url(uri)))
    found, error = scanned(odd + good + odd)
    assert ([response.body for response in found], error) == ([b"good"], "")


# -- damage ------------------------------------------------------------------------------------


def check_cuts(path: Path, data: bytes, ends: list[int]) -> None:
    """Check that a cut archive yields the records before the cut, unchanged, and nothing else."""
    path.write_bytes(data)
    whole = [located.response for located in scan(path)]
    assert len(whole) == len(ends)
    for cut in reversed(range(len(data))):
        os.truncate(path, cut)
        found = []
        with suppress(ArchiveError):
            for located in scan(path):
                found.append(located.response)
        assert found == whole[: len(found)], cut
        assert len(found) >= sum(end <= cut for end in ends), cut


def test_compressed_archive_cut_at_any_byte_gives_the_records_before(tmp_path: Path) -> None:
    records = [compose(answer(b"lamp %d " % n * 5, url=Url(f"http://a.org/{n}"))) for n in range(3)]
    info = compose_info(agent="a", name="b", now=0.0)
    ends = [len(info) + sum(map(len, records[: n + 1])) for n in range(3)]
    check_cuts(tmp_path / "a.warc.gz", info + b"".join(records), ends)


def test_plain_archive_cut_at_any_byte_gives_the_records_before(tmp_path: Path) -> None:
    records = [
        gzip.decompress(compose(answer(b"lamp %d " % n * 3, url=Url(f"http://a.org/{n}"))))
        for n in range(3)
    ]
    ends = [sum(map(len, records[: n + 1])) for n in range(3)]
    check_cuts(tmp_path / "a.warc", b"".join(records), ends)


@pytest.mark.parametrize("missing", [1, 8, 9, 30, 60])
def test_archive_that_is_cut_inside_a_record_says_so(missing: int) -> None:
    data = compose(answer(b"a" * 50)) + compose(answer(b"b" * 5000))
    found, error = scanned(data[:-missing])
    assert (len(found) == 2) or error
    assert found[0].body == b"a" * 50


def test_cut_archive_is_named_in_the_error() -> None:
    data = compose(answer(b"a" * 50)) + compose(answer(b"b" * 5000))
    found, error = scanned(data[:-20])
    assert len(found) == 1
    assert "a.warc.gz is damaged or truncated after record 1" in error


@pytest.mark.parametrize("begun", [b"W", b"WARC/1.1\r\nWARC-Type: resp", plain(b"")[:-9]])
def test_plain_archive_with_a_record_that_is_only_begun_is_cut_off(begun: bytes) -> None:
    found, error = scanned(plain(b"") + begun, "a.warc")
    assert len(found) == 1
    assert "truncated" in error
    assert scanned(plain(b"") + b"\r\n", "a.warc")[1] == ""


@pytest.mark.parametrize("rest", [b"x", b"WA", b"\0" * 60 + b"W"])
def test_whatever_follows_the_last_record_is_a_record_cut_off(rest: bytes) -> None:
    for record, name in ((compose(answer()), "a.warc.gz"), (plain(b""), "a.warc")):
        found, error = scanned(record + rest, name)
        assert len(found) == 1
        assert "truncated" in error


def test_last_record_without_a_length_is_cut_off() -> None:
    last = b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n\r\n\r\n"
    found, error = scanned(plain(b"") + last, "a.warc")
    assert len(found) == 1
    assert "the last record is truncated" in error


def test_last_record_may_be_empty() -> None:
    (found,), error = scanned(plain(b"", b""), "a.warc")
    assert (found.body, error) == (b"", "")


def test_padding_may_follow_the_last_record() -> None:
    assert scanned(compose(answer()) + b"\0")[1] == ""
    assert scanned(plain(b"") + b"\r\n" * 40, "a.warc")[1] == ""


def test_large_last_record_is_read_to_its_end() -> None:
    chunk = random.Random(0).randbytes(30_000)  # found again only over the whole window of gzip
    (found,), error = scanned(gzip.compress(plain(b"", chunk * 2)))
    assert (found.body, error) == (chunk * 2, "")


def test_record_that_cannot_be_read_at_its_place_is_an_error() -> None:
    data = compose(answer(random.Random(0).randbytes(5000)))
    with pytest.raises(ArchiveError, match="cannot read the record at byte 0 of an archive"):
        read_at(io.BytesIO(data[:-2000]), 0)


RECORDS = [compose(answer(b"lamp %d" % n * 9)) for n in range(3)]
places = st.lists(st.tuples(st.integers(0, 899), st.integers(0, 255)), min_size=1, max_size=4)


@given(st.booleans(), places)
def test_damaged_archive_raises_nothing_but_archive_errors(
    compressed: bool, places: list[tuple[int, int]]
) -> None:
    damaged = bytearray(b"".join(RECORDS if compressed else map(gzip.decompress, RECORDS)))
    for place, value in places:
        damaged[place] = value
    scanned(bytes(damaged))


@given(st.binary(max_size=400))
@example(b"")
@example(b"\x1f\x8b")
@example(b"WARC/1.0\r\n")
@example(b"WARC/1.1\r\nContent-Length: -5\r\n\r\n")
@example(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 99999999999999999999\r\n\r\n")
@example(
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: never\r\n"
    b"WARC-Target-URI: http://a.org/\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
)
def test_other_files_raise_nothing_but_archive_errors(data: bytes) -> None:
    for name in ("a.warc", "a.warc.gz"):
        scanned(data, name)
    with suppress(ArchiveError):
        read_at(io.BytesIO(data), 0)


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("9999-12-31T23:59:59-12:00", 0.0),  # in the year 10000, which nobody can write
        ("0001-01-01T00:00:00+12:00", 0.0),
        ("1969-12-31T23:59:59Z", 0.0),
        ("2020-13-45T99:00:00Z", 0.0),
        ("never", 0.0),
        ("2023-11-14T22:13:20Z", 1_700_000_000.0),
        ("9999-12-31T00:00:00Z", 253_402_214_400.0),
    ],
)
def test_an_impossible_date_is_ignored(date: str, seconds: float) -> None:
    whole = gzip.decompress(compose(answer()))
    found, _ = scanned(whole.replace(b"2023-11-14T22:13:20Z", date.encode()), "a.warc")
    assert [response.fetched_at for response in found] == [seconds]
    compose(found[0])


def test_a_folder_is_not_an_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is not a readable WARC file: Is a directory"):
        list(scan(tmp_path))


def test_a_file_that_is_not_an_archive_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"\x89PNG\r\n\x1a\n" * 99)
    with pytest.raises(ArchiveError, match=r"a\.warc is not a readable WARC file: "):
        list(scan(tmp_path / "a.warc"))


@pytest.mark.parametrize("offset", [1, 7, 10**9])
def test_offset_where_no_record_begins_gives_no_response(offset: int) -> None:
    found: list[Response | None] = []
    with suppress(ArchiveError):
        found.append(read_at(io.BytesIO(compose(answer())), offset))
    assert found in ([], [None])


@pytest.mark.parametrize("data", [b"", gzip.compress(b"")], ids=["no bytes", "compressed nothing"])
def test_empty_archive_is_an_error(data: bytes) -> None:
    found, error = scanned(data)
    assert found == []
    assert "no record" in error


def test_file_that_is_no_archive_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "page.warc"
    path.write_bytes(b"<html><body>This is a page, not an archive of pages.</body></html>\n" * 20)
    with pytest.raises(ArchiveError, match=r"page\.warc"):
        list(scan(path))


def frames(count: int) -> list[bytes]:
    """Records that are not compressed."""
    urls = (Url(f"http://example.org/{number}") for number in range(count))
    return [gzip.decompress(compose(answer(b"lamp" * 40, url=url))) for url in urls]


def test_records_that_zstd_compresses_one_by_one_are_found_at_their_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(b"".join(map(zstandard.compress, frames(4))))
    check_archive(path)
    found = list(scan(path))
    assert [each.response.url[-1] for each in found] == list("0123")
    with path.open("rb") as stream:
        for offset, response in reversed(found):
            assert read_at(stream, offset) == response


def test_truncated_zstd_is_an_error_after_the_records_before(tmp_path: Path) -> None:
    whole = b"".join(map(zstandard.compress, frames(3)))
    records, message = scanned(whole[:-1], "a.warc.zst")
    assert len(records) == 2
    assert "truncated after record 2" in message


@pytest.mark.parametrize("press", [gzip.compress, zstandard.compress])
def test_several_records_compressed_together_get_one_clear_message(
    press: Callable[[bytes], bytes],
) -> None:
    one, two, three, four = frames(4)
    whole = press(one) + press(two) + press(three + four)
    for data, before in ((whole, 3), (press(one + two + three), 1)):
        records, message = scanned(data)
        assert len(records) == before
        assert "it is compressed as a whole, not record by record; repair it with" in message


def test_dictionary_of_zstd_gets_one_clear_message(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(b"\x5d\x2a\x4d\x18" + bytes(40))
    with pytest.raises(ArchiveError, match="compressed with a dictionary of zstd"):
        check_archive(path)


def test_copy_names_its_origin() -> None:
    record = compose(answer(), Origin("s3://bucket/a\r\nb.warc.gz", 17))
    [copy] = ArchiveIterator(io.BytesIO(record))
    assert copy.rec_headers.get_header("WARC-Source-URI") == "s3://bucket/a b.warc.gz"
    assert copy.rec_headers.get_header("WARC-Source-Range") == "bytes=17-"
    found = read_at(io.BytesIO(record), 0)
    assert found is not None
    assert found.body == answer().body
