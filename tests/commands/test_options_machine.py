"""Faults of the machine in any command: one line that says what to do, and exit code 3."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import mistake, run
from support.corpora import Said, made_run

from diptych.api import check as checking
from diptych.commands import NAMES, main
from diptych.errors import MachineError, StoreError

AGAIN = ", then run the same command again"
FAULTS: dict[str, tuple[Callable[[], BaseException], str]] = {
    "full": (
        lambda: OSError(errno.ENOSPC, "No space left on device", "/a/corpus.tsv"),
        f"/a/corpus.tsv: No space left on device; free some disk space{AGAIN}",
    ),
    "unreadable": (
        lambda: OSError(errno.EIO, "Input/output error"),
        f"Input/output error; check the disk and the log of the system{AGAIN}",
    ),
    "permission": (
        lambda: PermissionError(errno.EACCES, "Permission denied", "/a\n"),
        "/a: Permission denied; check who may read and write there, or choose another place",
    ),
    "files": (
        lambda: OSError(errno.EMFILE, "Too many open files", "/a"),
        f"/a: Too many open files; raise the limit of open files (ulimit -n){AGAIN}",
    ),
    "memory": (MemoryError, f"MemoryError; free some memory{AGAIN}"),
    "database": (
        lambda: sqlite3.OperationalError("disk I/O error"),
        "disk I/O error; run the same command again",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with made_run(tmp_path / "run", {("/en/1", "/fr/1"): [Said("a", "b")]}):
        pass
    return tmp_path / "run"


def broken(error: Callable[[], BaseException]) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error()

    return fail


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_machine_is_one_line_with_an_exit_code_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    error, line = FAULTS[name]
    monkeypatch.setattr(checking, "_checked_run", broken(error))
    said = run("check", folder, "--quiet")
    assert (said.exit_code, said.stdout, said.stderr) == (3, "", f"error: {line}\n")


@pytest.mark.parametrize("name", NAMES.split())
def test_every_command_does_so(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    command = main.get_command(None, name.replace("_", "-"))  # type: ignore[arg-type]
    monkeypatch.setattr(command, "invoke", broken(FAULTS["full"][0]))
    monkeypatch.setattr(command, "parse_args", lambda *_: [])
    said = run(name.replace("_", "-"))
    assert (said.exit_code, said.stderr) == (3, f"error: {FAULTS['full'][1]}\n")


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 3),
        (sqlite3.DatabaseError("database disk image is malformed"), 3),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), 2),
        (BlockingIOError(errno.EAGAIN, "in use"), 2),
        (None, 2),
    ],
)
def test_error_with_a_message_has_the_code_of_its_cause(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cause: BaseException | None, code: int
) -> None:
    def error() -> BaseException:
        found = StoreError("cannot write it; do this")
        found.__cause__ = cause
        return found

    monkeypatch.setattr(checking, "_checked_run", broken(error))
    said = run("check", folder, "--quiet")
    assert (said.exit_code, said.stderr) == (code, "error: cannot write it; do this\n")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/a"),
         "/a: No such file or directory"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/a"), "/a: File name too long"),
    ],
)  # fmt: skip
def test_other_faults_of_the_system_are_mistakes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, line: str
) -> None:
    monkeypatch.setattr(checking, "_checked_run", broken(lambda: error))
    said = run("check", folder, "--quiet")
    assert (said.exit_code, said.stdout, said.stderr) == (2, "", f"error: {line}\n")


def test_name_that_is_too_long_is_a_mistake() -> None:
    assert "too long" in mistake("status", "a" * 300)


def test_fault_of_a_worker_process_has_it_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_checked_run", broken(lambda: MachineError("a worker failed")))
    assert run("check", folder, "--quiet").exit_code == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_full_standard_output_is_such_a_fault(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        said = subprocess.run(
            [sys.executable, "-m", "diptych", "check", str(folder), "--quiet"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    line = f"error: No space left on device; free some disk space{AGAIN}\n"
    assert (said.returncode, said.stderr) == (3, line)


def test_mistakes_in_our_code_are_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = sqlite3.ProgrammingError("Cannot operate on a closed database.")
    monkeypatch.setattr(checking, "_checked_run", broken(lambda: error))
    with pytest.raises(sqlite3.ProgrammingError):
        run("check", folder, "--quiet")
