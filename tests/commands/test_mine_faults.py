"""Exceptions at any write of a run, and full disks: the same command gives the same result."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.bilingual import plain_site
from support.commands import pages, placeless, query, rows, run
from support.serving import Reply, Server, serve

import diptych
from diptych.run.archive import Archive

WRITES = ("BEGIN", "COMMIT", "INSERT", "UPDATE", "DELETE", "REPLACE")
FAULTS: tuple[Callable[[], BaseException], ...] = (
    KeyboardInterrupt,
    MemoryError,
    partial(sqlite3.OperationalError, "disk I/O error"),
    partial(OSError, 28, "No space left on device"),
)
CONNECT = sqlite3.connect
OPTIONS = ("--langs", "en,fr", "--delay", 0, "--allow-private", "--quiet", "--patience", 0)


class Writes:
    """Counts the writes of a run, and raises at one of them."""

    def __init__(self, at: int = 0, fault: Callable[[], BaseException] = KeyboardInterrupt) -> None:
        self.count, self.at, self.fault = 0, at, fault

    def note(self) -> None:
        self.count += 1
        if self.count == self.at:
            raise self.fault()

    @contextmanager
    def watched(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writes]:
        class Connection(sqlite3.Connection):
            def execute(connection, sql: str, *values: Any) -> sqlite3.Cursor:
                if sql.lstrip().startswith(WRITES):
                    self.note()
                return super().execute(sql, *values)

            def executemany(connection, sql: str, *values: Any) -> sqlite3.Cursor:
                self.note()
                return super().executemany(sql, *values)

        append = Archive.append

        def appended(archive: Archive, record: bytes, now: float) -> Any:
            self.note()
            return append(archive, record, now)

        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", partial(CONNECT, factory=Connection))
            patch.setattr(Archive, "append", appended)
            yield self


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    found = dict(list(plain_site().items())[:8])
    links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in found)
    home = f"<html lang=en><title>Lights</title>{links}"
    with serve({path: Reply(html) for path, html in {"/": home, **found}.items()}) as serving:
        yield serving


def mine(server: Server, out: Path) -> int:
    return run("mine", server.url, *OPTIONS, "--out", out).exit_code


def found(folder: Path) -> tuple[object, ...]:
    """The pages, pairs and corpus of a run, independent of their order."""
    return pages(folder), rows(folder / "pairs.tsv"), placeless(folder, "fetched")


@pytest.fixture(scope="module")
def undisturbed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Any]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    writes = Writes()
    with pytest.MonkeyPatch.context() as patch, writes.watched(patch):
        assert mine(server, folder) == 0
    return writes.count, found(folder)


def check(
    server: Server, folder: Path, writes: Writes, monkeypatch: pytest.MonkeyPatch, whole: Any
) -> None:
    with writes.watched(monkeypatch), suppress(Exception):
        mine(server, folder)
    assert mine(server, folder) == 0
    assert found(folder) == whole
    assert query(folder, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
def test_run_ended_by_an_exception_gives_the_same_result(
    server: Server, undisturbed: tuple[int, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    share: float,
) -> None:  # fmt: skip
    count, whole = undisturbed
    at = int(count * share)
    check(server, tmp_path / "run", Writes(at, FAULTS[at % len(FAULTS)]), monkeypatch, whole)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=["interrupt", "memory", "sqlite", "disk"])
def test_exception_at_any_write_loses_nothing(
    server: Server, undisturbed: tuple[int, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[], BaseException],
) -> None:  # fmt: skip
    count, whole = undisturbed
    for at in range(1 + FAULTS.index(fault), count, 4):
        check(server, tmp_path / f"run{at}", Writes(at, fault), monkeypatch, whole)


LIMITED = """
import resource, sys
from diptych.commands import main
from diptych.api.web import Environment
from diptych.language.identify import can_identify
can_identify("en")  # its model is unpacked into a temporary file
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main(prog_name="diptych", obj=Environment(workers=0))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [4, 30, 60, 100, 140, 180, 220, 260, 300, 400])
def test_run_on_a_full_disk_continues_when_space_is_free(
    server: Server, undisturbed: tuple[int, Any], tmp_path: Path, kilobytes: int
) -> None:
    """Limit the size of files, which has the same effect as a full disk."""
    command = [sys.executable, "-c", LIMITED, kilobytes * 1024, "mine", server.url, *OPTIONS]
    said = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "run")],
        env={
            **os.environ, "PYTHONPATH": str(Path(diptych.__file__).parent.parent),
            "PYTHONDONTWRITEBYTECODE": "1",  # or a truncated module would break later tests
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode in (0, 3), said.stderr
    assert "Traceback" not in said.stderr
    assert mine(server, tmp_path / "run") == 0
    assert found(tmp_path / "run") == undisturbed[1]
