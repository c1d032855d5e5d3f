"""Crash commands at random places, run them again, and compare with a run that was not disturbed.

`python -m tools.torture.crashes [--points N] [--seed N] [--keep]`.  A point is one place in one
stage: a line of code, a statement of SQL or an operation on a file.  There the command is killed,
asked to end, or has a fault such as a full disk.  Afterwards the same command must finish with exit
code 0, `diptych check` must find no fault, and the results must be those of an undisturbed run.
Columns with dates, and with the places of records in archives, may differ.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads cannot be forked safely

import argparse
import json
import random
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from diptych.api.check import check_folder
from diptych.protocols import Watcher
from tools.torture import injection
from tools.torture.crash_cases import NAMES, Begun, Case, cases, make_begun, served
from tools.torture.forks import Ended, command, forked
from tools.torture.injection import FILE, LINE, STATEMENT, Injector, Place, Recorder, Watch
from tools.torture.results import RESULTS, keep

POINTS = 20  # of each stage
SITES = 4  # small sites of a search
_MOST = 4  # attempts at a place that is passed by chance, such as code that waits
_AGAIN = 4  # of so many points, one is killed again while it goes on
_LARGEST = 1 << 20  # bytes of a file on a full disk, at most


class Kind(NamedTuple):
    """A kind of crash: its name, the kind of its places, the fault, and how the command may end."""

    name: str
    at: str
    fault: Callable[[random.Random], Callable[[], None]]
    codes: frozenset[int]
    """exit codes of the command; that of a signal is negative"""
    cut: str = ""
    """pattern of the files of a run whose end is cut off afterwards"""
    may_end_with: str = "no traceback"
    """the exception of a traceback that is no fault"""


def _always(fault: Callable[[], None]) -> Callable[[random.Random], Callable[[], None]]:
    return lambda chance: fault


def _full_disk(chance: random.Random) -> Callable[[], None]:
    return injection.fill_disk(int(_LARGEST ** chance.random()))


_FINE, _STOPPED = 0, 130
_FAILED = frozenset({1, 2, 3, _FINE})  # 0: the fault concerned only one page or pair
_KILLED = frozenset({-signal.SIGKILL})
_INTERRUPTED = frozenset({_STOPPED, _FINE, 1})  # 1: while the end was being said
_TERMINATED = frozenset({-signal.SIGTERM, _FINE, 1})  # 1: while the process ended
KINDS = (
    Kind("SIGKILL", LINE, _always(injection.kill), _KILLED),
    Kind("SIGTERM", LINE, _always(injection.terminate), _TERMINATED, may_end_with="Terminated"),
    Kind("Ctrl-C", LINE, _always(injection.press_ctrl_c), frozenset({_STOPPED, _FINE, 1})),
    Kind(
        "KeyboardInterrupt", LINE, _always(injection.interrupt), _INTERRUPTED,
        may_end_with="KeyboardInterrupt",
    ),
    Kind("MemoryError", LINE, _always(injection.exhaust_memory), _FAILED),
    Kind("SQLITE_FULL", STATEMENT, _always(injection.fill_database), _FAILED),
    Kind("OSError", FILE, _always(injection.fail_on_file), _FAILED),
    Kind("full disk", LINE, _full_disk, _FAILED),
    Kind("archive cut", LINE, _always(injection.kill), _KILLED, "warc/*.gz"),
    Kind("log cut", LINE, _always(injection.kill), _KILLED, "run.sqlite-wal"),
)  # fmt: skip


@dataclass
class Tally:
    """What became of the points of a stage."""

    places: int = 0
    points: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def row(self, name: str) -> dict[str, Any]:
        """The row of the table of results."""
        return {
            "stage": name,
            "places": self.places,
            "points": self.points.total(),
            **{kind.name: self.points[kind.name] for kind in KINDS},
            "faults": len(self.faults),
        }


class Matrix:
    """Crashes commands in a folder."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._work = folder / "work"
        self._chance = chance
        self._logs = folder / "log"
        self._whole: dict[Sequence[str], tuple[dict[str, Counter[Place]], Any]] = {}
        """by command: the places that it passes undisturbed, and its results"""

    def begun(self, urls: Sequence[str]) -> Begun:
        """Make the folders in which commands begin."""
        return make_begun(self._folder, self._work, urls, self._run_until)

    def _run_until(self, arguments: Sequence[str], stage: str) -> None:
        """Run a command until a stage begins; if there is none, to its end."""

        def work() -> int:
            if stage:
                Watch(self._work, stage, lambda place: injection.kill()).begin()
            return command(arguments)

        ended = self._forked(work)
        if ended.code != -signal.SIGKILL if stage else ended.result != 0:
            raise SystemExit(f"{' '.join(arguments)}: exit code {ended.code}\n{ended.said}")

    def _forked(self, work: Callable[[], Any]) -> Ended:
        return forked(work, self._logs)

    def warm_up(self, case: Case) -> None:
        """Run a command in this process, so that later ones find all modules imported."""
        self._begin(case)
        with self._logs.open("w") as log, redirect_stdout(log), redirect_stderr(log):
            command(case.command)

    def _begin(self, case: Case) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        if case.begun is None:
            self._work.mkdir()
        else:
            shutil.copytree(case.begun, self._work)

    def whole(self, case: Case) -> tuple[Any, Counter[Place]]:
        """The results of an undisturbed command, and the places that its stage passes."""
        if case.command not in self._whole:
            self._begin(case)

            def work() -> tuple[int, dict[str, Counter[Place]], Any]:
                recorder = Recorder(self._work)
                recorder.watch.begin()
                code = command(case.command)
                recorder.watch.end()
                return code, recorder.places(), case.outcome(self._work)

            ended = self._forked(work)
            if ended.result is None or ended.result[0] != 0:
                raise SystemExit(f"{case.name}: exit code {ended.code}\n{ended.said}")
            self._whole[case.command] = ended.result[1:]
        places, outcome = self._whole[case.command]
        return outcome, places[case.stage]

    def crash(self, case: Case, tally: Tally, points: int, only: str = "") -> None:
        """Crash a command at some points, and record what became of it."""
        expected, counts = self.whole(case)
        tally.places = len(counts)
        passed = {place.kind for place in counts}
        kinds = [
            kind
            for kind in KINDS
            if kind.at in passed and (case.run or not kind.cut) and only in kind.name
        ]
        self._chance.shuffle(kinds)
        started = time.monotonic()
        for number in range(points):
            kind = kinds[number % len(kinds)]
            self._point(case, kind, number, counts, expected, tally)
        tally.seconds = time.monotonic() - started

    def _point(
        self, case: Case, kind: Kind, number: int, counts: Counter[Place], expected: Any,
        tally: Tally,
    ) -> None:  # fmt: skip
        """Crash a command at one point, let it go on, and compare."""
        for _ in range(_MOST):
            self._begin(case)
            place, nth = self._chosen(counts, kind.at)
            ended = self._crashed(case, place, nth, kind)
            if ended.is_hit:
                break
        else:
            return
        name = f"{case.name}, {kind.name} at {place.name!r} ({nth} of {counts[place]})"
        tally.points[kind.name] += 1
        tally.ends[f"{kind.name}: {ended.code}"] += 1
        faults = list(_end_faults(kind, ended))
        if kind.cut:
            self._cut(kind.cut)
        if number % _AGAIN == _AGAIN - 1:
            again, nth = self._chosen(counts, LINE)
            if self._crashed(case, again, nth, KINDS[0]).is_hit:
                name += f", killed again at {again.name!r} ({nth})"
        faults += self._left(case, expected, is_cut=bool(kind.cut))
        for fault in faults:
            print(f"{name}: {fault}", flush=True)
        tally.faults += [name] * bool(faults)

    def _chosen(self, counts: Counter[Place], kind: str) -> tuple[Place, int]:
        """Choose a place, whether it is passed once or often, and the number of the passage."""
        places = sorted(place for place in counts if place.kind == kind)
        place = self._chance.choice(places)
        return place, self._chance.randint(1, counts[place])

    def _crashed(self, case: Case, place: Place, nth: int, kind: Kind) -> Ended:
        fault = kind.fault(self._chance)

        def work(hit: Callable[[], None]) -> int:
            def act() -> None:
                hit()
                fault()

            injector = Injector(place, nth, act)
            watch = Watch(self._work, case.stage, injector, place)
            watch.begin()
            return command(case.command)

        return forked(work, self._logs, tells_hit=True)

    def _cut(self, pattern: str) -> None:
        """Cut the last of some files off at a random byte, as if the power had failed."""
        for path in sorted((self._work / "run").glob(pattern))[-1:]:
            os.truncate(path, self._chance.randint(0, path.stat().st_size))

    def _left(self, case: Case, expected: Any, *, is_cut: bool) -> Iterator[str]:
        """Check what is left, let the command go on, check again; yields all that is wrong."""

        def work() -> tuple[int, list[str], Any]:
            faults = [] if is_cut else [f"before it goes on: {said}" for said in self._faults(case)]
            code = command(case.command)
            return code, [*faults, *self._faults(case)], case.outcome(self._work)

        ended = self._forked(work)
        if ended.result is None:
            yield f"it does not go on: exit code {ended.code}: {ended.said[-1500:]}"
            return
        code, faults, found = ended.result
        if code or "Traceback" in ended.said:
            yield f"it goes on with exit code {code}: {ended.said[-1500:]}"
        yield from faults
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                yield f"other {name}: {_difference(expected.get(name), found.get(name))}"

    def _faults(self, case: Case) -> list[str]:
        """What `diptych check` finds in a run, once it has a database with tables."""
        run = self._work / case.run
        if not case.run or not (run / "run.sqlite").exists():
            return []
        found = [fault.said for fault in check_folder(run, Watcher()).faults]
        return [said for said in found if "has schema 0;" not in said]


