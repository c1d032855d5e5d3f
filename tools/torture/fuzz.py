"""Fuzz everything that reads bytes from outside, guided by coverage, one target after the other.

    python -m tools.torture.fuzz                      # ten minutes for each target
    python -m tools.torture.fuzz --minutes 1 HTML     # some targets; the rows of others are kept

It needs atheris (`make .venv/fuzz`).  Inputs are kept in `--folder` for the next time; faults are
listed at the end, each with its file, beside which is the traceback.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from tools.torture.results import RESULTS, keep

NAME = "fuzz"
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "fuzz"
_STATE = re.compile(r"^#(\d+)\s+\w+\s+(?:cov: (\d+) ft: \d+ )?corp: (\d+)/", re.M)
_RUNS = re.compile(r"^Done (\d+) runs", re.M)


def folder_name(target: str) -> str:
    """The name of a target's folder.

    >>> folder_name("values in run.sqlite")
    'values_in_run.sqlite'
    """
    return re.sub(r"[^\w.]", "_", target)


def row_of(target: str, log: str, faults: int, seconds: float) -> dict[str, Any]:
    r"""The row of a target, from what the fuzzer printed.

    >>> row_of("URLs", "#20 DONE cov: 8 ft: 9 corp: 4/6b\nDone 20 runs in 9 seconds", 0, 8.6)
    {'target': 'URLs', 'CPU seconds': 9, 'executions': 20, 'edges': 8, 'inputs': 4, 'faults': 0}
    """
    states = _STATE.findall(log)
    count, edges, inputs = states[-1] if states else (0, 0, 0)
    done = _RUNS.findall(log)
    return {
        "target": target,
        "CPU seconds": round(seconds),
        "executions": int(done[-1] if done else count),
        "edges": int(edges or 0),
        "inputs": int(inputs),
        "faults": faults,
    }


def faults_in(folder: Path) -> list[Path]:
    """The inputs that raised an undeclared error, crashed, or took too much time or memory."""
    found = folder / "faults"
    return (
        [path for path in sorted(found.iterdir()) if path.suffix != ".txt"]
        if found.is_dir()
        else []
    )


def fuzz(module: str, target: str, folder: Path, seconds: int) -> dict[str, Any]:
    """Fuzz a target in a process of its own."""
    before = _processor_seconds()
    log = run_apart("one", module, target, folder, seconds)
    faults = len(faults_in(folder))
    return row_of(target, log, faults, _processor_seconds() - before)


def run_apart(driver: str, module: str, target: str, folder: Path, seconds: int, **how: Any) -> str:
    """Run a target with a driver, in a process that `how` describes; what the process printed."""
    shutil.rmtree(folder / "faults", ignore_errors=True)
    (folder / "last").unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    driver = f"tools.torture.fuzzing.{driver}"
    command = [sys.executable, "-m", driver, module, target, folder, str(seconds)]
    with (folder / "log").open("wb") as log:
        code = subprocess.run(command, stdout=log, stderr=log, check=False, **how).returncode
    if code and (folder / "last").exists():
        shutil.copy(folder / "last", folder / "faults" / "crash")
    elif code and not faults_in(folder):
        raise SystemExit(f"the fuzzer of {target} ended with code {code}: see {folder / 'log'}")
    return (folder / "log").read_text("utf-8", "replace")


def _processor_seconds() -> float:
    """Of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def explained(folder: Path) -> Iterator[str]:
    """The faults of a target, one per line."""
    for path in faults_in(folder):
        text = path.with_suffix(".txt")
        yield f"{text.read_text('utf-8').splitlines()[0] if text.exists() else 'crash'}: {path}"


def merged(rows: Mapping[str, dict[str, Any]], order: Sequence[str]) -> list[dict[str, Any]]:
    """The new rows together with the stored rows of other targets, in the order of targets."""
    file = RESULTS / f"{NAME}.json"
    stored = json.loads(file.read_text("utf-8"))["rows"] if file.exists() else []
    known = {row["target"]: row for row in stored} | dict(rows)
    return [known[name] for name in order if name in known]


def main() -> None:
    """Fuzz the targets, and exit with code 1 if there is a fault."""
    if find_spec("atheris") is None:
        raise SystemExit("atheris is missing: make .venv/fuzz (Linux, Python 3.11 to 3.13)")
    from tools.torture.fuzzing.all_targets import all_targets

    known = all_targets()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(known))
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    if unknown := set(asked.targets) - set(known):
        raise SystemExit(f"no such target: {', '.join(sorted(unknown))}")
    found: list[str] = []
    for name in asked.targets or known:
        row = fuzz(known[name], name, asked.folder / folder_name(name), round(asked.minutes * 60))
        with redirect_stdout(StringIO()):  # the table is printed at the end
            keep(NAME, merged({name: row}, list(known)))
        print(row, flush=True)
        found += explained(asked.folder / folder_name(name))
    keep(NAME, merged({}, list(known)))
    print("\n".join(found))
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
