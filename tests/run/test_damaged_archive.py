"""The next record in a damaged archive; `test_scan.py` has all kinds of damage."""

from __future__ import annotations

import gzip
import io

import zstandard

from diptych.run.damaged_archive import Budget, end_of_record, has_record, next_record

RECORD = b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"
RANDOM = bytes((number * 167 + number // 7) % 256 for number in range(200_000))
LARGE = RECORD.replace(b"5\r\n", b"200000\r\n").replace(b"hello", RANDOM)
MARK = b"\x1f\x8b\x08\x08"  # of gzip, with a file name
LAZY = b"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x0f" + (100_000 << 3 | 4).to_bytes(3, "little")
RUNS = (
    b"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x0f" + ((100_000 << 3 | 2).to_bytes(3, "little") + b"a") * 50
)


def following(*parts: bytes) -> int | None:
    """The number of the part at which the record after the first one begins."""
    data = b"".join(parts)
    found = next_record(io.BytesIO(data), 0, len(data), Budget())
    places = [sum(map(len, parts[:number])) for number in range(len(parts))]
    return None if found is None else places.index(found)


def test_the_next_record_begins_where_an_intact_one_ends() -> None:
    for press in (gzip.compress, zstandard.compress):
        assert following(press(RECORD), press(RECORD)) == 1
        assert following(press(LARGE), press(LARGE)) == 1
    assert following(RECORD[:-4], b"\r\n\r\n" + RECORD) == 1


def test_what_follows_an_intact_record_is_searched_if_it_is_damaged() -> None:
    assert following(RECORD, b"junk", RECORD) == 2
    assert following(gzip.compress(RECORD), b"junk", gzip.compress(RECORD)) == 2


def test_nothing_follows_the_last_record() -> None:
    assert following(RECORD) is None
    assert following(RECORD, b"\r\n\0\0") is None
    assert following(RECORD, b"junk") is None
    assert following(gzip.compress(RECORD)) is None


def test_a_search_keeps_to_the_compression_of_the_damaged_record() -> None:
    broken = gzip.compress(LARGE)[:-100]
    assert following(broken, RECORD, gzip.compress(RECORD)) == 2
    assert following(bytes(50), RECORD, gzip.compress(RECORD)) == 1


def test_a_record_on_the_border_of_two_parts_of_a_search_is_found() -> None:
    for distance in range(-20, 4):
        assert following(b"x" * (2**20 + distance), RECORD) == 1


def test_only_files_with_a_record_have_one() -> None:
    for data in (RECORD, gzip.compress(RECORD), zstandard.compress(LARGE), bytes(99) + RECORD):
        assert has_record(io.BytesIO(data))
    for data in (b"", b"WARC/1.1\r\n", b"<p>WARC/1.1</p>\r\n", gzip.compress(b"hello"), RANDOM):
        assert not has_record(io.BytesIO(data))


def test_a_record_whose_length_leads_elsewhere_does_not_tell_its_end() -> None:
    for length in (b"4", b"-1", b"x", b"999999"):
        data = RECORD.replace(b"5", length) + RECORD
        assert end_of_record(io.BytesIO(data), 0, len(data)) is None
    assert end_of_record(io.BytesIO(RECORD[:-20]), 0, len(RECORD) - 20) is None


class Counting(io.BytesIO):
    """A file that counts the bytes that are read from it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


def test_a_mark_of_gzip_costs_a_few_thousand_bytes() -> None:
    junk = (MARK + b"A" * 10) * 300 + b"A" * 300_000
    stream = Counting(gzip.compress(RECORD) + junk + gzip.compress(RECORD))
    found = next_record(stream, 0, len(stream.getvalue()), Budget())
    assert found == len(stream.getvalue()) - len(gzip.compress(RECORD))
    assert stream.count < 300 * 5_000 + 4 * len(junk)


def test_all_searches_in_an_archive_have_one_budget() -> None:
    for mark in (MARK, LAZY, RUNS, b"WARC/1.0\n"):
        press = zstandard.compress if mark[:1] == b"\x28" else gzip.compress
        press = bytes if mark[:1] == b"W" else press
        stream = Counting(press(RECORD) + b"x" + mark * 300 + bytes(300_000) + press(RECORD))
        budget, size = Budget(9_000), len(stream.getvalue())
        assert next_record(stream, 0, size, budget) is None
        assert budget.left <= 0
        assert stream.count < 9_000 + 2**20 + size
        assert next_record(io.BytesIO(b"x" + RECORD), 0, len(RECORD) + 1, budget) is None
