"""Tasks on a Dask cluster: lost workers, a lost scheduler, job queues, and mistakes.

Dask runs in processes of its own, because it leaves threads and sockets behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.jobtasks import Count

import diptych
from diptych.engine.dask_cluster import DaskExecutor, read_job_queue
from diptych.engine.dask_worker import run_apart
from diptych.engine.executors import UNLIMITED
from diptych.engine.worker import Failed
from diptych.errors import ConfigError

PROGRAM = """
import json, sys
from pathlib import Path
from diptych.engine.executors import executor_of
from diptych.engine.limits import TaskLimits
from diptych.engine.worker import Failed
from support.jobtasks import Count, Unlucky
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    tasks = [
        Count("a", 1, folder / "notes"), Unlucky("killed", "kill", 1),
        Unlucky("raised", "raise", 1), Unlucky("late", "hang", 1), Count("b", 2, folder / "notes"),
    ]
    limits = TaskLimits(30.0, None)
    with executor_of(sys.argv[2], logs=folder / "logs", limits=limits) as executor:
        for task, result in executor.run(tasks, tick=lambda: None):
            said = list(result) if isinstance(result, Failed) else result["pages"]
            print(json.dumps([task.name, said]), flush=True)
"""


LOST = """
import json, os, signal, sys, time
from pathlib import Path
from diptych.engine import dask_cluster
from diptych.engine.executors import executor_of
from diptych.engine.limits import TaskLimits
from support.jobtasks import Held
if __name__ == "__main__":
    folder, ticks, killed = Path(sys.argv[1]), [], []
    dask_cluster._RESULT_SECONDS = 0.5
    def tick():
        ticks.append(1)
        if killed and len(ticks) > killed[0] + 5:
            (folder / "go").touch()  # only now, so that the result comes after the first try
    tasks = [Held("a", folder), Held("b", folder)]
    with executor_of("local:2", logs=folder / "logs", limits=TaskLimits(60.0, None)) as executor:
        for task, result in executor.run(tasks, tick=tick):
            print(json.dumps([["first", "lost"][len(killed)], result["run"]]), flush=True)
            if not killed:
                (other,) = {"a", "b"} - {task.name}
                while not all(each.status == "finished" for each in executor._futures.values()):
                    time.sleep(0.05)
                killed.append(len(ticks))
                os.kill(int((folder / f"{other}.worker").read_text()), signal.SIGKILL)
"""


def outcomes(folder: Path, where: str, program: str = PROGRAM) -> dict[str, object]:
    for name in ("logs", "notes"):
        (folder / name).mkdir()
    (folder / "program.py").write_text(program, "utf-8")
    paths = [str(Path(diptych.__file__).parent.parent), str(Path(__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, folder / "program.py", folder, where], cwd=folder, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


EXPECTED = {
    "a": 1, "b": 2, "killed": ["ProcessEnded", ""], "late": ["TimeoutError", ""],
    "raised": ["OSError", "the disk is full"],
}  # fmt: skip


@pytest.mark.slow
def test_a_local_cluster_contains_the_faults_of_tasks(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "local:2") == EXPECTED
    assert "the disk is full" in (tmp_path / "logs" / "raised.log").read_text()


@pytest.mark.slow
def test_a_result_that_is_lost_with_its_worker_is_computed_again(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "local:2", LOST) == {"first": 1, "lost": 2}


class Losing:
    """A scheduler, its client and its futures at once, whose results never arrive."""

    status = "running"

    def connect(self) -> Losing:
        return self

    def submit(self, *_: object, key: str, **__: object) -> Losing:
        self.key = key
        return self

    def done(self) -> bool:
        return True

    def cancelled(self) -> bool:
        return False

    def exception(self, timeout: float) -> None:
        raise TimeoutError

    def release(self) -> None: ...

    def close(self, timeout: float = 0) -> None: ...


def test_a_result_that_never_arrives_fails_its_attempt(tmp_path: Path) -> None:
    with DaskExecutor(Losing(), tmp_path, UNLIMITED) as executor:
        [(task, found)] = executor.run([Count("a", 1, tmp_path)], tick=lambda: None)
    assert task.name == "a"
    assert isinstance(found, Failed)
    assert found.kind == "ResultLost"
    assert "run the same command again" in found.message


@pytest.mark.slow
def test_a_job_queue_runs_the_workers(tmp_path: Path) -> None:
    queue = tmp_path / "queue.toml"
    queue.write_text(
        'cluster = "LocalCluster"\njobs = 1\n[options]\ncores = 1\nprocesses = 1\n'
        f'memory = "1GB"\nlocal_directory = "{tmp_path}"\n',
        "utf-8",
    )
    assert outcomes(tmp_path, str(queue)) == EXPECTED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('cluster = "SlurmCluster"', "cluster must be one of .*SLURMCluster"),
        (
            'cluster = "SLURMCluster"\nqueue = "x"',
            "the unknown key 'queue'; keys are cluster, jobs",
        ),
        ('cluster = "SLURMCluster"\njobs = "2"', "jobs must be a whole number"),
        ('cluster = "SLURMCluster"\nminimum_jobs = -1', "minimum_jobs must be a whole number"),
        ('cluster = "SLURMCluster"\noptions = 3', r"\[options\] must be a table"),
        ("cluster = ", "is not a description of a job queue"),
    ],
)
def test_a_wrong_description_of_a_queue_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "queue.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=said):
        read_job_queue(tmp_path / "queue.toml")


def test_a_description_of_a_queue_is_read(tmp_path: Path) -> None:
    (tmp_path / "queue.toml").write_text(
        'cluster = "SLURMCluster"\njobs = 10\nminimum_jobs = 2\n'
        '[options]\nqueue = "x"\ncores = 4\n',
        "utf-8",
    )
    found = read_job_queue(tmp_path / "queue.toml")
    assert (found.kind, found.jobs, found.minimum_jobs) == ("SLURMCluster", 10, 2)
    assert found.options == {"queue": "x", "cores": 4}


def test_a_job_queue_leaves_ctrl_c_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "queue.toml"
    file.write_text('cluster = "SLURMCluster"', "utf-8")
    code = (
        "import signal, sys, pathlib, diptych.engine.dask_cluster as dask\n"
        "dask.read_job_queue(pathlib.Path(sys.argv[1]))\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)


def test_a_worker_that_does_not_fit_the_driver_says_so(tmp_path: Path) -> None:
    task = Count("a", 1, tmp_path)
    other = run_apart("0.0.0", task, str(tmp_path), UNLIMITED)
    assert isinstance(other, Failed)
    assert (other.kind, "install the same version" in other.message) == ("VersionMismatch", True)
    blind = run_apart(diptych.__version__, task, str(tmp_path / "elsewhere"), UNLIMITED)
    assert isinstance(blind, Failed)
    assert (blind.kind, "all machines share" in blind.message) == ("NotShared", True)
