"""Put small faults into modules, one at a time, and check that tests fail: `make mutants`.

    python tools/mutants.py                        # all modules of tools/mutants.toml
    python tools/mutants.py --seed 1 'text/*'      # some modules, with another sample of faults

The faults are applied in a copy of the tree.  Libraries are imported once, then a process is forked
for each fault: it runs the module's doctests, the tests in the mirrored test file and those that
the table adds.  An SQL file beside the code is treated like a module without doctests.  A fault is
caught if a test fails, the module cannot be imported or the time limit is exceeded.  Surviving
faults are printed; the exit code is 1 if a module is below its floor, 2 if nothing could be
measured.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faults import Fault, faults_of, faults_of_sql, sample

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "tools/mutants.toml"
PARTS = ("src", "tests", "pyproject.toml")
LIBRARIES = (
    "aiohttp", "anyascii", "brotli", "chardet", "click", "click.testing", "hypothesis.strategies",
    "icu4py", "idna", "isal.igzip", "jinja2", "langcodes", "lxml.etree", "numpy", "orjson",
    "protego", "publicsuffixlist", "pyarrow.parquet", "pytest", "_pytest.doctest",
    "rapidfuzz.distance", "rich.live", "selectolax.lexbor", "sentencex", "tomli_w", "warcio",
    "zstandard",
)  # fmt: skip
"""modules that tests import; none of Diptych, since each process imports a faulty version"""
MEMORY = 4 << 30  # bytes; an endless loop that allocates memory fails before the machine does
PASSED, CAUGHT = 0, (1, 2, 3, 4)  # exit codes of pytest; 5 is "no tests", a fault of the table


@dataclass(frozen=True, slots=True)
class Module:
    """A module, its tests and its floor."""

    path: str
    source: str
    """source at the start of the run; the tree may be edited meanwhile"""
    floor: float
    """minimum share of faults that tests must catch"""
    tests: tuple[str, ...]
    equivalent: tuple[dict[str, str], ...]

    def candidates(self) -> list[Fault]:
        """All faults except those that no test could detect."""
        find = faults_of_sql if self.path.endswith(".sql") else faults_of
        faults = find(self.source)
        for entry in self.equivalent:
            if not any(_is_meant(fault, entry) for fault in faults):
                print(f"{TABLE.name}: {self.path} has this fault no longer: {entry['was']}")
        return [
            fault
            for fault in faults
            if not any(_is_meant(fault, entry) for entry in self.equivalent)
        ]


def _is_meant(fault: Fault, entry: dict[str, str]) -> bool:
    return fault.was == entry["was"] and fault.now == entry.get("now", fault.now)


def modules(patterns: Sequence[str]) -> list[Module]:
    """The requested modules of the table."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    found = []
    for path, told in table["modules"].items():
        if patterns and not any(fnmatch.fnmatch(path, pattern) for pattern in patterns):
            continue
        source = Path("src/diptych") / path
        mirror = sorted((ROOT / "tests" / path).parent.glob(f"test_{source.stem}*.py"))
        doctests = [] if source.suffix == ".sql" else [source]
        tests = [*doctests, *(file.relative_to(ROOT) for file in mirror), *told.get("tests", ())]
        equivalent = tuple(row for row in table["equivalent"] if row["module"] == path)
        floor = told.get("floor", table["floor"])
        text = (ROOT / source).read_text("utf-8")
        found.append(Module(path, text, floor, tuple(dict.fromkeys(map(str, tests))), equivalent))
    if not found:
        raise SystemExit(f"no such module in {TABLE.name}: {' '.join(patterns)}")
    return found


@dataclass(slots=True)
class Job:
    """One run of a module's tests, with or without a fault."""

    module: Module
    fault: Fault | None = None
    seconds: float = 600.0
    """of CPU"""
    code: int = -1
    spent: float = 0.0
    log: str = ""


