"""The standing of a job: how many of its sites are finished, running, failed or waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diptych.job.folder import JobTerms
    from diptych.job.ledger import Entry

_SHOWN = 20  # failed sites in the text


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a job at one moment."""

    sites: int
    entries: tuple[Entry, ...]
    running: dict[str, dict[str, Any]] = field(default_factory=dict)
    """figures of the sites that are being mined"""
    unit: str = "sites"
    """what the tasks mine; of archives, partitions of their sites"""
    updated: int | None = None
    """while an update goes on or was interrupted, the number of runs that it has updated"""

    @property
    def failed(self) -> tuple[Entry, ...]:
        """The sites that have failed."""
        return tuple(entry for entry in self.entries if not entry.is_done)

    @property
    def done(self) -> int:
        """The number of finished sites."""
        return len(self.entries) - len(self.failed)

    @property
    def unfinished(self) -> int:
        """The number of sites that are not finished, including those that have failed."""
        return self.sites - self.done

    def figures(self) -> Counter[str]:
        """The figures of all finished and running sites, added up."""
        from diptych.job.running import FIGURES, count_of

        counts: Counter[str] = Counter()
        for each in (*(entry.result for entry in self.entries), *self.running.values()):
            counts.update({name: count_of(each, name) for name in FIGURES})
        return counts

    def lines(self) -> Iterator[str]:
        """The standing as lines of text."""
        waiting = self.sites - len(self.entries) - len(self.running)
        figures = self.figures()
        yield (
            f"{self.unit}: {self.done:,} of {self.sites:,} finished, {len(self.running):,} running,"
            f" {len(self.failed):,} failed, {max(0, waiting):,} waiting"
        )
        yield ", ".join(f"{figures[name]:,} {name}" for name in figures)
        if self.updated is not None:
            yield f"update: {self.updated:,} of {self.done:,} updated so far"
        for entry in self.failed[:_SHOWN]:
            yield f"failed: {entry.name}: {entry.reason} (logs/{entry.name}.log)"
        if len(self.failed) > _SHOWN:
            yield f"and {len(self.failed) - _SHOWN:,} more failed {self.unit}"

    def to_json(self) -> str:
        """The standing as one JSON object."""
        import orjson

        found = {
            "sites": self.sites, "done": self.done, "running": len(self.running),
            "failed": {entry.name: entry.error for entry in self.failed}, **self.figures(),
            **({} if self.updated is None else {"updated": self.updated}),
        }  # fmt: skip
        return orjson.dumps(found).decode()


def standing_of(folder: Path) -> Standing:
    """Read the standing of a job, even while it is running."""
    from diptych.job.folder import ARCHIVES, JobFolder, read_job
    from diptych.job.ledger import Ledger
    from diptych.job.running import read_running
    from diptych.text.urls import site_name

    job = JobFolder(folder)
    entries = tuple(Ledger(job.ledger).entries())
    known = {entry.name for entry in entries if entry.is_done}
    running = {name: each for name, each in read_running(job.running).items() if name not in known}
    entries = tuple(entry for entry in entries if entry.name not in running)
    terms = read_job(folder)
    if terms.kind == ARCHIVES:
        return _of_archives(terms, entries, running)
    sites = len({site_name(site) for site in terms.inputs})
    updates = Ledger(job.update)
    is_updated = updates.folder.is_dir()
    updated = sum(each.is_done for each in updates.entries()) if is_updated else None
    return Standing(sites, entries, running, updated=updated)


def _of_archives(
    terms: JobTerms, entries: tuple[Entry, ...], running: dict[str, dict[str, Any]]
) -> Standing:
    """The standing of a job on archives: tasks before the last stage count only if they failed."""
    from diptych.api.archive_tasks import PARTITION_PREFIX

    last = tuple(
        each for each in entries if each.name.startswith(PARTITION_PREFIX) or not each.is_done
    )
    return Standing(int(terms.settings["partitions"]), last, running, "partitions")
