"""Archives with a damaged record: all other records are read."""

from __future__ import annotations

import gzip
import io
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecord
from support.damage import fault
from support.timing import processor_seconds

from diptych.errors import ArchiveError
from diptych.run import scan as scan_module
from diptych.run.scan import Checked, check_archive, records, scan
from diptych.run.warc import compose, compose_info, response_of
from diptych.types import Response, Url

WORDS = "the lamp of a lighthouse in the sea at night and the fog horn of its keeper".split()
COUNT = 6
BAD = "http://example.org/3"
JUNK = random.Random(1).randbytes(100)
PRESSES: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "plain": bytes,
    "zstd": zstandard.compress,
}
Change = Callable[[bytes], bytes]


def plain_record(
    number: int, headers: tuple[tuple[str, str], ...] = (), body: bytes = b""
) -> bytes:
    words = random.Random(number).choices(WORDS, k=300)
    url = Url(f"http://example.org/{number}")
    body = body or f"<p>{' '.join(words)}</p>".encode()
    response = Response(url, 200, (("Content-Type", "text/html"), *headers), body, 1.7e9)
    return re.sub(rb"uuid:[^>]+", b"uuid:%032d" % number, gzip.decompress(compose(response)))


def put(place: float, data: bytes) -> Change:
    """Other bytes at a place, which is a share of the length."""

    def change(record: bytes) -> bytes:
        at = int(len(record) * place)
        return record[:at] + data + record[at + len(data) :]

    return change


def turned(place: float, bits: int) -> Change:
    def change(record: bytes) -> bytes:
        at = min(int(len(record) * place), len(record) - 1)
        return record[:at] + bytes([record[at] ^ bits]) + record[at + 1 :]

    return change


def replaced(old: bytes, new: bytes) -> Change:
    """Another text in the record before it is compressed."""

    def change(record: bytes) -> bytes:
        assert re.search(old, record)
        return re.sub(old, lambda _: new, record, count=1)

    return change


