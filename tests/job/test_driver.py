"""The driver tries failed tasks again, records the rest, and never runs finished tasks again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.jobtasks import Count, Unlucky, ran

from diptych.engine.executors import executor_of
from diptych.errors import StoppedError
from diptych.job.driver import run_tasks
from diptych.job.folder import JobFolder, JobTerms, opened_job
from diptych.job.ledger import Entry, Ledger
from diptych.job.progress import JobMonitor
from diptych.reports.progress import Progress

TERMS = JobTerms("sites", ("en", "fr"), (), {"scope": "site"})


def run(folder: Path, tasks: list, monitor: JobMonitor | None = None) -> dict[str, Entry]:
    with opened_job(folder, TERMS) as job, executor_of("here", logs=job.logs) as executor:
        return run_tasks(job, tasks, executor, monitor or JobMonitor())


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def test_finished_tasks_are_not_run_again(tmp_path: Path, notes: Path) -> None:
    tasks = [Count("b", 2, notes), Count("a", 1, notes)]
    first = run(tmp_path / "job", tasks)
    assert list(first) == ["b", "a"]  # in the order of the tasks
    assert first["a"] == replace(first["a"], attempts=1, host="h", seconds=0.5, error="")
    assert run(tmp_path / "job", tasks) == first
    assert ran(notes) == {"a": [1], "b": [1]}


def test_a_task_that_has_changed_runs_again(tmp_path: Path, notes: Path) -> None:
    task = Count("a", 1, notes)
    run(tmp_path / "job", [task])
    found = run(tmp_path / "job", [replace(task, signature="other", pages=5)])
    assert found["a"].result["pages"] == 5
    assert ran(notes) == {"a": [1, 1]}


def test_a_damaged_entry_makes_its_task_run_again(tmp_path: Path, notes: Path) -> None:
    run(tmp_path / "job", [Count("a", 1, notes), Count("b", 1, notes)])
    (tmp_path / "job" / "ledger" / "a.json").write_bytes(b'{"name"')
    run(tmp_path / "job", [Count("a", 1, notes), Count("b", 1, notes)])
    assert ran(notes) == {"a": [1, 1], "b": [1]}


def test_a_task_is_tried_three_times_after_all_others(tmp_path: Path, notes: Path) -> None:
    tasks = [Unlucky("twice", "raise", 2), Unlucky("ever", "raise", 9), Count("a", 1, notes)]
    found = run(tmp_path / "job", tasks)
    assert (found["twice"].attempts, dict(found["twice"].result)) == (3, {"pages": 3})
    assert found["ever"].reason == "OSError: the disk is full"
    assert (found["ever"].attempts, found["ever"].is_done) == (3, False)
    log = (tmp_path / "job" / "logs" / "ever.log").read_text()
    assert [number for number in range(1, 5) if f"attempt {number} failed: OSError" in log] == [
        1, 2, 3,
    ]  # fmt: skip
    entries = Ledger(tmp_path / "job" / "ledger").entries()
    assert [(entry.name, entry.is_done) for entry in entries] == [
        ("a", True), ("ever", False), ("twice", True),
    ]  # fmt: skip


def test_the_same_command_tries_failed_tasks_again(tmp_path: Path) -> None:
    run(tmp_path / "job", [Unlucky("a", "raise", 9)])
    found = run(tmp_path / "job", [Unlucky("a", "raise", 0)])
    assert found["a"].is_done
    assert [entry.is_done for entry in Ledger(tmp_path / "job" / "ledger").entries()] == [True]


def test_a_stopped_job_goes_on_where_it_was(tmp_path: Path, notes: Path) -> None:
    tasks = [Count(name, 1, notes) for name in "abc"]
    monitor = JobMonitor()

    def stop_after_two() -> None:
        if len(ran(notes)) == 2:
            monitor.cancel()

    monitor.on_tick = stop_after_two
    with pytest.raises(StoppedError):
        run(tmp_path / "job", tasks, monitor)
    assert sorted(ran(notes)) == ["a", "b"]
    run(tmp_path / "job", tasks)
    assert ran(notes) == {"a": [1], "b": [1], "c": [1]}


def test_progress_counts_sites_and_adds_up_their_figures(tmp_path: Path, notes: Path) -> None:
    run(tmp_path / "job", [Count("a", 10, notes)])
    seen: list[Progress] = []
    monitor = JobMonitor(report=seen.append, clock=iter(range(0, 9999, 2)).__next__)
    tasks = [Count("a", 10, notes), Count("b", 5, notes), Unlucky("x", "raise", 9)]
    run(tmp_path / "job", tasks, monitor)
    assert (seen[0].done, seen[0].total, seen[0].unit) == (0, 3, "sites")
    last = seen[-1]
    assert (last.done, last.pages, last.failed, last.running) == (3, 15, 1, 0)


def test_running_tasks_are_counted_from_their_files(tmp_path: Path) -> None:
    from diptych.job.running import write_running

    job = JobFolder(tmp_path)
    job.running.mkdir()
    monitor = JobMonitor()
    monitor.begin_tasks("mining", "sites", ["a", "b"], job.running)
    write_running(job.running, "a", {"pages": 7, "pairs": 2, "downloads": 8, "segments": -3})
    write_running(job.running, "other", {"pages": 7})
    monitor.clock = lambda: 1e9
    now = monitor.snapshot()
    assert (now.running, now.pages, now.pairs, now.segments) == (1, 7, 2, 0)
    assert now.downloads_per_pair == 4


def test_a_task_that_has_finished_is_not_counted_twice(tmp_path: Path) -> None:
    from diptych.job.running import write_running

    job = JobFolder(tmp_path)
    job.running.mkdir()
    monitor = JobMonitor(clock=lambda: 0.0)
    monitor.begin_tasks("mining", "sites", ["a", "b"], job.running)
    write_running(job.running, "a", {"pages": 7})
    write_running(job.running, "b", {"pages": 1})
    monitor.end_tasks()
    assert monitor.snapshot().pages == 8
    monitor.end_task(Entry(name="a", result={"pages": 9}))
    assert (monitor.snapshot().pages, monitor.snapshot().running) == (10, 1)
