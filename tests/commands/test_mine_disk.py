"""Disks that fail while a command writes: one line, exit code 3, and the same command goes on."""

from __future__ import annotations

import errno
import fcntl
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.commands import mistake, run

from diptych.engine.file_server import serve
from tools.torture.disk import FAULTS, few_files, tried
from tools.torture.disk_cases import Case, cases, ended, write_site
from tools.torture.faulty_disk import FaultyDisk


class Known(NamedTuple):
    """The cases, and of each the writes of an undisturbed command and what it leaves behind."""

    cases: dict[str, Case]
    writes: dict[str, int]
    whole: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    folder = tmp_path_factory.mktemp("disk")
    with serve(write_site(folder / "site")) as url:
        finished = folder / "finished"
        (finished / "out").mkdir(parents=True)
        assert cases(url, finished)[0].run(finished).code == 0
        found = Known({case.name: case for case in cases(url, finished)}, {}, {}, folder)
        for name, case in found.cases.items():
            work = case.prepare(folder / "work")
            with FaultyDisk(work, 0, errno.EIO) as disk:
                assert case.run(work).code == 0, name
            found.writes[name], found.whole[name] = disk.writes, case.outcome(work)
        yield found


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6, 0.8, 0.99])
@pytest.mark.parametrize("name", ["mine a site", "mine archives", "update"])
def test_command_goes_on_after_a_fault_at_a_write(known: Known, name: str, share: float) -> None:
    at = 1 + int(share * known.writes[name])
    error, lasting = [*FAULTS.values()][at % len(FAULTS)]
    fault = partial(FaultyDisk, at=at, error=error, lasting=lasting)
    found = tried(known.cases[name], known.folder / "work", fault, known.whole[name])
    assert found in ([], ["exit 3"])


@pytest.mark.parametrize(
    "name", ["export --format tmx", "export --format parquet", "export --format tsv", "merge"]
)
def test_other_commands_leave_the_whole_file_or_none(known: Known, name: str) -> None:
    case = known.cases[name]
    for at in range(1, min(known.writes[name], 8) + 1):
        work = case.prepare(known.folder / "work")
        with FaultyDisk(work, at, errno.ENOSPC) as disk:
            first = case.run(work)
        assert disk.has_failed or first.code == 0
        assert first.is_clear
        # A full disk does not matter where SQLite only prepares to read.
        left = [known.whole[name]] if first.code == 0 else [{}, known.whole[name]]
        assert case.outcome(work) in left
        assert case.run(work).code == 0
        assert case.outcome(work) == known.whole[name]


@pytest.mark.parametrize("more", [1, 3, 5, 7])
def test_process_without_file_handles_ends_with_one_line(known: Known, more: int) -> None:
    case = known.cases["mine archives"]

    def fault(_: Path) -> Any:
        return few_files(known.folder, more=more)

    found = tried(case, known.folder / "work", fault, known.whole[case.name])
    assert found in ([], ["exit 3"])


def test_second_process_on_a_run_is_refused_in_one_line(known: Known) -> None:
    case = known.cases["mine a site"]
    work = case.prepare(known.folder / "work")
    assert case.run(work).code == 0
    with (work / "run" / "run.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (case.arguments(work), ("update", work / "run")):
            line = mistake(*command)
            assert "in use by another process; wait until it finishes" in line
        assert ended("status", work / "run").code == 0, "it can be read"
        out = work / "corpus.tsv"
        assert ended("export", work / "run", "--format", "tsv", "--out", out).code == 0
    assert case.run(work).code == 0


@pytest.mark.parametrize("way", ["moved", "copied", "deleted"])
def test_run_that_is_moved_or_copied_while_in_use_goes_on(
    known: Known, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    from diptych.run.archive import Archive

    case, append = known.cases["mine a site"], Archive.append
    work = case.prepare(known.folder / "work")
    other = work / "elsewhere"
    other.mkdir()
    count = 0

    def appended(archive: Archive, record: bytes, now: float) -> Any:
        nonlocal count
        count += 1
        if count == 6:
            if way == "moved":
                (work / "run").rename(other / "run")
            elif way == "copied":
                shutil.copytree(work / "run", other / "run")
            else:
                shutil.rmtree(work / "run")
        return append(archive, record, now)

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "append", appended)
        first = case.run(work)
    assert count >= 6
    if way == "copied":
        assert first.code == 0
    else:
        assert first.code in (2, 3)
        assert first.said.count("\n") == 1
        assert first.said.startswith("error: ")
    if way != "deleted":
        assert case.run(other).code == 0
        assert case.outcome(other) == known.whole[case.name]
        assert run("check", other / "run", "--quiet").exit_code == 0
    if way != "copied":
        shutil.rmtree(work / "run", ignore_errors=True)
    assert case.run(work).code == 0
    assert case.outcome(work) == known.whole[case.name]
