"""WARC files that are open for reading."""

from __future__ import annotations

import shutil

import pytest

from diptych.errors import StoreError
from diptych.run import open_archives
from diptych.run.open_archives import OpenArchives
from diptych.run.scan import scan

NAME = "warc/diptych-00001.warc.gz"


def test_responses_are_read_from_relative_and_absolute_paths(recorded) -> None:
    archives = OpenArchives(recorded)
    for found in scan(recorded / NAME):
        assert archives.read(NAME, found.offset) == found.response
        assert archives.read(str(recorded / NAME), found.offset) == found.response
    archives.close()
    assert archives.read(NAME, found.offset) == found.response
    archives.close()


def test_few_files_are_open_at_a_time(recorded, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(open_archives, "MAX_OPEN", 2)
    for name in "abc":
        shutil.copy(recorded / NAME, tmp_path / name)
    first = next(scan(recorded / NAME))
    archives = OpenArchives(tmp_path)
    for name in "abcab":
        assert archives.read(name, first.offset) == first.response
        assert len(archives._streams) <= 2
    archives.close()


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(StoreError, match=r"cannot read a\.warc\.gz, which the run requires"):
        OpenArchives(tmp_path).read("a.warc.gz", 0)


def test_place_without_a_record_has_no_response(recorded) -> None:
    archives = OpenArchives(recorded)
    size = (recorded / NAME).stat().st_size
    assert archives.read(NAME, size) is None
    archives.close()
