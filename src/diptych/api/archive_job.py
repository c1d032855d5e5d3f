"""Mining of archives of many sites as a job: `diptych mine --warc FILES --cluster WHERE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.archive_plan import ArchivePlan
from diptych.api.archive_tasks import (
    AlignPartition,
    LearnWords,
    PairPartition,
    ReadArchive,
    partition_name,
)
from diptych.api.tasks import digest_of
from diptych.errors import ArchiveError, StoreError
from diptych.job.folder import MAX_PARTITIONS, is_job, read_job

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.engine.job_tasks import Executor
    from diptych.job.folder import JobFolder, JobTerms
    from diptych.job.ledger import Entry
    from diptych.job.progress import JobMonitor

BYTES_PER_PARTITION = 64 << 20  # of archives
MIN_PARTITIONS = 8
_REMOTE_BYTES = 1 << 30  # of a remote archive, whose size is not asked; Common Crawl's have 1 GB


def default_partitions(archives: Sequence[str]) -> int:
    """The number of partitions for archives; it must not depend on where the job runs."""
    from diptych.sources.archives import is_remote

    sizes = (_REMOTE_BYTES if is_remote(name) else Path(name).stat().st_size for name in archives)
    wanted = ceil(sum(sizes) / BYTES_PER_PARTITION)
    return min(max(wanted, MIN_PARTITIONS), MAX_PARTITIONS)


def partitions_of(folder: Path | None, archives: Sequence[str]) -> int:
    """The number of partitions of the job in a folder, or of a new job on archives."""
    if folder is not None and is_job(folder):
        known = read_job(folder).settings.get("partitions")
        if known is not None:
            return int(known)
    return default_partitions(archives)


def partition_of_url(url: str, terms: JobTerms) -> str:
    """The name of the run folder that has the site of a URL."""
    from diptych.sources.page_files import partition_of

    kind, count = str(terms.settings["scope"]), int(terms.settings["partitions"])
    return partition_name(partition_of(url, kind, count))


def mine_archives(
    job: JobFolder, archives: Sequence[str], seeds: Sequence[str], partitions: int,
    asked: MineOptions, executor: Executor, monitor: JobMonitor,
) -> tuple[list[Entry], list[str]]:  # fmt: skip
    """Run all tasks of a job on archives.

    Returns the entries of all partitions, and messages about archives that could not be read.
    """
    from diptych.job.driver import run_tasks

    plan = ArchivePlan(job.path, replace(asked, warc=(), sites=()), tuple(seeds), partitions)
    for folder in (plan.pages, plan.warc, plan.words):
        folder.mkdir(exist_ok=True)
    reads = [
        ReadArchive(f"read-{number:05d}", plan, archive) for number, archive in enumerate(archives)
    ]
    read = run_tasks(job, reads, executor, monitor, stage="reading", unit="archives")
    damaged = _damaged(archives, list(read.values()))
    basis = digest_of([(each.name, each.signature) for each in _done(read.values())])
    numbers = range(partitions)
    pairs = [PairPartition(f"pair-{number:05d}", plan, number, basis) for number in numbers]
    paired = run_tasks(job, pairs, executor, monitor, stage="pairing", unit="partitions")
    samples = digest_of([_figures(each) for each in _done(paired.values())])
    words = LearnWords("words", plan, digest_of(basis, samples))
    [learned] = run_tasks(
        job, [words], executor, monitor, stage="learning words", unit="lexicons"
    ).values()
    if not learned.is_done:
        raise StoreError(f"words could not be learned: {learned.reason} (see logs/words.log)")
    tasks = [
        AlignPartition(partition_name(task.number), plan, task.number, words.signature)
        for task in pairs
        if paired[task.name].is_done
    ]
    aligned = run_tasks(job, tasks, executor, monitor, stage="aligning", unit="partitions")
    lost = [each for each in paired.values() if not each.is_done]
    return [*aligned.values(), *lost], damaged


def _done(entries: Iterable[Entry]) -> list[Entry]:
    return [each for each in entries if each.is_done]


def _figures(entry: Entry) -> tuple[object, ...]:
    """The figures of a task that do not depend on where and when it ran."""
    return entry.name, entry.result.get("pages"), entry.result.get("sample")


def _damaged(archives: Sequence[str], entries: Sequence[Entry]) -> list[str]:
    """Messages about archives that could not be read; raises the first if none could be read."""
    found: list[str] = []
    for archive, entry in zip(archives, entries, strict=True):
        texts = entry.result.get("damaged")
        if not entry.is_done:
            found.append(f"{archive} could not be read: {entry.reason}")
        elif isinstance(texts, list):
            found.extend(map(str, texts))
    if found and not any(entry.result.get("responses") for entry in entries):
        raise ArchiveError(found[0])
    return found
