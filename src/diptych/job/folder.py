"""The folder of a job: `job.toml`, the names of its parts, and the lock of its driver.

JOB/job.toml    terms of the job
JOB/ledger/     a file for each task that has finished or failed
JOB/running/    a file for each task that is running, with its figures
JOB/runs/NAME/  run folders
JOB/logs/       a log for each task
JOB/update/     while an update goes on, a file for each run that it has updated
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import tomli_w

from diptych._version import VERSION
from diptych.errors import StoreError, in_one_line, option_name
from diptych.files import (
    open_without_links,
    read_file,
    reading,
    refuse_links,
    replace_file,
    writing,
)
from diptych.frontier.scope import SCOPES

FORMAT = 1
SITES, ARCHIVES = KINDS = ("sites", "archives")
"""kinds of jobs"""
MAX_PARTITIONS = 4096
_FILE = "job.toml"
_LOCK = "job.lock"
_LISTS = ("also", "lexicons", "taught", "sites")  # settings that are lists of texts
_MAX_BYTES = 1 << 28  # of job.toml, which lists all inputs
_MAX_NAME = 80  # characters of a task name
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class JobTerms:
    """The terms of a job: everything that determines its corpus."""

    kind: str
    """one of `KINDS`"""
    langs: tuple[str, ...]
    inputs: tuple[str, ...]
    """sites or archives"""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """other terms, as values that TOML can hold"""

    def to_toml(self) -> dict[str, Any]:
        """The content of `job.toml`."""
        return {
            "format": FORMAT, "diptych": VERSION, "kind": self.kind, "langs": list(self.langs),
            "inputs": list(self.inputs), "settings": dict(self.settings),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The paths of a job."""

    path: Path

    @property
    def ledger(self) -> Path:
        """Folder of the ledger."""
        return self.path / "ledger"

    @property
    def running(self) -> Path:
        """Folder for the figures of running tasks."""
        return self.path / "running"

    @property
    def runs(self) -> Path:
        """Folder of the run folders."""
        return self.path / "runs"

    @property
    def update(self) -> Path:
        """Folder of the ledger of an update that is not finished."""
        return self.path / "update"

    @property
    def logs(self) -> Path:
        """Folder of the logs."""
        return self.path / "logs"


def is_job(folder: Path) -> bool:
    """True if a folder holds a job."""
    return (folder / _FILE).is_file()


def job_of_run(run: Path) -> JobFolder | None:
    """The job to which a run folder belongs, if any."""
    folder = run.resolve()
    job = JobFolder(folder.parent.parent)
    return job if folder.parent == job.runs and is_job(job.path) else None


def read_job(folder: Path) -> JobTerms:
    """Read the terms of a job."""
    path = folder / _FILE
    if not path.is_file():
        raise StoreError(f"{folder} holds no job (no {_FILE})")
    with reading(path, "readable description of a job", error=StoreError):
        raw = tomllib.loads(read_file(path, _MAX_BYTES, error=StoreError).decode("utf-8"))
        if raw["format"] != FORMAT:
            raise ValueError(f"it has format {raw['format']}, not {FORMAT}")
        return _checked(raw)


def _checked(raw: Mapping[str, Any]) -> JobTerms:
    """The terms that `job.toml` holds; raises `ValueError` if a value cannot be one of ours."""
    kind, settings = raw["kind"], raw["settings"]
    _require(kind in KINDS, f"kind is not one of {', '.join(KINDS)}")
    _require(isinstance(settings, dict), "settings is not a table")
    lists = {"langs": raw["langs"], "inputs": raw["inputs"]}
    lists |= {name: settings.get(name, []) for name in _LISTS}
    for name, value in lists.items():
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        _require(is_list, f"{name} is not a list of texts")
    _require(settings["scope"] in SCOPES, f"scope is not one of {', '.join(SCOPES)}")
    count = settings["partitions"] if kind == ARCHIVES else 1
    is_count = type(count) is int and 1 <= count <= MAX_PARTITIONS
    _require(is_count, f"partitions is not a number from 1 to {MAX_PARTITIONS}")
    return JobTerms(kind, tuple(raw["langs"]), tuple(raw["inputs"]), dict(settings))


def _require(is_so: bool, problem: str) -> None:
    if not is_so:
        raise ValueError(problem)


