"""The tasks of a job that mines sites: one task for each registrable domain.

All seeds of a domain are in one task, so no host is ever asked by two processes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.tasks import RunTask, digest_of

if TYPE_CHECKING:
    from diptych.api.mine import Mined, MineOptions
    from diptych.api.web import Environment
    from diptych.reports.progress import Monitor
    from diptych.types import Url


class SiteTask(RunTask["MineOptions"]):
    """Mines the sites of one registrable domain, which are those of its options."""

    __slots__ = ()

    @property
    def signature(self) -> str:
        """A digest of the options that change the result; with other limits, the run is continued.

        Options that are terms of the job are the same for all its tasks.
        """
        asked = self.asked
        return digest_of(asked.sites, asked.limits(), asked.keep_templates, asked.allow_private)

    def _mine(self, folder: Path, monitor: Monitor, environment: Environment) -> Mined:
        from diptych.api.mine import mine_sites

        return mine_sites(replace(self.asked, out=folder), monitor, environment, keep_empty=True)


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
