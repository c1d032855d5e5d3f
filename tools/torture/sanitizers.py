"""Tests and fuzzing of the compiled kernels with sanitizers of addresses and undefined behaviour.

    python -m tools.torture.sanitizers                 # all tests, ten minutes for each target
    python -m tools.torture.sanitizers --minutes 1

It needs GCC with libasan and libubsan.  The kernels are compiled anew in a copy of the tree; the
memory of Python and NumPy comes from `malloc`, so that a read behind a text or an array is found
too.  A fault ends the process that ran into it.  The inputs that `tools.torture.fuzz` has kept for
the kernels are used too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.torture.fuzz import FOLDER, faults_in, folder_name, row_of, run_apart
from tools.torture.results import keep

ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("src", "tests", "tools", "bench", "docs", "conftest.py", "pyproject.toml", "README.md")
_KERNELS = "src/diptych/kernels"
_CHECKS = "address,undefined,float-cast-overflow"
_FLAGS = (
    "-shared", "-fPIC", "-O1", "-g", "-fno-omit-frame-pointer", "-ffp-contract=off", "--coverage",
    f"-fsanitize={_CHECKS}", "-fno-sanitize-recover=all",
)  # fmt: skip
TESTS = (
    "tests/kernels", "tests/test_kernels.py", "tests/learn", "tests/text", "tests/language",
    "tests/page", "tests/stages",
)  # fmt: skip
"""tests that run kernels"""


def copied_tree(folder: Path) -> Path:
    """A copy of what tests need, without compiled kernels."""
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "results")
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore, dirs_exist_ok=True)
        else:
            shutil.copy(source, folder / part)
    (folder / "bench/results").mkdir(exist_ok=True)
    return folder


def compile_kernels(folder: Path) -> None:
    """Compile the kernels of a copy with sanitizers, and with counters of executed lines."""
    kernels = folder / _KERNELS
    include = sysconfig.get_path("include")
    sources = sorted(path.name for path in kernels.glob("*.c"))
    command = ["gcc", *_FLAGS, f"-I{include}", *sources, "-o", "_native.abi3.so", "-lm"]
    subprocess.run(command, cwd=kernels, check=True)


def _library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def environment(folder: Path) -> dict[str, str]:
    """The variables of processes that use the kernels of a copy."""
    return {
        **os.environ,
        "LD_PRELOAD": f"{_library('libasan.so')} {_library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python never frees some
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}",
    }


def run_tests(folder: Path, tests: Sequence[str]) -> dict[str, Any]:
    """Run tests in a copy; the row of the table."""
    command = [
        sys.executable, "-m", "pytest", "-q", "-n", "0", "-x", "-p", "no:cacheprovider",
        "-m", "not slow and not needs_torch", *tests,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    print(done.stdout[-2000:] + done.stderr[-4000:] if done.returncode else done.stdout[-200:])
    passed = [line for line in done.stdout.splitlines() if " passed" in line]
    count = passed[-1].split(" passed")[0].split()[-1] if passed else "0"
    return {"part": "tests", "executions": int(count), "faults": int(done.returncode != 0)}


def fuzz_kernel(folder: Path, name: str, seconds: int) -> dict[str, Any]:
    """Run a kernel of a copy on the inputs of the fuzzer and changed ones; the row of the table."""
    place = folder / "fuzz" / folder_name(name)
    kept = FOLDER / folder_name(name) / "corpus"
    if kept.is_dir():
        shutil.copytree(kept, place / "corpus", dirs_exist_ok=True)
    how = {"cwd": folder, "env": environment(folder)}
    log = run_apart("replay", "kernels", name, place, seconds, **how)
    row = row_of(name, log, len(faults_in(place)), 0)
    return {"part": name, "executions": row["executions"], "faults": row["faults"]}


def executed_lines(folder: Path) -> list[dict[str, Any]]:
    """For each C file, its lines and those that were executed, of all processes so far."""
    kernels = folder / _KERNELS
    counters = sorted(str(path.name) for path in kernels.glob("*.gcda"))
    command = ["gcov", "--json-format", "--stdout", *counters]
    done = subprocess.run(command, cwd=kernels, capture_output=True, text=True, check=True)
    return lines_of(map(json.loads, done.stdout.splitlines()))


def lines_of(reports: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of C files from the reports of gcov.

    >>> lines = [{"line_number": 1, "count": 5}, {"line_number": 2, "count": 0}]
    >>> lines_of([{"files": [{"file": "a.c", "lines": lines}, {"file": "a.h", "lines": []}]}])
    [{'part': 'a.c', 'lines': 2, 'executed': 1}]
    """
    counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for report in reports:
        for file in report["files"]:
            for line in file["lines"]:
                counts[file["file"]][line["line_number"]] += line["count"]
    return [
        {"part": name, "lines": len(lines), "executed": sum(map(bool, lines.values()))}
        for name, lines in sorted(counts.items())
        if name.endswith(".c")
    ]


def main() -> None:
    """Run tests and fuzz kernels, and exit with code 1 if there is a fault."""
    if not shutil.which("gcc"):
        raise SystemExit("this needs GCC")
    from tools.torture.fuzzing.kernels import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each kernel")
    parser.add_argument("--tests", nargs="*", default=TESTS)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    folder = copied_tree(asked.folder or Path(tempfile.mkdtemp(prefix="diptych-sanitizers-")))
    compile_kernels(folder)
    rows = [run_tests(folder, asked.tests)] if asked.tests else []
    for name in TARGETS:
        rows.append(fuzz_kernel(folder, name, round(asked.minutes * 60)))
        print(rows[-1], flush=True)
    keep("sanitizers", rows)
    keep("kernel_lines", executed_lines(folder))
    raise SystemExit(1 if any(row["faults"] for row in rows) else 0)


if __name__ == "__main__":
    main()
