"""The worker processes of a run: order of results, limits, start and end of processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support import strange
from support.pooltasks import (
    Brief,
    Ending,
    FullDiskError,
    Growing,
    Hanging,
    Held,
    Identify,
    Known,
    Large,
    Once,
    Printing,
    Raising,
    Releasing,
    Secret,
    Several,
    Slow,
    Square,
    Unforeseen,
)
from support.runs import LANGS, strategies
from support.waiting import PATIENCE, until

import diptych
from diptych.engine.jobs import Worker
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed, attempt
from diptych.engine.workers import ALONE, Shared, Workers
from diptych.errors import ArchiveError, DiptychError, MachineError, StoreError
from diptych.language.identify import use_learned_languages
from diptych.language.train import pieces_of, train_language
from diptych.run.store import Store
from diptych.steps.tasks import TaskContext

AT_ONCE = TaskLimits(0.0, None)


def no_tick() -> None:
    """Do nothing."""


def run(workers: Workers, *tasks: Any, shared: Shared[Any] = ALONE, **more: Any) -> list[Any]:
    """The results of some tasks."""
    return list(workers.run_tasks(tasks, shared, tick=no_tick, **more))


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    """A pool of at most two processes, shared by several tests."""
    with Workers(2) as workers:
        yield workers


@pytest.fixture
def one() -> Iterator[Workers]:
    with Workers(1) as workers:
        yield workers


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


# -- results ---------------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_tasks(pipe: Path) -> None:
    # The first is done after another one, which needs a process of its own.
    with Workers(2) as workers:
        found = run(workers, Held(0, pipe), *map(Square, range(1, 9)), Releasing(9, pipe))
        assert [result[0] for result in found] == [number**2 for number in range(10)]
        processes = {result[1] for result in found}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_without_processes_tasks_are_done_here_one_by_one(recorded: Path) -> None:
    begun: list[int] = []

    def tasks() -> Iterator[Square]:
        for number in range(9):
            begun.append(number)
            yield Square(number)

    results = Workers(0).run_tasks(tasks(), ALONE, tick=no_tick)
    assert next(results) == (0, os.getpid())
    assert begun == [0]
    assert [number for number, _ in results] == [number**2 for number in range(1, 9)]


def test_tasks_done_here_have_the_context_that_is_here_and_others_get_theirs(
    two: Workers, recorded: Path
) -> None:
    with Store(recorded, write=False) as store:
        url = next(store.records(1)).url
        shared = TaskContext(recorded, strategies(), LANGS).shared(store)
        assert run(Workers(0), Known(url), shared=shared) == [("en", os.getpid())]
        found = run(two, *[Known(url)] * 8, shared=shared)
        other = run(two, Known("http://nowhere/"), shared=shared)
    assert {lang for lang, _ in found} == {"en"}
    assert os.getpid() not in {process for _, process in found}
    assert other[0][0] == ""


def test_context_is_that_of_the_task_whatever_was_before(two: Workers, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        Store(folder).close()
    contexts = [TaskContext(folder, strategies(), LANGS) for folder in folders]
    shared = [Shared(each, each) for each in contexts]
    for each in (shared[0], shared[1], ALONE, shared[0]):
        (found,) = run(two, Folder(), shared=each)
        if each is not ALONE:
            assert found == str(folders[shared.index(each)])


class Folder:
    """The folder of the run, as seen by the worker."""

    def run(self, context: TaskContext) -> str:
        return str(context.folder)


def test_number_of_pending_tasks_is_bounded(one: Workers, pipe: Path) -> None:
    begun: list[int] = []

    def tasks() -> Iterator[Any]:
        for number in range(40):
            begun.append(number)
            yield Held(0, pipe) if number == 0 else Square(number)

    released = threading.Timer(0, lambda: pipe.write_bytes(b"go on"))
    results = one.run_tasks(tasks(), ALONE, tick=lambda: released.is_alive() or _start(released))
    assert next(results)[0] == 0
    assert len(begun) == 16
    assert [number for number, _ in results] == [number**2 for number in range(1, 40)]


def _start(timer: threading.Timer) -> None:
    with suppress(RuntimeError):  # it was started before
        timer.start()


def test_results_may_be_large(two: Workers) -> None:
    assert [len(each) for each in run(two, *[Large(3_000_000)] * 4)] == [3_000_000] * 4


def test_results_are_waited_for_in_an_event_loop_too(two: Workers) -> None:
    async def several() -> list[Any]:
        return await asyncio.gather(*(two.call(Square(each), ALONE) for each in range(9)))

    found = two.run_in_loop(several())
    assert [number for number, _ in found] == [each**2 for each in range(9)]


def test_pool_works_within_a_running_event_loop(two: Workers) -> None:
    async def outer() -> list[Any]:
        return run(two, Square(3))

    assert asyncio.run(outer())[0][0] == 9


def test_printed_output_of_a_task_is_not_a_result(one: Workers) -> None:
    assert run(one, Printing(), Square(2))[0] == ""


# -- tasks that fail -------------------------------------------------------------------------------


def test_task_that_ends_its_process_has_no_result_and_others_continue(two: Workers) -> None:
    tasks = [Ending() if number in (0, 1, 20, 40) else Square(number) for number in range(41)]
    found = run(two, *tasks)
    wanted = ["ProcessEnded" if isinstance(task, Ending) else task.number**2 for task in tasks]
    assert [result[0] for result in found] == wanted


@pytest.mark.parametrize("count", [1, 2])
def test_task_that_takes_too_long_has_no_result_and_others_continue(count: int) -> None:
    with Workers(count) as workers:
        (result,) = run(workers, Hanging(), limits=AT_ONCE)
        assert result == Failed("TimeoutError")
        assert run(workers, Square(5))[0][0] == 25


@pytest.mark.parametrize(("fault", "kind"), [("end", "ProcessEnded"), ("hang", "TimeoutError")])
def test_among_tasks_that_are_sent_together_only_the_faulty_one_fails(one, fault, kind) -> None:
    run(one, *map(Brief, range(20)))  # from now on they are known to be brief
    tasks = [Brief(number, fault if number == 7 else "") for number in range(20)]
    found = run(one, *tasks, limits=TaskLimits(3.0 if fault == "hang" else None, None))
    wanted = [kind if task.fault else task.number**2 for task in tasks]
    assert [result[0] for result in found] == wanted


@pytest.mark.parametrize(("fault", "kind"), [("end", "ProcessEnded"), ("hang", "TimeoutError")])
def test_batch_that_fails_is_not_tried_again_whole(one, tmp_path, fault, kind) -> None:
    run(one, *[Several(tmp_path / "before")] * 60)  # from now on they are known to be brief
    tasks = [Several(tmp_path / "begun", fault), *[Several(tmp_path / "after")] * 9]
    found = run(one, *tasks, limits=TaskLimits(2.0, None))
    assert found == [Failed(kind), *[[1, 4, 9]] * 9]
    assert (tmp_path / "begun").read_text() == "x"


def test_brief_tasks_need_few_messages(one: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    run(one, *map(Brief, range(20)))
    sent: list[int] = []
    usual = Worker.send

    def send(worker: Worker) -> None:
        sent.extend([len(worker.frames)] if worker.frames else [])
        usual(worker)

    monkeypatch.setattr(Worker, "send", send)
    run(one, *map(Brief, range(200)))
    assert sum(sent) == 200
    assert len(sent) < 70


def test_many_tasks_that_are_known_to_come_start_all_processes() -> None:
    with Workers(2) as workers:
        workers.prepare(10)
        until(lambda: len(workers.processes) == 1)
        workers.prepare(1000)
        until(lambda: len(workers.processes) == 2)


def test_waiting_behind_a_task_that_takes_too_long_costs_nothing(one: Workers) -> None:
    first = one.submit(Hanging(), ALONE, limits=TaskLimits(1.0, None))
    second = one.submit(Square(3), ALONE, limits=TaskLimits(PATIENCE, None))
    assert first.result() == Failed("TimeoutError")
    assert second.result()[0] == 9


def test_task_that_takes_too_much_memory_has_no_result_and_others_continue(one: Workers) -> None:
    little = TaskLimits(PATIENCE, 1 << 30)
    assert run(one, Growing(), Square(4), limits=little)[0] == Failed("MemoryError")
    before = one.processes
    assert run(one, Square(5), limits=TaskLimits(None, None))[0][0] == 25
    assert one.processes == before


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("error", [ValueError, MemoryError, ArchiveError, zlib.error, Unforeseen])
def test_task_that_raises_has_no_result_and_others_continue(two, count, error) -> None:
    workers = two if count else Workers(0)
    found = run(workers, Square(2), Raising("what", error), Square(3))
    assert found[1] == Failed(error.__name__)
    assert found[1].reason == f"failed:{error.__name__}"
    assert (found[0][0], found[2][0]) == (4, 9)


@pytest.mark.parametrize(
    ("count", "raised", "error", "message"),
    [
        (0, OSError, OSError, "too many files"),
        (1, OSError, DiptychError, "a worker process failed: OSError: too many files"),
        (1, StoreError, DiptychError, "^too many files"),
        (1, FullDiskError, MachineError, "too many files; free some disk space, then run the same"),
    ],
)
def test_fault_of_the_machine_ends_the_run(count, raised, error, message) -> None:
    with Workers(count) as workers, pytest.raises(error, match=message):
        run(workers, Square(1), Raising("too many files", raised))


def test_interrupt_in_a_task_is_no_result() -> None:
    with pytest.raises(KeyboardInterrupt):
        attempt(Raising("what", KeyboardInterrupt), None)


def test_worker_that_is_killed_from_outside_costs_no_task(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with Workers(1) as workers:
        waiting = workers.submit(Once(begun), ALONE)
        until(lambda: begun.exists())
        os.kill(workers.processes[0], signal.SIGKILL)
        assert waiting.result() == "done"


def test_unpicklable_task_fails_alone(one: Workers) -> None:
    unsendable = Raising("what", type("Local", (Exception,), {}))
    with pytest.raises(DiptychError, match="Raising cannot be sent to a worker process"):
        run(one, unsendable)
    assert isinstance(run(one, Secret())[0], Failed)
    assert run(one, Square(3))[0][0] == 9


def test_additional_worker_that_cannot_start_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Workers(2) as workers:
        run(workers, Slow())
        monkeypatch.setattr(sys, "executable", "/bin/false")
        assert len(run(workers, *[Slow()] * 30)) == 30
        assert (workers.count, len(workers.processes)) == (1, 1)


def test_closed_workers_accept_no_tasks() -> None:
    with Workers(1) as workers:
        run(workers, Square(1))
    with pytest.raises(RuntimeError, match="have ended"):
        workers.submit(Square(2), ALONE)


def test_worker_that_never_lets_others_run_ends_with_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("Hanging", "Stubborn"), "utf-8")
    process = started(script, tmp_path)
    until(lambda: list(tmp_path.glob("begun.*")))
    workers = [int(each.suffix[1:]) for each in tmp_path.glob("begun.*")]
    process.kill()
    process.communicate()
    until(lambda: not any(map(is_alive, workers)))


def test_worker_that_cannot_start_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Workers(1) as workers, pytest.raises(DiptychError, match="before it was ready"):
        run(workers, Square(1))


def test_worker_that_fails_before_its_first_task_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker imports more modules when it is ready; `orjson` is only among these.
    begun, module = tmp_path / "begun", "raise ImportError('not for this machine')\n"
    (tmp_path / "orjson.py").write_text(f"open({str(begun)!r}, 'w')\n{module}", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with Workers(1) as workers:
        workers.prepare()
        until(begun.exists)
        until(lambda: not workers.processes)
        for _ in range(2):
            with pytest.raises(DiptychError, match="process failed: ImportError: not for this mac"):
                run(workers, Square(1))


# -- how many there are ----------------------------------------------------------------------------


def test_little_work_needs_one_process(tmp_path: Path) -> None:
    with Workers(8) as workers:
        assert workers.processes == []
        run(workers, *map(Square, range(30)))
        assert len(workers.processes) == 1


def test_work_that_never_ends_needs_another_process() -> None:
    with Workers(2) as workers:

        async def few_at_a_time() -> None:
            while len(workers.processes) < 2:  # never more than four tasks wait
                await asyncio.gather(*(workers.call(Slow(), ALONE) for _ in range(4)))

        workers.run_in_loop(asyncio.wait_for(few_at_a_time(), PATIENCE))


def test_more_work_needs_more_processes_and_never_more_than_allowed(tmp_path: Path) -> None:
    with Workers(2) as workers:
        waiting = [workers.submit(Hanging(tmp_path / "begun"), ALONE) for _ in range(100)]
        until(lambda: len(list(tmp_path.glob("begun.*"))) == 2)
        assert len(workers.processes) == 2
        assert not any(each.done() for each in waiting)


def test_answers_leave_a_worker_free_for_pages(tmp_path: Path, pipe: Path) -> None:
    with Workers(2) as workers:
        run_twice = [workers.submit(Hanging(tmp_path / "warm"), ALONE) for _ in range(100)]
        until(lambda: len(workers.processes) == 2)
        for each in run_twice:
            each.cancel()
        for process in workers.processes:
            os.kill(process, signal.SIGKILL)
        until(lambda: not workers.processes)
        run(workers, Square(1))
        answers = [
            workers.submit(Hanging(tmp_path / "begun"), ALONE, is_answer=True) for _ in range(100)
        ]
        until(lambda: len(workers.processes) == 2)
        assert run(workers, Square(3))[0][0] == 9
        assert len(list(tmp_path.glob("begun.*"))) == 1
        assert not any(each.done() for each in answers)


# -- how they end ----------------------------------------------------------------------------------


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_closing_ends_busy_processes(tmp_path: Path) -> None:
    with Workers(1) as workers:
        results = workers.run_tasks(
            [Square(1), *[Hanging(tmp_path / "begun")] * 9], ALONE, tick=no_tick
        )
        assert next(results)[0] == 1
        until(lambda: list(tmp_path.glob("begun.*")))
        processes = workers.processes
        results.close()
    assert processes
    assert not any(map(is_alive, processes))


def test_pool_that_was_only_prepared_ends() -> None:
    before = set(threading.enumerate())
    with Workers(2) as workers:
        workers.prepare()
    assert workers.processes == []
    until(lambda: set(threading.enumerate()) <= before)


def test_exception_in_a_tick_ends_the_work(one: Workers) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(one.run_tasks([Hanging()], ALONE, tick=stop))


def test_workers_know_the_learned_languages() -> None:
    lines = strange.lines()
    use_learned_languages([train_language("qaa", pieces_of("\n".join(lines[:100]))).language])
    try:
        with Workers(1) as workers:
            assert run(workers, Identify(lines[100])) == ["qaa"]
    finally:
        use_learned_languages(())


SCRIPT = """
import signal
import sys
from pathlib import Path
from support.pooltasks import Hanging
from diptych.engine.workers import ALONE, Workers

# Not guarded, as scripts of users are not.
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run behind a &
folder = Path(sys.argv[1])
print("once", flush=True)
with Workers(2) as workers:
    tasks = [Hanging(folder / "begun")] * 200
    list(workers.run_tasks(tasks, ALONE, tick=lambda: None))
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_this_process(tmp_path: Path, sent: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, "utf-8")
    process = started(script, tmp_path)
    until(lambda: list(tmp_path.glob("begun.*")))

    def ended() -> bool:
        os.kill(process.pid, sent)  # again, as one does: Python may be where it ignores it
        return process.poll() is not None

    until(ended)
    workers = [int(each.suffix[1:]) for each in tmp_path.glob("begun.*")]
    until(lambda: not any(map(is_alive, workers)))
    assert process.communicate()[0] == "once\n"


def started(script: Path, folder: Path) -> subprocess.Popen[str]:
    """Run a script in its own process."""
    paths = [str(Path(__file__).parents[1]), str(Path(diptych.__file__).parent.parent)]
    return subprocess.Popen(
        [sys.executable, script, folder], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
