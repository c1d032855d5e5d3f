"""The plan that all tasks of a job on archives share, with digests and the monitor of a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, Any

from diptych.api.web import Environment
from diptych.errors import StoreError

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.reports.progress import Monitor, Progress
    from diptych.types import LangPair

_NOTE_SECONDS = 2.0  # between two reports of the figures of a running task


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """The options and folders that all tasks of a job on archives use."""

    job: Path
    """folder of the job, which all machines share"""
    asked: MineOptions
    """options, with absolute paths"""
    seeds: tuple[str, ...]
    """sites to which the job is limited, if any"""
    partitions: int
    """number of partitions"""

    @property
    def pages(self) -> Path:
        """Folder of the parsed pages."""
        return self.job / "pages"

    @property
    def warc(self) -> Path:
        """Folder of the records copied from remote archives."""
        return self.job / "warc"

    @property
    def words(self) -> Path:
        """Folder of the samples and of the lexicons."""
        return self.job / "words"

    def lexicon(self, langs: LangPair) -> Path:
        """The file of the lexicon for a language pair; it is empty if nothing could be learned."""
        return self.words / f"{'-'.join(langs)}.lexicon"

    @property
    def digest(self) -> str:
        """A digest of everything that determines the results."""
        asked = self.asked
        own = (asked.langs, asked.recipe(), asked.lexicon, asked.langid, asked.scope, asked.also)
        limits = (asked.limits(), asked.keep_templates)
        return digest_of(own, limits, self.seeds, self.partitions)


def digest_of(*values: object) -> str:
    """A digest of values that have the same text in every process.

    >>> digest_of("a", 1) == digest_of("a", 1) != digest_of("a", 2)
    True
    """
    return blake2b(repr(values).encode(), digest_size=8).hexdigest()


def environment_of(attempt: int) -> Environment:
    """The first attempt starts no process; later, a page that crashes a process costs only itself.

    >>> environment_of(1).workers, environment_of(2).workers
    (0, 1)
    """
    return Environment(workers=0 if attempt == 1 else 1)


@contextmanager
def task_monitor(folder: Path, name: str, attempt: int) -> Iterator[Monitor]:
    """Yield a monitor that writes the stages of a task to its log, and its figures for the driver.

    Raises `StoreError` if this machine does not see the job.
    """
    from diptych.engine.job_tasks import tick_of_task
    from diptych.job.driver import add_to_log
    from diptych.job.folder import JobFolder, is_job
    from diptych.job.running import FIGURES, write_running
    from diptych.reports.progress import Monitor

    if not is_job(folder):
        raise StoreError(
            f"{node()} sees no job in {folder}; the folder must be on a disk that all machines"
            " share"
        )
    job, noted_at = JobFolder(folder), float("-inf")
    log = job.logs / f"{name}.log"
    add_to_log(log, f"attempt {attempt} on {node()}")

    def note(progress: Progress) -> None:
        nonlocal noted_at
        if progress.seconds - noted_at >= _NOTE_SECONDS:
            noted_at = progress.seconds
            figures = {each: getattr(progress, each) for each in FIGURES}
            write_running(job.running, name, {**figures, "stage": progress.stage, "host": node()})

    yield Monitor(report=note, on_tick=tick_of_task, on_stage=lambda stage: add_to_log(log, stage))
    add_to_log(log, "finished")


def finished(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of a task, with its duration and its machine.

    The work has its own context, because it may load languages that the user has trained.
    """
    started = time.monotonic()
    result = copy_context().run(work)
    return {**result, "host": node(), "seconds": round(time.monotonic() - started, 3)}
