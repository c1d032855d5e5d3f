"""WARC files that are open for reading."""

from __future__ import annotations

import os
import shutil
from functools import partial

import pytest
from support.damage import fault

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
    (tmp_path / "warc").mkdir()
    for name in "abc":
        shutil.copy(recorded / NAME, tmp_path / "warc" / name)
    first = next(scan(recorded / NAME))
    archives = OpenArchives(tmp_path)
    for name in "abcab":
        assert archives.read(f"warc/{name}", first.offset) == first.response
        assert len(archives._streams) <= 2
    archives.close()


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(StoreError, match=r"cannot read warc/a\.warc\.gz, which the run requires"):
        OpenArchives(tmp_path).read("warc/a.warc.gz", 0)


@pytest.mark.parametrize(
    "path",
    [
        "warc/../../other.warc.gz", "../other.warc.gz", "other.warc.gz", "../../other.warc.gz",
        "../../warc/../other.warc.gz", "warc/a/other.warc.gz", "../../../warc/other.warc.gz",
    ],
)  # fmt: skip
def test_path_that_leads_out_of_the_run_and_its_job_is_refused(recorded, tmp_path, path) -> None:
    run = tmp_path / "job" / "runs" / "a"
    file = run / path
    file.parent.mkdir(parents=True, exist_ok=True)
    run.mkdir(parents=True, exist_ok=True)
    shutil.copy(recorded / NAME, file)
    first = next(scan(recorded / NAME))
    with pytest.raises(StoreError, match="which is outside of the run"):
        OpenArchives(run).read(path, first.offset)


def test_archive_that_a_job_shares_is_read(recorded, tmp_path) -> None:
    shutil.copytree(recorded / "warc", tmp_path / "warc")
    (tmp_path / "runs" / "a").mkdir(parents=True)
    first = next(scan(recorded / NAME))
    archives = OpenArchives(tmp_path / "runs" / "a")
    assert archives.read(f"../../{NAME}", first.offset) == first.response
    archives.close()


def test_nothing_is_read_from_a_pipe_or_a_device(tmp_path) -> None:
    (tmp_path / "warc").mkdir()
    os.mkfifo(tmp_path / "warc" / "pipe")
    for path in ("warc/pipe", "/dev/zero", str(tmp_path), "warc/a\0b", "warc/\x1b[2J"):
        said = fault(partial(OpenArchives(tmp_path).read, path, 0), StoreError)
        assert "which the run requires" in said


def test_place_without_a_record_has_no_response(recorded) -> None:
    archives = OpenArchives(recorded)
    size = (recorded / NAME).stat().st_size
    assert archives.read(NAME, size) is None
    archives.close()
