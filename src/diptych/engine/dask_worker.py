"""The side of a Dask worker: each of its threads runs tasks in a child process with limits."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diptych._version import VERSION
from diptych.engine.job_tasks import Contained, JobTask
from diptych.engine.jobs import ALONE
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed
from diptych.engine.workers import Workers

_OF_THREAD = threading.local()


def run_apart(
    version: str, task: JobTask, logs: str, limits: TaskLimits
) -> Mapping[str, Any] | Failed:
    """Run a task in a child process of this worker; the child ends when the worker ends.

    `version` is that of the driver, and `logs` the folder for logs, which all machines share.
    """
    from socket import gethostname

    if version != VERSION:
        said = f"the driver has Diptych {version}, the worker on {gethostname()} has {VERSION}"
        return Failed("VersionMismatch", f"{said}; install the same version")
    if not Path(logs).is_dir():
        said = f"{gethostname()} has no folder {logs}"
        return Failed("NotShared", f"{said}; the job must be on a disk that all machines share")
    pool: Workers | None = getattr(_OF_THREAD, "pool", None)
    if pool is None:
        pool = _OF_THREAD.pool = Workers(1)
    log = str(Path(logs) / f"{task.name}.log")
    return pool.submit(Contained(task, log), ALONE, limits=limits, once=True).result()
