"""Full and broken disks: a fault at every write of a command, real full disks, too few files.

Afterwards the same command must go on, with the result of an undisturbed one, and the run must pass
`diptych check`.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bench.support.tables import show
from diptych.engine.file_server import serve
from tools.torture.disk_cases import Case, cases, ended, write_site
from tools.torture.faulty_disk import FaultyDisk
from tools.torture.results import keep

FAULTS: dict[str, tuple[int, bool]] = {
    "full from one write on": (errno.ENOSPC, True),
    "full at one write": (errno.ENOSPC, False),
    "input/output error from one write on": (errno.EIO, True),
    "input/output error at one write": (errno.EIO, False),
}
_SIZES = (8, 40, 80, 120, 160, 220, 300, 400, 600, 900)  # kB of a disk; a whole run needs 1 MB
_FILES = (*range(1, 20), *range(20, 40, 5))  # file handles that are left
_HANDLES = 200  # file handles of the process in that case

_WITHOUT_SERVER = ("mine archives", "export --format tsv")
"""the server of the site is in this process, and needs file handles too"""

Fault = Callable[[Path], AbstractContextManager[object]]
"""makes a fault for a command that runs in a folder"""


def tried(case: Case, folder: Path, fault: Fault, whole: dict[str, Any]) -> list[str]:
    """Run a command with a fault, and again without; returns what is not as it should be."""
    case.prepare(folder)
    with fault(folder):
        first = case.run(folder)
    found = [] if first.is_clear else [f"ended with {first}"]
    if first.code == 0 and case.outcome(folder) != whole:
        found.append("it has overlooked the fault")  # one of the log of a database does not matter
    again = case.run(folder)
    if again.code != 0:
        return [*found, f"the same command then ended with {again}"]
    if (result := case.outcome(folder)) != whole:
        names = [name for name in whole if result.get(name) != whole[name]]
        found.append(f"the result is another: {names} of {[*result]}")
    checked = ended("check", folder / "run", "--quiet")
    if checked.code != 0:
        found.append(f"check ended with {checked}")
    return [*found, "exit 3"] if first.code == 3 else found


def row_of(case: Case, name: str, places: int, results: Iterable[list[str]]) -> dict[str, Any]:
    """A row of the table; what is not as it should be is printed."""
    counts: Counter[str] = Counter()
    for number, found in enumerate(results):
        counts["tried"] += 1
        counts["refused"] += "exit 3" in found
        faults = [fault for fault in found if fault != "exit 3"]
        counts["good"] += not faults
        for fault in faults:
            print(f"{case.name}, {name}, {number}: {fault}", flush=True)
    return {
        "command": case.name, "fault": name, "writes": places or "", "tried": counts["tried"],
        "ended with one line": counts["refused"], "then the same result": counts["good"],
    }  # fmt: skip


def injected(case: Case, folder: Path, points: int) -> Iterator[dict[str, Any]]:
    """Faults at the writes of a command, at `points` of them for each kind of fault."""
    for number, (name, (error, lasting)) in enumerate(FAULTS.items()):
        case.prepare(folder)
        with FaultyDisk(folder, 0, error) as disk:
            undisturbed = case.run(folder)
        if undisturbed.code != 0:
            raise SystemExit(f"{case.name}: {undisturbed}")
        whole, step = case.outcome(folder), max(1, disk.writes // points)
        faults = (
            partial(FaultyDisk, at=at, error=error, lasting=lasting)
            for at in range(1 + number * step // len(FAULTS), disk.writes + 1, step)
        )
        yield row_of(
            case, name, disk.writes, (tried(case, folder, fault, whole) for fault in faults)
        )


@contextmanager
def small_disk(folder: Path, *, kilobytes: int) -> Iterator[None]:
    """Put the folder of a command on a disk with little space; afterwards it has more."""
    shutil.rmtree(folder)
    folder.mkdir()
    place = str(folder)
    _mount("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "diptych", place)
    yield
    _mount("mount", "-o", "remount,size=100m", place)


def _mount(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def full_disk(case: Case, folder: Path) -> Iterator[dict[str, Any]]:
    """A disk that is really full, if this system allows to make one."""
    case.prepare(folder)
    case.run(folder)
    whole = case.outcome(folder)

    def results() -> Iterator[list[str]]:
        for kilobytes in _SIZES:
            try:
                yield tried(case, folder, partial(small_disk, kilobytes=kilobytes), whole)
            finally:
                subprocess.run(["umount", str(folder)], check=False)

    try:
        yield row_of(case, "a disk of 8 to 900 kB", 0, results())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no disks can be mounted here: {error}", file=sys.stderr)


@contextmanager
def few_files(folder: Path, *, more: int) -> Iterator[None]:
    """Allow this process only some file handles more than it has."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_HANDLES, hard))
    held: list[int] = []
    try:
        with suppress(OSError):
            while True:
                held.append(os.dup(0))
        for handle in held[-more:]:
            os.close(handle)
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for handle in held[:-more]:
            os.close(handle)


def no_files(case: Case, folder: Path) -> Iterator[dict[str, Any]]:
    """A process that runs out of file handles."""
    case.prepare(folder)
    case.run(folder)
    whole = case.outcome(folder)
    faults = (partial(few_files, more=more) for more in _FILES)
    yield row_of(
        case,
        "1 to 35 file handles left",
        0,
        (tried(case, folder, fault, whole) for fault in faults),
    )


def main() -> None:
    """Try all faults, and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=60, help="writes of each command and fault")
    parser.add_argument("--only", default="", help="only commands whose name begins so")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name, serve(write_site(Path(name) / "site")) as url:
        finished = Path(name) / "finished"
        (finished / "out").mkdir(parents=True)
        assert cases(url, finished)[0].run(finished).code == 0
        for case in cases(url, finished):
            if not case.name.startswith(asked.only):
                continue
            folder = Path(name) / "work"
            rows += injected(case, folder, asked.points)
            if case.begun is None:
                rows += full_disk(case, folder)
            if case.name in _WITHOUT_SERVER:
                rows += no_files(case, folder)
    if asked.only:
        show({"disk": rows})
    else:
        keep("disk", rows)
    raise SystemExit(any(row["tried"] != row["then the same result"] for row in rows))


if __name__ == "__main__":
    main()