OF_BYTES: dict[str, Change] = {
    "zeros": lambda record: bytes(len(record)),
    "ones": lambda record: b"\xff" * len(record),
    "first byte zero": put(0, bytes(1)),
    "first ten bytes zero": put(0, bytes(10)),
    "a quarter zero": lambda record: put(0.5, bytes(len(record) // 4))(record),
    "last twenty bytes zero": lambda record: record[:-20] + bytes(20),
    "first byte gone": lambda record: record[1:],
    "first half gone": lambda record: record[len(record) // 2 :],
    "second half gone": lambda record: record[: len(record) // 2],
    "last byte gone": lambda record: record[:-1],
    "last eight bytes gone": lambda record: record[:-8],
    "junk inside": lambda record: record[: len(record) // 2] + JUNK + record[len(record) // 2 :],
    "junk before": lambda record: JUNK + record,
    "junk after": lambda record: record + JUNK,
    "lines of text instead": lambda record: b"hello world\n" * 50,
    "a page instead": lambda record: b"<html>WARC/1.0</html>\n" * 50,
    "bit of the first byte": turned(0, 0x10),
    "byte of the head": turned(0.004, 0xFF),
    "bit in the middle": turned(0.5, 0x10),
    "byte near the end": turned(0.99, 0xFF),
}
OF_RECORD: dict[str, Change] = {
    "no version": replaced(b"WARC/1.1", b"WXRC/1.1"),
    "no length": replaced(b"Content-Length", b"Content-Lenkth"),
    "length below zero": replaced(rb"Content-Length: \d+", b"Content-Length: -5"),
    "length no number": replaced(rb"Content-Length: \d+", b"Content-Length: abc"),
    "length zero": replaced(rb"Content-Length: \d+", b"Content-Length: 0"),
    "length too small": replaced(rb"Content-Length: \d+", b"Content-Length: 700"),
    "length too large": replaced(rb"Content-Length: \d+", b"Content-Length: 3000"),
    "length of 64 bits": replaced(rb"Content-Length: \d+", b"Content-Length: 9223372036854775808"),
    "length of 70 bits": replaced(rb"Content-Length: \d+", b"Content-Length: 99999999999999999999"),
    "no type": replaced(b"WARC-Type", b"WARC-Tipe"),
    "impossible date": replaced(b"2023-11-14", b"9999-99-99"),
    "no URL": replaced(b"http://example", b"http://[example"),
    "no status": replaced(b"HTTP/1.1 200 OK", b"HTTP/1.1 \x00\xff 20000"),
    "escape sequences": replaced(b"WARC-Date", b"\x1b[2J\x07WARC-Date"),
    "two megabytes of headers": replaced(b"WARC-Type", b"X: " + b"v" * 2**21 + b"\r\nWARC-Type"),
}  # fmt: skip
UNNOTICED = {"no type", "impossible date", "no URL", "no status", "escape sequences"}
"""damage that other tools may write too, or that nothing tells from an intact record"""


def damaged(form: str) -> Iterator[tuple[str, bytes]]:
    """The kinds of damage, and the damaged record."""
    whole = plain_record(3)
    for name, change in OF_BYTES.items():
        yield name, change(PRESSES[form](whole))
    for name, change in OF_RECORD.items():
        yield name, PRESSES[form](change(whole))


def read(path: Path) -> tuple[dict[str, Response], str]:
    """The responses of an archive by URL, and the error."""
    found = {}
    try:
        check_archive(path)
        for _, response in scan(path):
            assert response.url not in found
            found[response.url] = response
    except ArchiveError as error:
        return found, str(error)
    return found, ""


@pytest.mark.parametrize("where", [0, 4, 8])
@pytest.mark.parametrize("form", PRESSES)
def test_a_damaged_record_costs_only_itself(tmp_path: Path, form: str, where: int) -> None:
    info = gzip.decompress(compose_info(agent="a", name="b", now=0.0))
    meta = replaced(b"Type: response", b"Type: metadata")(plain_record(9))
    numbers = [number for number in range(COUNT) if number != 3]
    others = [info, *(plain_record(number) for number in numbers), meta]
    records = [PRESSES[form](record) for record in others]
    file = tmp_path / "a.warc"
    file.write_bytes(PRESSES[form](plain_record(3)))
    whole = read(file)[0][BAD]
    file.write_bytes(b"".join(records))
    intact, error = read(file)
    assert (len(intact), error) == (COUNT - 1, "")
    for name, record in damaged(form):
        file.write_bytes(b"".join([*records[:where], record, *records[where:]]))
        found, error = read(file)
        bad = found.pop(BAD, None)
        assert found == intact, name
        assert error or bad is not None or name in UNNOTICED, name
        assert error.isprintable(), name
        if form == "gzip" and name in OF_BYTES:  # it has checksums
            assert bad in (None, whole), name
    assert len(OF_BYTES) + len(OF_RECORD) >= 25


@pytest.mark.parametrize("press", [lambda data: gzip.compress(data, 0), bytes])
def test_a_page_cannot_forge_records_of_other_sites(
    tmp_path: Path, press: Callable[[bytes], bytes]
) -> None:
    forged = plain_record(666)
    body = forged + gzip.compress(forged) + b"\r\n\r\n" + forged
    page = plain_record(3, (("X", "v" * 2**21),), body)  # whose headers are too long to be read
    records = [plain_record(2), page, b"WXRC/1.1\r\n\r\n", plain_record(4)]
    file = tmp_path / "a.warc"
    file.write_bytes(b"".join(map(press, records)))
    found, error = read(file)
    assert sorted(found) == ["http://example.org/2", "http://example.org/4"]
    assert "damaged or truncated in" in error


def test_sixty_thousand_bytes_of_headers_are_read(tmp_path: Path) -> None:
    headers = tuple((f"X-{number}", "v" * 4_000) for number in range(15))
    file = tmp_path / "a.warc"
    file.write_bytes(plain_record(3, headers))
    found, error = read(file)
    assert error == ""
    assert [each for each in found[BAD].headers if each[0].startswith("X-")] == list(headers)


def test_a_record_of_gigabytes_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diptych.run.warc._MAX_BODY", 1_000)
    file = tmp_path / "a.warc.gz"
    records = [plain_record(1, body=b"x" * 1_000), plain_record(2, body=b"x" * 1_001)]
    file.write_bytes(b"".join(map(gzip.compress, [*records, plain_record(4, body=b"y")])))
    found, error = read(file)
    assert error == ""
    assert [(len(each.body), each.truncated) for each in found.values()] == [
        (1_000, ""), (1_000, "length"), (1, ""),
    ]  # fmt: skip


class Asked:
    """A record that notes how many bytes of its content are asked for."""

    def __init__(self, record: WarcRecord) -> None:
        self.record, self.reader, self.sizes = record, self, list[int]()

    def __getattr__(self, name: str) -> object:
        return getattr(self.record, name)

    def read(self, size: int) -> bytes:
        self.sizes.append(size)
        return bytes(self.record.reader.read(size))


def test_no_more_memory_is_taken_for_a_record_than_its_length() -> None:
    data = io.BytesIO(plain_record(1, body=b"x" * 1_000))
    for record in ArchiveIterator(data):
        asked = Asked(record)
        assert response_of(cast("WarcRecord", asked)) is not None
        assert asked.sizes == [1_000]


def test_an_archive_that_is_damaged_everywhere_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "_MAX_DAMAGES", 3)
    bad = replaced(rb"Content-Length: \d+", b"Content-Length: abc")
    records = [each for n in range(9) for each in (plain_record(n), bad(plain_record(99)))]
    file = tmp_path / "a.warc.gz"
    file.write_bytes(b"".join(map(gzip.compress, records)))
    found, error = read(file)
    assert len(found) == 4
    assert "damaged or truncated in 4 places, first after record 1" in error


@pytest.mark.parametrize("mark", [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"WARC/1.0\r\n"])
def test_time_grows_with_the_size_of_the_damage(tmp_path: Path, mark: bytes) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(plain_record(1)[:-9] + mark * 200_000 + plain_record(2))
    with processor_seconds(15):
        found, _ = read(file)
    assert "http://example.org/2" in found


def test_marks_of_gzip_without_an_end_are_searched_quickly(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    junk = b"\x1f\x8b\x08\x08AAAAAAAAAA" * 200_000
    file.write_bytes(gzip.compress(plain_record(1)) + junk)
    with processor_seconds(15):
        found, error = read(file)
    assert list(found) == ["http://example.org/1"]
    assert "damaged" in error


@pytest.mark.parametrize("press", [gzip.compress, bytes])
@pytest.mark.parametrize("digest", [b"sha-256:" + b"0" * 64, b"blake3:ab", b"sha1:" + b"a" * 32])
def test_a_digest_in_an_unknown_form_does_not_refute_a_record(
    tmp_path: Path, press: Callable[[bytes], bytes], digest: bytes
) -> None:
    record = replaced(rb"sha1:\w+", digest)(plain_record(1))
    file = tmp_path / "a.warc"
    file.write_bytes(press(record) + b"junk" + press(plain_record(2)))
    assert sorted(read(file)[0]) == ["http://example.org/1", "http://example.org/2"]


@pytest.mark.parametrize("digest", [b"sha1:" + b"A" * 32, b"MD5:" + b"0" * 32])
def test_a_digest_in_a_known_form_refutes_a_record(tmp_path: Path, digest: bytes) -> None:
    record = replaced(rb"sha1:\w+", digest)(plain_record(1))
    file = tmp_path / "a.warc"
    file.write_bytes(record + b"junk" + plain_record(2))
    assert list(read(file)[0]) == ["http://example.org/2"]


def test_a_record_without_digest_whose_length_is_too_small_is_left_out(tmp_path: Path) -> None:
    bare = replaced(b"WARC-Payload-Digest", b"X-Digest")(plain_record(1))
    short = replaced(rb"\r\nContent-Length: \d+", b"\r\nContent-Length: 700")(bare)
    file = tmp_path / "a.warc"
    file.write_bytes(plain_record(0) + short + plain_record(2))
    assert sorted(read(file)[0]) == ["http://example.org/0", "http://example.org/2"]
    file.write_bytes(plain_record(0) + bare + b"junk" + plain_record(2))
    assert len(read(file)[0]) == 3


@pytest.mark.parametrize("press", [gzip.compress, bytes])
def test_a_check_looks_at_all_records_but_the_damaged_one(
    tmp_path: Path, press: Callable[[bytes], bytes]
) -> None:
    pieces = [press(plain_record(number)) for number in range(5)]
    pieces[2] = put(0, bytes(30))(pieces[2])
    file = tmp_path / "a.warc"
    file.write_bytes(b"".join(pieces))
    found: list[Checked] = []

    def check() -> None:
        for record in records(file, file.stat().st_size):
            found.append(record)

    assert f"{file} is damaged or truncated after record 2" in fault(check, ArchiveError)
    assert [(each.url[-1], each.is_whole) for each in found] == [
        (number, True) for number in "0134"
    ]
