"""Commands that are crashed at random places of each stage go on: the short form of the long test.

The long form is `make torture TESTS=crashes`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POINTS = 1  # of each stage
STAGES = "crawl,sketch,pair,learn,align,score,write,export to jsonl,merge,discover"


@pytest.mark.skipif(sys.platform != "linux", reason="the processes are forked")
def test_crashed_commands_go_on() -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "tools.torture.crashes", "--brief", "--points", str(POINTS),
            "--stages", STAGES,
        ],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
