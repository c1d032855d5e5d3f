"""WARC files inside WACZ files are read where they are."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import pytest

from diptych.errors import ArchiveError
from diptych.run.scan import check_archive, scan
from diptych.run.wacz import members
from diptych.run.warc import compose, read_at
from diptych.types import Response, Url


def record(name: str, *, plain: bool = False) -> bytes:
    url = Url(f"http://example.org/{name}")
    found = compose(Response(url, 200, (("Content-Type", "text/html"),), b"<p>lamp", 0.0))
    return gzip.decompress(found) if plain else found


def wacz(path: Path, files: dict[str, bytes], press: int = ZIP_STORED) -> Path:
    with ZipFile(path, "w", press) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return wacz(tmp_path / "a.wacz", {
        "datapackage.json": b"{}",
        "archive/one.warc.gz": record("a") + record("b"),
        "indexes/index.cdx.gz": b"no archive",
        "archive/../../two.warc": record("c", plain=True) + record("d", plain=True),
        "pages/pages.jsonl": b"{}",
    })  # fmt: skip


def test_records_of_all_members_are_found_at_their_offsets_in_the_zip_file(archive: Path) -> None:
    check_archive(archive)
    found = list(scan(archive))
    assert [each.response.url[-1] for each in found] == list("abcd")
    with archive.open("rb") as stream:
        for offset, response in reversed(found):
            assert read_at(stream, offset) == response


def test_nothing_is_unpacked(archive: Path) -> None:
    list(scan(archive))
    assert [path.name for path in archive.parent.rglob("*")] == ["a.wacz"]
    assert not (archive.parent.parent / "two.warc").exists()


def test_truncated_member_says_where(tmp_path: Path) -> None:
    cut = {"archive/a.warc.gz": record("a") + record("b")[:-60], "archive/b.warc.gz": record("c")}
    with pytest.raises(ArchiveError, match="damaged or truncated after record 1"):
        list(scan(wacz(tmp_path / "a.wacz", cut)))


def test_member_does_not_run_into_the_next(tmp_path: Path) -> None:
    files = {"archive/a.warc": record("a", plain=True), "archive/b.warc": record("b", plain=True)}
    found = members(wacz(tmp_path / "a.wacz", files))
    assert [each.end - each.start for each in found] == list(map(len, files.values()))
    assert len(list(scan(tmp_path / "a.wacz"))) == 2


def test_compressed_members_are_refused_so_that_none_can_be_a_bomb(tmp_path: Path) -> None:
    path = wacz(tmp_path / "a.wacz", {"archive/a.warc": bytes(10_000_000)}, ZIP_DEFLATED)
    assert path.stat().st_size < 20_000
    with pytest.raises(ArchiveError, match=r"archive/a\.warc in it is compressed .* unpack it"):
        check_archive(path)


@pytest.mark.parametrize("files", [{}, {"a.warc.gz": record("a")}, {"archive/a.txt": b"a"}])
def test_zip_file_without_archives_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(ArchiveError, match="is not a WACZ file: it has no WARC files"):
        check_archive(wacz(tmp_path / "a.wacz", files))


def directory_entry(data: bytes | bytearray, number: int) -> int:
    """The place of an entry in the directory of a ZIP file."""
    place = -1
    for _ in range(number + 1):
        place = data.index(b"PK\1\2", place + 1)
    return place


def overlapping(data: bytearray) -> None:
    """The second entry names the bytes of the first."""
    struct.pack_into("<I", data, directory_entry(data, 1) + 42, 0)


def too_long(data: bytearray) -> None:
    """The last entry is longer than the file."""
    struct.pack_into("<II", data, directory_entry(data, 1) + 20, 1 << 30, 1 << 30)


def elsewhere(data: bytearray) -> None:
    """The second entry points into the first."""
    struct.pack_into("<I", data, directory_entry(data, 1) + 42, 7)


@pytest.mark.parametrize("change", [overlapping, too_long, elsewhere])
def test_lying_directories_are_refused(tmp_path: Path, change: Callable[[bytearray], None]) -> None:
    files = {"archive/a.warc.gz": record("a"), "archive/b.warc.gz": record("b")}
    path = wacz(tmp_path / "a.wacz", files)
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    with pytest.raises((ValueError, BadZipFile)):
        members(path)
    with pytest.raises(ArchiveError):
        list(scan(path))


def test_huge_directory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with ZipFile(path, "w") as file:
        for number in range(70):
            file.writestr(f"{number:065000}", b"")
        file.writestr("archive/a.warc.gz", record("a"))
    with pytest.raises(ValueError, match="directory of the ZIP file is too large"):
        members(path)


def test_damaged_zip_files_raise_nothing_but_archive_errors(archive: Path) -> None:
    data = archive.read_bytes()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        archive.write_bytes(changed)
        try:
            check_archive(archive)
            for offset, _ in scan(archive):
                read_at(io.BytesIO(changed), offset)
        except ArchiveError:
            continue
