"""Tasks in several processes: in order, a few at a time, and without those that end a process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.pooltasks import Ending, Hanging, Held, Known, Large, Raising, Releasing, Square
from support.runs import LANGS, strategies
from support.waiting import PATIENCE, until

import diptych
from diptych.engine.task_workers import _MIN_TASKS, _TASKS_AHEAD, Failed, Pool, run_tasks
from diptych.errors import ArchiveError, DiptychError
from diptych.run.store import Store
from diptych.steps.tasks import TaskContext


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        yield opened
    assert multiprocessing.active_children() == []


@pytest.fixture
def context(store: Store) -> TaskContext:
    return TaskContext(store.folder, strategies(), LANGS)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_results_come_in_the_order_of_the_tasks(context, store, pipe) -> None:
    # The first is done after several others.
    tasks = [Held(0, pipe), *map(Square, range(1, _MIN_TASKS + 8))]
    tasks[5] = Releasing(5, pipe)
    found = list(run_tasks(tasks, context, context.of(store), jobs=2))
    assert [result[0] for result in found] == [number**2 for number in range(_MIN_TASKS + 8)]
    processes = {result[1] for result in found}
    assert len(processes) == 2
    assert os.getpid() not in processes


@pytest.mark.parametrize(("count", "jobs"), [(_MIN_TASKS + 8, 1), (_MIN_TASKS - 1, 4), (0, 4)])
def test_one_job_or_few_tasks_are_done_here(context, store, count, jobs) -> None:
    found = list(run_tasks(map(Square, range(count)), context, context.of(store), jobs=jobs))
    assert found == [(number**2, os.getpid()) for number in range(count)]


def test_tasks_done_here_have_the_store_that_is_open(context, store, monkeypatch) -> None:
    monkeypatch.setattr(store, "record", lambda url: None)
    monkeypatch.setattr("diptych.steps.tasks.Store", None)
    assert list(run_tasks([Known("http://a/")], context, context.of(store))) == [("", os.getpid())]
    assert context._store is None


def test_workers_read_the_store_while_this_process_writes(recorded: Path) -> None:
    with Store(recorded, write=False) as store:
        url = next(store.records(1)).url
        own = TaskContext(recorded, strategies(), LANGS)
        found = list(run_tasks([Known(url)] * _MIN_TASKS, own, own.of(store), jobs=2))
    assert {lang for lang, _ in found} == {"en"}
    assert os.getpid() not in {process for _, process in found}


class Given(Sequence):
    """Tasks, and what is done when one of them is given to a process."""

    def __init__(self, tasks, give) -> None:
        self._tasks, self._give = tasks, give

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, number):
        self._give(number)
        return self._tasks[number]


def test_no_more_than_a_window_is_begun_ahead_of_the_first(context, store, pipe) -> None:
    tasks, window, results, ahead = list(map(Square, range(80))), _TASKS_AHEAD * 2, [], []
    # All that may be begun must be, or the first is never done.
    tasks[0], tasks[window - 1] = Held(0, pipe), Releasing(window - 1, pipe)
    given = Given(tasks, lambda number: ahead.append(number - len(results)))
    for result in Pool(context, 2).run(given):
        results.append(result[0])
    assert results == [number**2 for number in range(80)]
    assert max(ahead) == window - 1


def test_results_may_be_large(context, store) -> None:
    found = list(Pool(context, 2).run([Large(3_000_000)] * 4))
    assert [len(result) for result in found] == [3_000_000] * 4


def test_task_that_ends_its_process_has_no_result_and_others_go_on(context, store) -> None:
    tasks = [Ending() if number in (0, 1, 20, _MIN_TASKS) else Square(number)
             for number in range(_MIN_TASKS + 1)]  # fmt: skip
    found = list(run_tasks(tasks, context, context.of(store), jobs=2))
    wanted = ["ProcessEnded" if isinstance(task, Ending) else task.number**2 for task in tasks]
    assert [result[0] for result in found] == wanted


def test_task_that_hangs_has_no_result_and_others_go_on(context, store) -> None:
    tasks = [Square(0), Hanging(), *map(Square, range(2, 12)), Hanging()]
    pool = Pool(context, 1)

    def give(number: int) -> None:  # whatever takes no time is quick enough on no machine
        pool.patience = 0.0 if isinstance(tasks[number], Hanging) else PATIENCE

    found = list(pool.run(Given(tasks, give)))
    wanted = ["TimeoutError" if isinstance(task, Hanging) else task.number**2 for task in tasks]
    assert [result[0] for result in found] == wanted


@pytest.mark.parametrize(
    ("jobs", "error"),
    [(1, ValueError), (1, MemoryError), (1, AssertionError), (1, ArchiveError), (2, MemoryError)],
)
def test_task_that_raises_has_no_result_and_others_go_on(context, store, jobs, error) -> None:
    tasks = [
        Raising("what", error) if number == 3 else Square(number) for number in range(_MIN_TASKS)
    ]
    found = list(run_tasks(tasks, context, context.of(store), jobs=jobs))
    assert found[3] == Failed(error.__name__)
    assert found[3].reason == f"failed:{error.__name__}"
    assert [result[0] for place, result in enumerate(found) if place != 3] == [
        number**2 for number in range(_MIN_TASKS) if number != 3
    ]


@pytest.mark.parametrize(("jobs", "error"), [(1, OSError), (2, DiptychError)])
def test_fault_of_the_machine_ends_the_run(context, store, jobs, error) -> None:
    tasks: list[Any] = [Square(number) for number in range(_MIN_TASKS)]
    tasks[3] = Raising("too many open files", OSError)
    with pytest.raises(error):
        list(run_tasks(tasks, context, context.of(store), jobs=jobs))


def test_interrupt_in_a_task_is_no_result(context, store) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(run_tasks([Raising("what", KeyboardInterrupt)], context, context.of(store)))


def test_leaving_off_ends_the_workers(context, store) -> None:
    results = run_tasks([Square(1), *[Hanging()] * _MIN_TASKS], context, context.of(store), jobs=2)
    assert next(results)[0] == 1
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert multiprocessing.active_children() == []


# -- what comes up one after the other -------------------------------------------------------------


def collected(pool: Pool, count: int) -> dict[int, object]:
    """The results of so many tasks, looked for again and again."""
    found: dict[int, object] = {}

    def done() -> bool:
        found.update(pool.collect())
        return len(found) >= count

    until(done)
    return found


@pytest.fixture
def pool(context) -> Iterator[Pool]:
    made = Pool(context, 2)
    yield made
    made.close()


def test_results_come_back_by_number(pool) -> None:
    numbers = {pool.submit(Square(each)): each for each in range(9)}
    found = collected(pool, 9)
    assert {number: result[0] for number, result in found.items()} == {
        number: each**2 for number, each in numbers.items()
    }
    assert os.getpid() not in {result[1] for result in found.values()}
    later = pool.submit(Square(12))
    assert later not in numbers
    assert collected(pool, 1)[later][0] == 144
    assert pool.collect() == {}


def test_without_processes_tasks_are_done_here_when_results_are_collected(context, store) -> None:
    pool = Pool(context.of(store), 0)
    first, second = pool.submit(Square(3)), pool.submit(Square(4))
    assert pool.collect() == {first: (9, os.getpid()), second: (16, os.getpid())}
    assert pool.collect() == {}


def test_collecting_waits_for_nothing(pool) -> None:
    pool.start()
    hanging = pool.submit(Hanging())
    pool.collect()
    quick = pool.submit(Square(3))
    began = time.monotonic()
    for _ in range(1000):  # a moment each, or a quarter of an hour
        assert hanging not in pool.collect()
        assert time.monotonic() - began < PATIENCE
    pool.submit(Square(4))
    assert quick in collected(pool, 1)


def test_submitted_task_that_ends_its_process_has_no_result_and_others_go_on(pool) -> None:
    ending, squared = pool.submit(Ending()), pool.submit(Square(5))
    again = pool.submit(Square(6))
    found = collected(pool, 3)
    assert isinstance(found[ending], Failed)
    assert (found[squared][0], found[again][0]) == (25, 36)


def test_submitted_task_that_hangs_has_no_result_and_others_go_on(context) -> None:
    pool = Pool(context, 1, patience=0.0)
    try:
        hanging = pool.submit(Hanging())
        assert isinstance(collected(pool, 1)[hanging], Failed)
        pool.patience = PATIENCE
        squared = pool.submit(Square(5))
        assert collected(pool, 1)[squared][0] == 25
    finally:
        pool.close()


def test_submitted_task_that_raises_has_no_result(pool) -> None:
    raising = pool.submit(Raising("what"))
    assert collected(pool, 1)[raising] == Failed("ValueError")


def test_closing_ends_processes_whatever_they_are_at(context) -> None:
    pool = Pool(context, 2)
    for _ in range(5):
        pool.submit(Hanging())
    pool.collect()
    assert len(multiprocessing.active_children()) == 2
    pool.close()
    assert multiprocessing.active_children() == []
    pool.close()


SCRIPT = """
import signal
import sys
from pathlib import Path
from typing import Any
from support.pooltasks import Hanging
from support.runs import LANGS, strategies
from diptych.engine.task_workers import run_tasks
from diptych.run.store import Store
from diptych.steps.tasks import TaskContext

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run behind a &
    folder = Path(sys.argv[1])
    with Store(folder) as store:
        context = TaskContext(folder, strategies(), LANGS)
        tasks = [Hanging(folder / "begun")] * 50
        list(run_tasks(tasks, context, context.of(store), jobs=2))
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_this_process(tmp_path: Path, sent: signal.Signals) -> None:
    folder, script = tmp_path / "run", tmp_path / "script.py"
    folder.mkdir()
    script.write_text(SCRIPT, "utf-8")
    paths = [str(Path(__file__).parents[1]), str(Path(diptych.__file__).parent.parent)]
    process = subprocess.Popen(
        [sys.executable, script, folder], start_new_session=True,
        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    try:
        until(lambda: len(list(folder.glob("begun.*"))) == 2)

        def ended() -> bool:
            os.kill(process.pid, sent)  # again, as one does: Python may be where it ignores it
            return process.poll() is not None

        until(ended)
        until(lambda: not alive(process.pid))
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
