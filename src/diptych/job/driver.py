"""The driver of a job: gives tasks to an executor, tries failed ones again, and records the rest.

Tasks that the ledger records as finished are not run again.  Failed tasks are tried again after all
others, and again when the same command is run later.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from diptych.engine.job_tasks import Executor, JobTask, Outcome
from diptych.engine.worker import Failed
from diptych.errors import StoreError
from diptych.files import writing
from diptych.job.folder import JobFolder
from diptych.job.ledger import Entry, Ledger
from diptych.job.progress import JobMonitor
from diptych.job.running import read_running, remove_running

ATTEMPTS = 3
Task = TypeVar("Task", bound=JobTask)


def run_tasks(
    job: JobFolder, tasks: Sequence[JobTask], executor: Executor, monitor: JobMonitor, *,
    stage: str = "mining", unit: str = "sites", attempts: int = ATTEMPTS,
    ledger: Ledger | None = None,
) -> dict[str, Entry]:  # fmt: skip
    """Run all tasks that have not finished, each up to `attempts` times; return all entries.

    The entries are in the order of the tasks.  `ledger` takes the place of that of the job.
    """
    ledger = ledger or Ledger(job.ledger)
    monitor.begin_tasks(stage, unit, [task.name for task in tasks], job.running)
    entries: dict[str, Entry] = {}
    pending: list[JobTask] = []
    for task in tasks:
        entry = ledger.read(task.name)
        if entry is not None and entry.is_done and entry.signature == task.signature:
            entries[task.name] = entry
            monitor.end_task(entry)
        else:
            pending.append(task)
    for attempt in range(1, attempts + 1):
        failed: list[JobTask] = []
        for outcome in executor.run(_numbered(pending, attempt), tick=monitor.tick):
            entry = _entry(job, outcome, attempt)
            if entry.is_done or attempt == attempts:
                ledger.write(entry)
                entries[entry.name] = entry
                monitor.end_task(entry)
            else:
                failed.append(outcome.task)
            remove_running(job.running, entry.name)
            monitor.tick()
        pending = failed
    monitor.end_tasks()
    return {task.name: entries[task.name] for task in tasks}


def _numbered(tasks: Iterable[JobTask], attempt: int) -> Iterable[JobTask]:
    """The tasks with the number of the attempt."""
    return (replace(task, attempt=attempt) for task in tasks)  # type: ignore[type-var]


def _entry(job: JobFolder, outcome: Outcome, attempt: int) -> Entry:
    task, result = outcome
    log = job.logs / f"{task.name}.log"
    if isinstance(result, Failed):
        why = f"{result.kind}: {result.message}" if result.message else result.kind
        add_to_log(log, f"attempt {attempt} failed: {why}")
        note = read_running(job.running, [task.name]).get(task.name, {})
        return Entry(
            name=task.name, signature=task.signature, attempts=attempt,
            host=_text(note, "host"), error=result.kind, message=result.message,
        )  # fmt: skip
    seconds = result.get("seconds")
    return Entry(
        name=task.name, signature=task.signature, result=result, attempts=attempt,
        seconds=seconds if isinstance(seconds, float) else 0.0, host=_text(result, "host"),
    )  # fmt: skip


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def add_to_log(log: Path, line: str) -> None:
    """Append a line with the time to the log of a task."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with writing(log, error=StoreError), log.open("a", encoding="utf-8") as stream:
        stream.write(f"{stamp} {line}\n")
