"""The tasks of a job that mines sites: one task for each registrable domain.

All seeds of a domain are in one task, so no host is ever asked by two processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, Any

from diptych.api.web import Environment
from diptych.errors import StoreError, for_command_line

if TYPE_CHECKING:
    from diptych.api.mine import Mined, MineOptions
    from diptych.job.folder import JobFolder
    from diptych.reports.progress import Monitor, Progress
    from diptych.types import Url

_NOTE_SECONDS = 2.0  # between two reports of the figures of a running task
_LOCK_SECONDS = 600.0  # to wait for another process that still mines into the run folder
_NAP_SECONDS = 0.2
_MAX_NOTES = 20  # notes kept in the ledger; all are in the log


@dataclass(frozen=True, slots=True)
class SiteTask:
    """Mines the sites of one registrable domain into a run folder of the job."""

    name: str
    job: Path
    """folder of the job, which all machines share"""
    asked: MineOptions
    """options, with the seeds of the domain as sites"""
    environment: Environment = field(default_factory=lambda: Environment(workers=0))
    attempt: int = 1

    @property
    def signature(self) -> str:
        """A digest of the options, such as limits; with other limits, the run is continued."""
        asked = replace(self.asked, out=None, jobs=None, profile=False, proxy=None, user_agent=None)
        return blake2b(repr(asked).encode(), digest_size=8).hexdigest()

    def run(self) -> dict[str, Any]:
        """Mine the sites, and return the figures of the run."""
        from diptych.engine.job_tasks import tick_of_task
        from diptych.job.driver import add_to_log
        from diptych.job.folder import JobFolder, is_job
        from diptych.job.running import write_running
        from diptych.reports.progress import Monitor

        host = node()
        if not is_job(self.job):
            raise StoreError(
                f"{host} sees no job in {self.job}; the folder must be on a disk that all"
                " machines share"
            )
        job, started = JobFolder(self.job), time.monotonic()
        log, noted_at = job.logs / f"{self.name}.log", float("-inf")
        add_to_log(log, f"attempt {self.attempt} on {host}")

        def note(progress: Progress) -> None:
            nonlocal noted_at
            if progress.seconds - noted_at >= _NOTE_SECONDS:
                noted_at = progress.seconds
                write_running(job.running, self.name, {**_figures(progress), "host": host})

        monitor = Monitor(
            report=note, on_tick=tick_of_task, on_stage=lambda stage: add_to_log(log, stage)
        )
        self._wait_for_run(job.runs / self.name, tick_of_task)
        mined = copy_context().run(self._mine, job, monitor)
        for text in mined.notes:
            add_to_log(log, for_command_line(text))
        result = result_of(mined)
        add_to_log(log, f"finished: {result['pages']} pages, {result['segments']} segments")
        return {**result, "host": host, "seconds": round(time.monotonic() - started, 3)}

    def _mine(self, job: JobFolder, monitor: Monitor) -> Mined:
        """Mine in this process; after a failure, a page that crashes its process costs only itself.

        The first attempt starts no process, because most sites need none.
        """
        from diptych.api.mine import mine_sites

        asked = replace(self.asked, out=job.runs / self.name)
        environment = self.environment
        if self.attempt > 1:
            environment = replace(environment, workers=1)
        return mine_sites(asked, monitor, environment, keep_empty=True)

    def _wait_for_run(self, folder: Path, tick: Callable[[], None]) -> None:
        """Wait while another process mines into the folder, such as one whose driver was killed."""
        from diptych.job.folder import is_locked

        deadline = time.monotonic() + _LOCK_SECONDS
        while is_locked(folder / "run.lock") and time.monotonic() < deadline:
            tick()
            time.sleep(_NAP_SECONDS)


def _figures(progress: Progress) -> dict[str, Any]:
    return {
        "stage": progress.stage, "pages": progress.pages, "downloads": progress.downloads,
        "pairs": progress.pairs, "segments": progress.segments,
    }  # fmt: skip


def result_of(mined: Mined) -> dict[str, Any]:
    """The figures of a run as plain values."""
    summary = mined.summary
    return {
        "pages": summary.pages, "downloads": summary.downloads, "pairs": summary.pairs,
        "segments": summary.segments, "queued": summary.queued,
        "ends": sorted({end.value for _, end in summary.ends}),
        "notes": [for_command_line(note) for note in mined.notes[:_MAX_NOTES]],
        "damaged": list(mined.damaged[:_MAX_NOTES]),
    }  # fmt: skip


def site_tasks(
    job: Path, sites: Iterable[Url], asked: MineOptions, environment: Environment
) -> list[SiteTask]:
    """Group sites by registrable domain, and make a task for each domain."""
    from diptych.job.folder import task_names
    from diptych.text.urls import site_name

    seeds: dict[str, list[str]] = {}
    for site in sites:
        seeds.setdefault(site_name(site), []).append(site)
    names = task_names(list(seeds))
    return [
        SiteTask(name, job, replace(asked, sites=tuple(dict.fromkeys(urls))), environment)
        for name, urls in zip(names, seeds.values(), strict=True)
    ]
