"""The program from its first moment."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import diptych

SOURCES = Path(diptych.__file__).parent.parent
INTERRUPTED = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    "begin",
    [
        "import runpy; runpy.run_module('diptych', run_name='__main__')",
        "from diptych.__main__ import main; main()",
    ],
)
def test_ctrl_c_while_the_program_is_imported_prints_one_line(begin: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED + begin],
        env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Stopped.\n")


def test_installed_program_begins_there() -> None:
    project = tomllib.loads((SOURCES.parent / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {"diptych": "diptych.__main__:main"}


# -- what a command imports; every import takes time

COMMAND = """
import sys
from diptych.__main__ import main
try:
    main()
finally:
    print(sorted({unwanted!r} & {{*sys.modules}}))
"""


def loaded(unwanted: set[str], *arguments: str, cwd: Path | None = None) -> str:
    """Which of the unwanted modules a command has loaded when it ends; its last line."""
    code = COMMAND.format(unwanted=unwanted)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd,
        check=False,
    )  # fmt: skip
    return done.stdout.splitlines()[-1]


def test_version_needs_no_command() -> None:
    commands = {"diptych.commands.mine", "diptych.commands.train", "diptych.api.mine", "numpy"}
    assert loaded(commands, "--version") == "[]"


def test_command_needs_no_other_command() -> None:
    others = {"diptych.commands.mine", "diptych.commands.discover", "diptych.commands.train"}
    assert loaded(others, "strategies") == "[]"


@pytest.mark.slow
def test_archive_is_mined_without_web_client_and_display(tmp_path: Path) -> None:
    """The main process does not parse pages either, but for a worker."""
    page = "<html lang=en><p>The archive of the lake has been open since the spring of this year."
    body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://lake.example/en\r\n"
        "WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    (tmp_path / "lake.warc").write_text(f"{head}{body}\r\n\r\n", newline="")
    unwanted = {
        "aiohttp", "http.client", "rich.console", "diptych.page.read", "diptych.corpus.telephones",
    }  # fmt: skip
    asked = ("mine", "--warc", "lake.warc", "--langs", "en,fr", "--out", "run", "--json")
    assert loaded(unwanted, *asked, "--jobs", "1", cwd=tmp_path) == "[]"
    assert (tmp_path / "run/report.html").exists()
