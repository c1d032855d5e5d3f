"""Integrity of runs: whether the database, the archives, the pages and the segments are whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.declare import argument

if TYPE_CHECKING:
    from diptych.protocols import Watcher
    from diptych.run.integrity import Fault
    from diptych.run.store import Store

SHOWN = 20  # faults of each part that are kept; all are counted


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of `check`."""

    run: Path = argument()


@dataclass(slots=True)
class Checked:
    """The result of a check."""

    pages: int = 0
    segments: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """the number of faults of each part of the run"""
    faults: list[Fault] = field(default_factory=list)
    """the first faults of each part"""

    def add(self, faults: Iterable[Fault | None]) -> None:
        """Count the faults, and keep the first ones."""
        for fault in faults:
            if fault is not None:
                self.counts[fault.part] += 1
                if self.counts[fault.part] <= SHOWN:
                    self.faults.append(fault)

    def add_all(self, other: Checked, prefix: str) -> None:
        """Add the result of one run; `prefix` is put before its faults."""
        self.pages += other.pages
        self.segments += other.segments
        self.counts += other.counts
        self.faults += [fault._replace(said=prefix + fault.said) for fault in other.faults]


def check_folder(folder: Path, watcher: Watcher) -> Checked:
    """Check a run, or all runs of a job; nothing is changed."""
    from diptych.job.folder import JobFolder, is_job

    if not is_job(folder):
        checked = _checked_run(folder, watcher)
    else:
        checked = Checked()
        for run in sorted(JobFolder(folder).runs.iterdir()):
            if (run / "run.sqlite").is_file():
                checked.add_all(_checked_run(run, watcher), f"runs/{run.name}: ")
    _check_file(folder / "corpus.tsv", watcher, checked)
    return checked


def _checked_run(folder: Path, watcher: Watcher) -> Checked:
    from diptych.errors import StoreError, machine_advice
    from diptych.run.integrity import Fault, database_faults
    from diptych.run.store import Store

    checked = Checked()
    try:
        with Store(folder, write=False) as store, store.snapshot():
            watcher.begin("checking the database")
            checked.add(database_faults(store))
            if not checked.faults:  # otherwise it does not say reliably what to look for
                _check_archives(store, watcher, checked)
                _check_segments(store, watcher, checked)
    except StoreError as error:
        if machine_advice(error.__cause__) is not None:  # the run itself may be whole
            raise
        checked.add([Fault("database", str(error))])
    return checked


def _check_archives(store: Store, watcher: Watcher, checked: Checked) -> None:
    """Check what the run has learned, the records of its own archives, and the pages."""
    from diptych.run.integrity import archive_faults, memory_faults, page_faults
    from diptych.run.statistics import Statistics

    checked.add(memory_faults(store))
    watcher.begin("checking archives")
    for fault in archive_faults(store):
        checked.add([fault])
        watcher.tick()
    checked.pages = Statistics(store).pages()
    watcher.begin("checking pages", checked.pages, "pages")
    for faults in page_faults(store):
        checked.add(faults)
        watcher.advance()
        watcher.tick()


def _check_segments(store: Store, watcher: Watcher, checked: Checked) -> None:
    """Check the segments of the corpus, those that updates no longer found, and written files."""
    from diptych.api.export import CorpusChoice, run_corpus
    from diptych.corpus.check import Places, line_faults
    from diptych.run.terms import read_terms
    from diptych.steps.write_corpus import written_files

    terms = read_terms(store.folder)
    if "detect" in terms.recipe:  # a search for sites has no corpus
        return
    watcher.begin("checking segments")
    places = Places(store.folder)
    for vanished in (False, True):
        for unit in run_corpus(store, terms, CorpusChoice(), vanished=vanished).units():
            checked.add(places.faults(unit))
            checked.segments += 1
            watcher.tick()
    for file in written_files(store, run_corpus(store, terms, CorpusChoice())):
        watcher.begin(f"checking {file.name}")
        for fault in line_faults(store.folder / file.name, file.lines, dated=file.is_dated):
            checked.add([fault])
            watcher.tick()


def _check_file(path: Path, watcher: Watcher, checked: Checked) -> None:
    """Check the file with the corpus, if it has been written."""
    from diptych.corpus.check import file_faults
    from diptych.errors import StoreError, machine_advice
    from diptych.run.integrity import Fault

    if not path.is_file():
        return
    watcher.begin("checking corpus.tsv")
    try:
        for fault in file_faults(path):
            checked.add([fault])
            watcher.tick()
    except StoreError as error:
        if machine_advice(error.__cause__) is not None:
            raise
        checked.add([Fault("corpus", str(error))])
