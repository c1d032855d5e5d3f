"""Executors run the same tasks with the same outcomes, wherever they run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.jobtasks import Count, Ticking, Unlucky, ran

from diptych.engine.executors import executor_of
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed
from diptych.errors import ConfigError, StoppedError


def outcomes(name: str, tasks: list[Any], logs: Path, limits: TaskLimits) -> dict[str, Any]:
    with executor_of(name, logs=logs, limits=limits) as executor:
        return {task.name: result for task, result in executor.run(tasks, tick=lambda: None)}


def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("logs", "notes"):
        (tmp_path / name).mkdir()
    return tmp_path / "logs", tmp_path / "notes"


@pytest.mark.parametrize("name", ["here", "pool:2"])
def test_each_task_has_one_outcome(name: str, tmp_path: Path) -> None:
    logs, notes = folders(tmp_path)
    tasks = [Count(f"t{number}", number, notes) for number in range(9)]
    found = outcomes(name, [*tasks, Unlucky("bad", "raise", 1)], logs, TaskLimits(60, None))
    assert found.pop("bad") == Failed("OSError", "the disk is full")
    assert {name: result["pages"] for name, result in found.items()} == {
        f"t{number}": number for number in range(9)
    }
    assert ran(notes) == {f"t{number}": [1] for number in range(9)}
    is_here = {result["pid"] == os.getpid() for result in found.values()}
    assert is_here == {name == "here"}
    log = (logs / "bad.log").read_text()
    assert "Traceback" in log
    assert "the disk is full" in log


@pytest.mark.slow
def test_a_task_that_ends_its_process_is_tried_once_and_others_go_on(tmp_path: Path) -> None:
    logs, notes = folders(tmp_path)
    tasks = [
        Unlucky("killed", "kill", 1), Count("a", 1, notes), Unlucky("crashed", "crash", 1),
        Count("b", 2, notes), Unlucky("late", "hang", 1), Count("c", 3, notes),
    ]  # fmt: skip
    found = outcomes("pool:2", tasks, logs, TaskLimits(30.0, None))
    assert found.pop("killed") == Failed("ProcessEnded")
    assert found.pop("crashed") == Failed("ProcessEnded")
    assert found.pop("late") == Failed("TimeoutError")
    assert {name: result["pages"] for name, result in found.items()} == {"a": 1, "b": 2, "c": 3}
    assert "Aborted" in (logs / "crashed.log").read_text()  # the trace of the crash


def test_a_task_in_this_process_can_be_stopped_by_the_driver(tmp_path: Path) -> None:
    logs, notes = folders(tmp_path)
    tasks = [Count("a", 1, notes), Count("b", 1, notes)]
    ticks = iter([None])

    def stop() -> None:
        if next(ticks, "stop") == "stop":
            raise StoppedError("Stopped.")

    with executor_of("here", logs=logs) as executor, pytest.raises(StoppedError):
        list(executor.run(tasks, tick=stop))
    assert ran(notes) == {"a": [1]}


def test_a_task_in_this_process_that_takes_too_long_is_stopped_at_a_tick(tmp_path: Path) -> None:
    logs, notes = folders(tmp_path)
    tasks = [Ticking("late"), Count("a", 1, notes)]
    found = outcomes("here", tasks, logs, TaskLimits(1e-9, None))
    assert found["late"] == Failed("TimeoutError")
    assert found["a"]["pages"] == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cloud", "'cloud' is unknown; use here, pool:N, local:N, tcp://HOST:PORT or FILE.toml"),
        ("pool:0", "a number of processes from 1 to 1024, such as pool:4"),
        ("local:many", "a number of processes from 1 to 1024, such as local:4"),
    ],
)
def test_an_unknown_place_is_refused(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        executor_of(name, logs=tmp_path)