@dataclass(slots=True)
class Slot:
    """A copy of the tree in which one job runs at a time."""

    folder: Path
    pid: int = 0
    job: Job | None = None
    began: float = field(default_factory=time.monotonic)

    def begin(self, job: Job) -> None:
        """Fork a process that runs the tests."""
        self.job, self.began = job, time.monotonic()
        if job.fault is not None:
            self._forget_compiled(job).write_text(job.fault.source, "utf-8")
        self.pid = os.fork()
        if not self.pid:
            _run_tests(self.folder, job)

    def ended(self) -> bool:
        """True if the process has ended; kills it if it exceeds its time limit."""
        job = self.job
        if job is None:
            return False
        pid, status, used = os.wait4(self.pid, os.WNOHANG)
        if not pid and time.monotonic() - self.began > 10 * job.seconds + 60:
            os.kill(self.pid, signal.SIGKILL)
            pid, status, used = os.wait4(self.pid, 0)
        if not pid:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # also processes that the tests started
        job.code, job.spent = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        job.log = (self.folder / "log").read_text("utf-8", "replace")
        if job.fault is not None:
            self._forget_compiled(job).write_text(job.module.source, "utf-8")
        self.job = None
        return True

    def _forget_compiled(self, job: Job) -> Path:
        """The copy of a job's module, to be written: a compiled one must not be taken for it."""
        path = self.folder / "src/diptych" / job.module.path
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        return path


def _run_tests(folder: Path, job: Job) -> None:
    """Run the tests in the forked process; does not return."""
    code = 3
    try:
        os.setsid()
        out = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(folder)
        limit = int(job.seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.environ["PYTHONPATH"] = str(folder / "src")
        code = _pytest(folder, job.module.tests)
    except BaseException:  # noqa: BLE001 - the parent's code must not run in this process
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _pytest(folder: Path, tests: Sequence[str]) -> int:
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    # The first failing example is enough; it is not shrunk.
    settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    fixed = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"]
    quick = ["-m", "not slow and not needs_torch"]
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # libraries are imported before
    return int(pytest.main([*fixed, *quick, *quiet, f"--basetemp={folder / 'tmp'}", *tests]))


def run_all(jobs: Sequence[Job], slots: Sequence[Slot]) -> Iterator[Job]:
    """Run jobs, one per slot at a time; yields them as they end."""
    waiting = deque(jobs)
    while waiting or any(slot.job for slot in slots):
        for slot in slots:
            job = slot.job
            if job is not None and slot.ended():
                yield job
            if slot.job is None and waiting:
                slot.begin(waiting.popleft())
        time.sleep(0.01)


def copied(folder: Path) -> Slot:
    """A copy of the tree."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
        else:
            shutil.copy2(ROOT / part, folder / part)
    return Slot(folder)


def measure(module: Module, drawn: Sequence[Fault], slots: Sequence[Slot]) -> list[Job]:
    """Run the tests of a module with each fault; raises if they fail without a fault."""
    (sound,) = run_all([Job(module)], slots[:1])
    if sound.code != PASSED:
        raise SystemExit(f"{sound.log}\nthe tests of {module.path} fail without a fault")
    jobs = [Job(module, fault, 3 * sound.spent + 5) for fault in drawn]
    for job in run_all(jobs, slots):
        if job.code > max(CAUGHT):
            raise SystemExit(f"{job.log}\npytest ended with {job.code}")
    return jobs


def report(module: Module, jobs: Sequence[Job], seconds: float) -> bool:
    """Print the results for a module; returns True if enough faults were caught."""
    missed = [job for job in jobs if job.code == PASSED]
    late = sum(job.code < 0 for job in jobs)
    share = 1 - len(missed) / len(jobs)
    verdict = "" if share >= module.floor else f"  BELOW {module.floor:.0%}"
    print(
        f"{module.path:40} {len(jobs) - len(missed):3}/{len(jobs):<3} {share:5.0%}"
        f"  {seconds:5.0f} s  {late} out of time{verdict}"
    )
    for job in missed:
        assert job.fault is not None
        print(f"    {job.fault.where}:{job.fault.line}")
        print(f"      - {job.fault.was}\n      + {job.fault.now}")
    sys.stdout.flush()
    return share >= module.floor


def main() -> int:
    """Measure the requested modules; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("modules", nargs="*", help="paths below src/diptych, with wildcards")
    parser.add_argument("--seed", default="0", help="which sample")
    parser.add_argument("--faults", type=int, default=30, help="at most so many of a module")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    asked = parser.parse_args()
    chosen = modules(asked.modules)
    for library in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    enough, caught, total = True, 0, 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        slots = [copied(Path(folder) / str(number)) for number in range(asked.jobs)]
        for module in chosen:
            began = time.monotonic()
            drawn = sample(module.candidates(), asked.faults, f"{asked.seed}:{module.path}")
            jobs = measure(module, drawn, slots)
            enough &= report(module, jobs, time.monotonic() - began)
            caught += sum(job.code != PASSED for job in jobs)
            total += len(jobs)
    print(f"{'all':40} {caught:3}/{total:<3} {caught / total:5.0%}")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
