"""The corpus of a job: all its finished runs, merged into one corpus without near-duplicates.

A run is opened only while it is read, so a job may have any number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from diptych.api.declare import require_valid
from diptych.api.export import CorpusChoice, Exported, ExportOptions, RunFolder
from diptych.errors import ConfigError, StoreError, option_name
from diptych.files import read_file, replace_file, replacing

if TYPE_CHECKING:
    from diptych.corpus.merge import Merged
    from diptych.job.folder import JobFolder
    from diptych.job.ledger import Entry

_FORMATS = ("tsv", "tmx")
_STAMP = "corpus.stamp"
_PIECE = 1 << 20  # bytes per read


def finished_runs(job: JobFolder) -> list[Path]:
    """The run folders of a job whose tasks have finished, sorted by name."""
    from diptych.job.ledger import Ledger

    done = (job.runs / entry.name for entry in Ledger(job.ledger).entries() if entry.is_done)
    return [folder for folder in done if (folder / "run.toml").is_file()]


def merged_runs(job: JobFolder, langs: Sequence[str], asked: CorpusChoice) -> Merged:
    """The selected part of the corpora of all finished runs, merged."""
    from diptych.corpus.merge import merge

    return replace(merge(job_runs(job, asked)), langs=tuple(langs))


def job_runs(job: JobFolder, asked: CorpusChoice, prefix: str = "") -> list[RunFolder]:
    """The corpora of all finished runs; `prefix` is added to the names of their archives."""
    return [
        RunFolder(folder, asked, f"{prefix}{folder.relative_to(job.path).as_posix()}/")
        for folder in finished_runs(job)
    ]


def export_job(
    asked: ExportOptions, standard: Callable[[Path], BinaryIO | None] = lambda path: None
) -> Exported:
    """Write the merged corpus of a job; the arguments are those of `export_run`."""
    from diptych.corpus.from_run import write_corpus
    from diptych.job.folder import JobFolder, read_job

    require_valid(asked)
    if asked.n_way:
        raise ConfigError(f"{asked.run} is a job: use {option_name('n_way')} with one of its runs")
    if asked.since is not None or asked.vanished:
        name = option_name("vanished" if asked.vanished else "since")
        raise ConfigError(f"{asked.run} is a job: use {name} with one of its runs")
    made = asked.exporter()
    path = asked.path(made)
    merged = merged_runs(JobFolder(asked.run), read_job(asked.run).langs, asked)
    written = write_corpus(merged, made, path, standard(path), max_lines=asked.max_lines)
    return Exported(*written)


def write_job_corpus(
    job: JobFolder, langs: Sequence[str], entries: Sequence[Entry], asked: CorpusChoice
) -> int:
    """Write corpus.tsv, corpus.tmx and pairs.tsv; return the number of segments.

    Nothing is written if all of it is up to date.
    """
    from diptych.corpus.from_run import write_together
    from diptych.registry import exporter
    from diptych.stages.export.shared.columns import BatchExporter

    files = {job.path / f"corpus.{name}": exporter(name) for name in _FORMATS}
    of_runs = [run / name for run in finished_runs(job) for name in ("corpus.tsv", "pairs.tsv")]
    paths = [*files, job.path / "pairs.tsv", *of_runs]  # those of runs change when they are updated
    known = _read_stamp(job)
    if known is not None and known[0] == _stamp(entries, asked, paths):
        return known[1]
    made = {path: each for path, each in files.items() if isinstance(each, BatchExporter)}
    merged = merged_runs(job, langs, asked)
    write_together(merged, made)
    write_job_pairs(job)
    lines = merged.kept.distinct
    data = f"{_stamp(entries, asked, paths)} {lines}\n".encode()
    replace_file(job.path / _STAMP, data, error=StoreError)
    return lines


def write_job_pairs(job: JobFolder) -> None:
    """Write pairs.tsv: the lines of the files of all finished runs."""
    from diptych.steps.write_corpus import PAIRS_HEADER

    with replacing(job.path / "pairs.tsv", error=StoreError) as part, part.open("wb") as sink:
        sink.write(PAIRS_HEADER.encode())
        for folder in finished_runs(job):
            if not (folder / "pairs.tsv").is_file():
                continue
            with (folder / "pairs.tsv").open("rb") as source:
                source.readline()
                while piece := source.read(_PIECE):
                    sink.write(piece)


def _stamp(entries: Sequence[Entry], asked: CorpusChoice, paths: Sequence[Path]) -> str:
    """A text that changes if a result, the selection of segments or a file changes."""
    digest = blake2b(repr(asked).encode(), digest_size=16)
    for entry in sorted(entries, key=lambda entry: entry.name):
        digest.update(repr((entry.name, entry.signature, entry.error, entry.result)).encode())
    for path in paths:
        found = path.stat() if path.exists() else None
        digest.update(repr((found.st_size, found.st_mtime_ns) if found else None).encode())
    return digest.hexdigest()


def _read_stamp(job: JobFolder) -> tuple[str, int] | None:
    path = job.path / _STAMP
    if not path.is_file():
        return None
    stamp, _, lines = read_file(path, 1 << 10, error=StoreError).decode("ascii").partition(" ")
    return (stamp, int(lines)) if lines.strip().isdecimal() else None
