"""Parquet files of parsed pages: partitions are read alone, and damage is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from diptych.errors import StoreError
from diptych.run.page_rows import PageRow
from diptych.sources import page_files
from diptych.sources.page_files import (
    ArchivePages,
    archive_of,
    partition_of,
    paths_of_archive,
    paths_of_partition,
    read_pages,
    write_pages,
)

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ARCHIVE = ArchivePages("/a/b.warc.gz", 12)
COUNT = 4


def row(site: int, number: int) -> PageRow:
    url = f"http://site{site}.org/{number}"
    return PageRow(
        url, number, True, 10, 1.5, "en", "[]", "a \u20ac", 9, 8, "sha1:A", "en", "", None, "noai",
        -(1 << 63), "[]", bytes(range(256)), b"[]", b"\0" * site,
    )  # fmt: skip


ROWS = [row(site, number) for number in range(5) for site in range(9)]


def written(path: Path, rows: list[PageRow] = ROWS) -> Path:
    write_pages([path], rows, ARCHIVE, "site", COUNT)
    return path


def test_each_partition_has_its_own_rows_in_order(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet")
    for number in range(COUNT):
        own = [each for each in ROWS if partition_of(each.url, "site", COUNT) == number]
        assert list(read_pages(path, number)) == own
    assert archive_of(path) == ARCHIVE


def test_many_partitions_are_divided_among_files(tmp_path: Path) -> None:
    count = 3 * page_files.PARTITIONS_PER_FILE
    archives = [paths_of_archive(tmp_path, f"read-0000{number}", count) for number in range(2)]
    for number, paths in enumerate(archives):
        assert len(paths) == 3
        write_pages(paths, ROWS[number::2], ARCHIVE, "site", count)
    for number in range(count):
        files = paths_of_partition(tmp_path, number)
        assert len(files) == len(archives)
        found = [each for file in files for each in read_pages(file, number)]
        assert sorted(found) == sorted(
            each for each in ROWS if partition_of(each.url, "site", count) == number
        )


def test_rows_are_written_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "_MAX_BUFFER", 5000)
    path = written(tmp_path / "a.parquet")
    assert parquet.ParquetFile(path).metadata.num_row_groups > 2 * COUNT
    found = [each for number in range(COUNT) for each in read_pages(path, number)]
    assert sorted(found) == sorted(ROWS)


def test_other_partitions_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.parquet")
    read, plain = [], parquet.ParquetFile.read_row_group

    def noted(self: object, number: int) -> object:
        read.append(number)
        return plain(self, number)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", noted)
    list(read_pages(path, 1))
    assert len(read) == 1


@pytest.mark.parametrize(("kind", "same"), [("site", True), ("host", False), ("prefix", True)])
def test_sites_stay_together(kind: str, same: bool) -> None:
    hosts = ["fr.a.org", "en.a.org"] if kind != "prefix" else ["a.org/fr", "a.org/en"]
    found = {partition_of(f"http://{host}/x/y", kind, 1 << 30) for host in hosts}
    assert (len(found) == 1) is same


def test_empty_archive_is_an_empty_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", [])
    assert [list(read_pages(path, number)) for number in range(COUNT)] == [[]] * COUNT


def test_damaged_files_raise_nothing_but_store_errors(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet")
    data = path.read_bytes()
    for place in range(0, len(data), len(data) // 60):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            archive_of(path)
            list(read_pages(path, 1))
        except StoreError:
            continue
    for cut in (0, 3, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(StoreError):
            archive_of(path)


def test_files_with_other_columns_or_huge_groups_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pyarrow.table({"partition": pyarrow.array([1], pyarrow.int32()), "url": ["x"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(StoreError, match="other columns"):
        list(read_pages(tmp_path / "a.parquet", 1))
    with pytest.raises(StoreError):
        archive_of(tmp_path / "a.parquet")
    path = written(tmp_path / "b.parquet")
    monkeypatch.setattr(page_files, "_MAX_GROUP", 10)
    with pytest.raises(StoreError, match="too large"):
        list(read_pages(path, 1))
