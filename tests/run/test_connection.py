"""Runs that may only be read: by all commands that write nothing, and with the latest changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.commands import mistake, run
from support.corpora import Said, made_run
from support.damage import fault
from support.permissions import read_only, unreadable
from support.stores import begin, commit

from diptych.errors import StoreError, is_of_machine
from diptych.run.store import Store

TOLD = {("/en/1", "/fr/1"): [Said("The lamp is lit.", "La lampe est allumée.")]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with made_run(tmp_path / "run", TOLD):
        pass
    return tmp_path / "run"


@pytest.fixture(params=["with", "without"])
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run with changes in the log of its database only, and with or without its index."""
    with made_run(tmp_path / "live", TOLD) as store:
        begin(store)
        store.site_id("late.example.org")
        commit(store)
        assert (tmp_path / "live" / "run.sqlite-wal").stat().st_size
        shutil.copytree(tmp_path / "live", tmp_path / "run")
    if request.param == "without":
        (tmp_path / "run" / "run.sqlite-shm").unlink()
    return tmp_path / "run"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def sites(folder: Path) -> set[str]:
    with Store(folder, write=False) as store:
        return {name for _, name in store.sites()}


def test_run_that_may_only_be_read_is_read_by_all_commands(folder: Path, tmp_path: Path) -> None:
    before = content(folder)
    with read_only(folder):
        for command in (
            ("status", folder),
            ("status", folder, "--json"),
            ("explain", folder, "http://example.org/en/1"),
            ("export", folder, "--format", "tsv", "--out", tmp_path / "a.tsv"),
            ("merge", folder, "--out", tmp_path / "b.tsv"),
        ):
            assert run(*command).exit_code == 0, command
        checked = run("check", folder, "--quiet")  # the run has no archive, which is a fault
        assert (checked.exit_code, checked.stderr) == (1, "")
        assert run("terms", folder, "--out", tmp_path / "terms.tsv").exit_code in (0, 1)
    assert content(folder) == before
    assert "La lampe est allumée." in (tmp_path / "a.tsv").read_text("utf-8")


def test_commands_that_write_say_so_in_one_line(folder: Path) -> None:
    with read_only(folder):
        for command in (("export", folder, "--format", "tsv"), ("update", folder)):
            line = mistake(*command, code=3)
            assert line.startswith(f"error: cannot write {folder}/")
            assert "check who may read and write there" in line


def test_latest_changes_of_a_killed_run_are_read_too(killed: Path) -> None:
    before = content(killed)
    with read_only(killed):
        assert "late.example.org" in sites(killed)
    assert content(killed) == before


def test_nothing_is_left_of_a_temporary_copy(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with read_only(killed):
        sites(killed)
    assert not any((tmp_path / "temporary").iterdir())


def test_run_that_may_not_be_read_is_a_fault_of_the_machine(folder: Path) -> None:
    with unreadable(folder / "run.sqlite"):
        said = fault(lambda: sites(folder), StoreError)
        assert said.startswith(f"cannot use {folder}/run.sqlite: unable to open database file; ")
        assert mistake("status", folder, code=3).endswith("then run the same command again")
    assert sites(folder)


def test_unreadable_run_is_no_damaged_run(folder: Path) -> None:
    with unreadable(folder / "run.sqlite"), pytest.raises(StoreError) as caught:
        sites(folder)
    assert is_of_machine(caught.value)
    with unreadable(folder / "run.sqlite"):
        assert run("check", folder, "--quiet").exit_code == 3


def test_run_whose_name_looks_like_a_uri_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "file:a?mode=memory#%41"
    with made_run(folder, TOLD):
        pass
    assert sites(folder)
    assert (folder / "run.sqlite").is_file()
