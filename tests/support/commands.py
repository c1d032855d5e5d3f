"""The command line as a user has it: in this process, or in one of its own."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from threading import Lock

from click.testing import CliRunner, Result

import diptych
from diptych.api.web import Environment
from diptych.commands import main
from support.names import LOOPBACK
from support.serving import Request

COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from diptych.commands import main
from diptych.api.web import Environment
main(prog_name="diptych", obj=Environment(workers=1))
"""
"""a command in a process of its own; a shell may have started the tests with SIGINT ignored"""
HERE = Environment(workers=0, resolver=LOOPBACK)
"""no process but this one, and no resolver"""


def run(*arguments: object, stdin: str | None = None) -> Result:
    """A command in this process; only what is no exit is raised."""
    given = [str(argument) for argument in arguments]
    result = CliRunner().invoke(main, given, input=stdin, obj=HERE)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def start(*arguments: object, cwd: Path | None = None) -> subprocess.Popen[str]:
    """A command in a process and a group of its own, as a terminal would start it.

    It starts as many others on all machines.
    """
    package = str(Path(diptych.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": package}, cwd=cwd, start_new_session=True,
        text=True, encoding="utf-8",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


class Signal:
    """Sends a signal to a process and all it has started, once a number of requests have come.

    As `before` of a server it does so while the process waits for an answer.
    """

    def __init__(self, signal: int, requests: int) -> None:
        self._signal, self._left = signal, requests
        self._lock = Lock()
        self._process: Future[subprocess.Popen[str]] = Future()

    def follow(self, process: subprocess.Popen[str]) -> None:
        """Say which process."""
        self._process.set_result(process)

    def __call__(self, request: Request) -> None:
        with self._lock:
            self._left -= 1
            if not self._left:
                os.killpg(self._process.result().pid, self._signal)


def mistake(*arguments: object, code: int = 2) -> str:
    """What is said about a command that cannot be: one line on standard error, and exit 2."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a table with tabs, by column."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def placeless(folder: Path, *more: str) -> list[dict[str, str]]:
    """The corpus of a run without where its bytes are: archives and offsets, and `more` columns.

    Without the times of downloads, it has no dates either.
    """
    found = rows(folder / "corpus.tsv")
    left_out = {
        f"{side}_{name}" for side in ("left", "right") for name in ("warc", "offset", *more)
    }
    if "fetched" in more:
        left_out |= {"first_seen", "last_seen"}
    assert found, "no corpus is like no other"
    assert left_out < set(found[0])
    return [{name: row[name] for name in row if name not in left_out} for row in found]


def query(folder: Path, text: str) -> list[tuple]:
    """An answer of a run's database."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        return db.execute(text).fetchall()


def pages(folder: Path) -> set[tuple[str, str]]:
    """The pages of a run, as URL and digest."""
    return set(
        query(folder, "SELECT urls.url, digest FROM pages JOIN urls ON urls.key = pages.url")
    )
