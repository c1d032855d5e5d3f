"""The tasks of a job that mines sites: one task for each registrable domain.

All seeds of a domain are in one task, so no host is ever asked by two processes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diptych.api.tasks import (
    digest_of,
    finished,
    logged,
    task_monitor,
    wait_for_run,
    workers_of,
)
from diptych.api.web import Environment

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.types import Url


@dataclass(frozen=True, slots=True)
class SiteTask:
    """Mines the sites of one registrable domain into a run folder of the job."""

    name: str
    job: Path
    """folder of the job, which all machines share"""
    asked: MineOptions
    """options, with the seeds of the domain as sites"""
    environment: Environment = field(default_factory=Environment)
    attempt: int = 1

    @property
    def signature(self) -> str:
        """A digest of the options that change the result; with other limits, the run is continued.

        Options that are terms of the job are the same for all its tasks.
        """
        asked = self.asked
        return digest_of(asked.sites, asked.limits(), asked.keep_templates, asked.allow_private)

    def run(self) -> dict[str, Any]:
        """Mine the sites, and return the figures of the run."""
        return finished(self._run)

    def _run(self) -> dict[str, Any]:
        from diptych.api.mine import mine_sites
        from diptych.job.folder import JobFolder

        folder = JobFolder(self.job).runs / self.name
        asked = replace(self.asked, out=folder)
        environment = replace(self.environment, workers=workers_of(self.attempt))
        with task_monitor(self.job, self.name, self.attempt) as monitor:
            wait_for_run(folder, monitor)
            mined = mine_sites(asked, monitor, environment, keep_empty=True)
            return logged(self.job, self.name, mined)


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