def _end_faults(kind: Kind, ended: Ended) -> Iterator[str]:
    """What is wrong with the end of a command."""
    if ended.code not in kind.codes:
        yield f"it ended with exit code {ended.code}: {ended.said[-1500:]}"
    elif "Traceback" in ended.said and not ended.said.rstrip().endswith(kind.may_end_with):
        yield f"it ended with a traceback: {ended.said[-1500:]}"


def _difference(expected: Any, found: Any) -> str:
    """The first lines in which two results differ."""
    if not isinstance(expected, list) or not isinstance(found, list):
        return f"{expected!r:.300} became {found!r:.300}"
    lost = [each for each in expected if each not in found]
    new = [each for each in found if each not in expected]
    return f"{len(lost)} lost ({lost[:1]!r:.300}), {len(new)} new ({new[:1]!r:.300})"


def main() -> None:
    """Crash all commands; exit with code 1 if any did not go on as it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS, help="points of each stage")
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--stages", default="", help="the stages, by commas; default: all")
    parser.add_argument("--kind", default="", help="only kinds with this in their name")
    parser.add_argument("--brief", action="store_true", help="do not write the table")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tallies: dict[str, Tally] = {}
    try:
        _crash_all(asked, tallies)
    finally:
        if tallies and not asked.brief:
            _keep(tallies)
    failed = sum(len(tally.faults) for tally in tallies.values())
    raise SystemExit(1 if failed else 0)


def _crash_all(asked: argparse.Namespace, tallies: dict[str, Tally]) -> None:
    """Crash the commands that are asked for; `tallies` has the stages that are finished."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        with served(folder / "sites", SITES) as urls:
            matrix = Matrix(folder, random.Random(asked.seed))
            begun = matrix.begun(urls)
            chosen = [
                case
                for case in cases(folder / "work", urls, begun)
                if not asked.stages or case.name in asked.stages.split(",")
            ]
            for case in {case.command: case for case in chosen}.values():
                matrix.warm_up(case)
            for case in chosen:
                tally = Tally()
                matrix.crash(case, tally, asked.points, asked.kind)
                tallies[case.name] = tally
                print(case.name, round(tally.seconds), dict(tally.ends), flush=True)


def _keep(tallies: Mapping[str, Tally]) -> None:
    """Keep the rows of the stages that were crashed, with those of others from earlier."""
    rows = {name: tally.row(name) for name, tally in tallies.items()}
    file = RESULTS / "crashes.json"
    known = json.loads(file.read_text("utf-8"))["rows"] if file.exists() else []
    found = {**{row["stage"]: row for row in known}, **rows}
    keep("crashes", [found[name] for name in NAMES if name in found])


if __name__ == "__main__":
    main()