@contextmanager
def opened_job(folder: Path, terms: JobTerms) -> Iterator[JobFolder]:
    """Start a job in a folder, or continue it if it has the same terms.

    Only one driver at a time can have a job open; others raise `StoreError`.
    """
    job = JobFolder(folder.resolve())
    advice = f"choose another folder with {option_name('out')}"
    with writing(folder, advice, error=StoreError):
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(each.name for each in folder.iterdir() if not _is_ours(each.name))
    if others and not is_job(folder):
        raise StoreError(f"{folder} holds other files ({others[0]}) but no job; {advice}")
    with locked(folder / _LOCK, f"{folder} is in use by another driver; wait until it finishes"):
        refuse_links(folder, error=StoreError)
        known = read_job(folder) if is_job(folder) else None
        if known and (difference := _difference(known, terms)):
            raise StoreError(f"{folder} holds a job that {difference}; {advice}")
        if known is None:
            data = tomli_w.dumps(terms.to_toml()).encode()
            replace_file(folder / _FILE, data, error=StoreError)
        with writing(folder, advice, error=StoreError):
            for part in (job.ledger, job.running, job.runs, job.logs):
                part.mkdir(exist_ok=True)
        yield job


def _is_ours(name: str) -> bool:
    """True if a driver that is killed before it writes `job.toml` may leave a file of this name."""
    return name == _LOCK or name.endswith(".part")


@contextmanager
def locked(path: Path, message: str) -> Iterator[None]:
    """Hold a lock file; raise `StoreError` with a message if another process holds it."""
    with _opened(path) as stream:
        if not _take(stream.fileno()):
            raise StoreError(message)
        yield


def _opened(path: Path) -> BinaryIO:
    with writing(path, error=StoreError):
        return open(path, "a+b", buffering=0, opener=open_without_links)


def is_locked(path: Path) -> bool:
    """True if another process holds a lock file."""
    if not path.exists():
        return False
    with _opened(path) as stream:
        return not _take(stream.fileno())


def _take(file: int) -> bool:
    try:
        import fcntl
    except ImportError:  # no advisory locks on this system
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def task_names(texts: Sequence[str]) -> list[str]:
    """Safe file names for the tasks of a job, such as domains; unique, also if case is ignored.

    >>> task_names(["Example.org", "127.0.0.1:8000", "b\u00fccher.example", "b_cher.example"])
    ['example.org', '127.0.0.1_8000', 'b_cher.example', 'b_cher.example-da67559a']
    """
    names: dict[str, None] = {}
    for text in texts:
        name = re.sub(r"[^a-z0-9.-]", "_", text.lower())[:_MAX_NAME].strip(".") or "_"
        if name in names or len(text) > _MAX_NAME:
            name = f"{name}-{blake2b(text.encode(), digest_size=4).hexdigest()}"
        names[name] = None
    return list(names)


def _difference(old: JobTerms, new: JobTerms) -> str:
    """Describe how the terms of a job differ from the requested terms; empty if they do not.

    >>> old = JobTerms("sites", ("en", "fr"), ("http://a.org/",))
    >>> _difference(old, JobTerms("sites", ("en", "de"), ("http://a.org/",)))
    'has langs=en, fr; you requested langs=en, de'
    """
    was, now = ({"kind": each.kind, "langs": each.langs, "inputs": each.inputs, **each.settings}
                for each in (old, new))  # fmt: skip
    for name in (*was, *(name for name in now if name not in was)):
        if _plain(was.get(name)) != _plain(now.get(name)):
            first, second = _others_first(was.get(name), now.get(name))
            return f"has {name}={first}; you requested {name}={second}"
    return ""


def _plain(value: Any) -> Any:
    """A value as TOML returns it."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def _others_first(was: Any, now: Any) -> tuple[str, str]:
    """Two values as text; of long lists, the items that differ come first."""
    if not isinstance(was, list | tuple) or not isinstance(now, list | tuple):
        return in_one_line(was), in_one_line(now)
    return _some(was, now), _some(now, was)


def _some(values: Sequence[Any], others: Sequence[Any]) -> str:
    known = frozenset(map(str, others))
    texts = sorted(map(str, values), key=known.__contains__) if len(values) > _SHOWN else values
    rest = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return (", ".join(map(in_one_line, texts[:_SHOWN])) or "none") + rest
