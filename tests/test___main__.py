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
