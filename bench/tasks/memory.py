"""Resident memory of `diptych mine` on one small site, summed over all its processes.

    python -m bench.tasks.memory [--delay 1] [--jobs 1 2] [--out bench/results/memory.json]

The demo site is mined with the command line, with `--delay` seconds between requests.  The memory
is the proportional set size (PSS): memory pages that processes share are divided among them.  Linux
only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.support.tables import Tables, show_and_keep
from diptych.demo import SITE
from diptych.engine.file_server import serve

INTERVAL = 0.2  # seconds between two looks


def family(process: int) -> list[int]:
    """A process and all its descendants."""
    found = [process]
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = tasks.read_text().split()
        except OSError:  # it has just ended
            continue
        found.extend(each for child in children for each in family(int(child)))
    return found


def megabytes(process: int) -> float:
    """The proportional set size of a process; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def measured(delay: float, jobs: int | None) -> dict[str, float | str]:
    """A row of the table: the peak of the sum over all processes, and its parts."""
    with serve(SITE) as address, tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "diptych", "mine", address, "--langs", "en,fr", "--quiet",
            "--allow-private", "--delay", str(delay), "--out", f"{folder}/run",
        ]  # fmt: skip
        command += ["--jobs", str(jobs)] if jobs else []
        looks: list[list[float]] = []
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                looks.append([megabytes(each) for each in family(process.pid)])
                time.sleep(INTERVAL)
        assert process.returncode == 0, "nothing was mined"
        most = max(looks, key=sum)
        sums = sorted(map(sum, looks))
        return {
            "jobs": jobs or "not given",
            "processes": len(most),
            "MB at most": round(sum(most)),
            "MB half of the time": round(sums[len(sums) // 2]),
            "MB of the main process": round(most[0]),
        }


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between requests")
    parser.add_argument("--jobs", type=int, nargs="*", default=[], help="besides none given")
    parser.add_argument("--out", type=Path, help="file for the result")
    asked = parser.parse_args()
    rows = [measured(asked.delay, jobs) for jobs in (None, *asked.jobs)]
    tables: Tables = {"Memory of a small site": rows}
    show_and_keep(tables, asked.out)


if __name__ == "__main__":
    main()
