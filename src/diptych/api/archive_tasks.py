"""The tasks of a job that mines archives of many sites.

1. `ReadArchive` parses the pages of one archive into Parquet files, by partition of sites.
2. `PairPartition` stores the pages of one partition in a run folder, pairs them, and writes a
   sample of sure segments.
3. `LearnWords` learns a lexicon for each language pair from the samples of all partitions.
4. `AlignPartition` aligns the page pairs of one partition with these lexicons.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from diptych.api.archive_plan import ArchivePlan
from diptych.api.tasks import (
    digest_of,
    finished,
    logged,
    task_monitor,
    wait_for_run,
    workers_of,
)
from diptych.api.web import Environment, agent_of
from diptych.errors import StoreError

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.engine.workers import Workers
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.pipeline import Plan
    from diptych.registry import Strategies
    from diptych.reports.progress import Monitor
    from diptych.run.page_rows import PageRow, StagedPages
    from diptych.run.store import Store
    from diptych.run.terms import Terms
    from diptych.types import LangPair

_MIN_SAMPLE = 20_000  # letters of text of a partition from which words are learned, at least
_STAGED = "pages.part"
PARTITION_PREFIX = "part-"
"""begins the names of the tasks of the last stage, and of their run folders"""


@dataclass(frozen=True, slots=True)
class ReadArchive:
    """Parses the pages of one archive into Parquet files.

    A remote archive is downloaded, and its useful records are copied into a WARC file of the job.
    """

    name: str
    plan: ArchivePlan
    archive: str
    attempt: int = 1

    @property
    def signature(self) -> str:
        """A digest of the options, and of the size and time of a local archive."""
        from diptych.page.content import READER
        from diptych.sources.archives import is_remote
        from diptych.sources.page_files import LAYOUT

        own: tuple[int, ...] = ()
        if not is_remote(self.archive) and (path := Path(self.archive)).exists():
            own = path.stat().st_size, path.stat().st_mtime_ns
        return digest_of(self.plan.digest, self.archive, own, READER, LAYOUT)

    def run(self) -> dict[str, Any]:
        """Parse the archive, and return the numbers of pages and of responses."""
        return finished(self._run)

    def _run(self) -> dict[str, Any]:
        from diptych.api.languages import languages
        from diptych.engine.workers import Workers
        from diptych.files import replacing
        from diptych.sources.archives import wanted_by
        from diptych.sources.page_files import paths_of_archive, write_pages
        from diptych.sources.parsed_archives import ParsedArchive

        plan, asked = self.plan, self.plan.asked
        langs = languages(asked.langs, asked.langid)
        with task_monitor(plan.job, self.name, self.attempt) as monitor, ExitStack() as at_end:
            source = at_end.enter_context(self._source(monitor))
            workers = at_end.enter_context(Workers(workers_of(self.attempt)))
            is_wanted = wanted_by(plan.seeds, asked.scope)
            monitor.begin("reading")
            parsed = ParsedArchive(
                source.path, langs, is_wanted, workers, monitor.tick, source.copies
            )
            parts = [
                at_end.enter_context(replacing(path, error=StoreError))
                for path in paths_of_archive(plan.pages, self.name, plan.partitions)
            ]
            write_pages(parts, parsed, source.origin, asked.scope, plan.partitions)
        damage = parsed.damage.replace(str(source.path), self.archive)
        counts = {"pages": parsed.pages, "responses": parsed.responses}
        return {**counts, "damaged": [damage] if damage else []}

    @contextmanager
    def _source(self, monitor: Monitor) -> Iterator[_Source]:
        """The archive as a local file, and the file to which its records are copied, if any."""
        from diptych.files import replacing
        from diptych.sources.archives import downloaded, is_remote
        from diptych.sources.page_files import ArchivePages
        from diptych.sources.parsed_archives import CopiedRecords

        if not is_remote(self.archive):
            path = Path(self.archive)
            yield _Source(path, ArchivePages(self.archive, path.stat().st_size), None)
            return
        asked = self.plan.asked
        copy = self.plan.warc / f"{self.name}.warc.gz"
        download = self.plan.pages / f"{self.name}.download.part"
        try:
            agent = agent_of(asked.user_agent)
            with Environment().downloads(asked, agent, monitor, self.plan.warc) as downloads:
                size = downloaded(self.archive, download, downloads)
            with replacing(copy, error=StoreError) as part, part.open("wb") as stream:
                copies = CopiedRecords(stream, copy.name, self.archive, agent=agent)
                yield _Source(download, ArchivePages(f"../../warc/{copy.name}", size), copies)
        finally:
            download.unlink(missing_ok=True)


class _Source(NamedTuple):
    """An archive to parse."""

    path: Path
    origin: Any  # sources.page_files.ArchivePages
    copies: Any  # sources.parsed_archives.CopiedRecords, if records are copied


class _Partition(NamedTuple):
    """An open run folder of a partition."""

    store: Store
    terms: Terms
    strategies: Strategies
    lexicons: list[Lexicon]
    agent: str

    def plan(self, asked: MineOptions) -> Plan:
        """The sites of the partition."""
        from diptych.api.mine import plan_of

        return plan_of(self.store, self.terms, self.lexicons, asked, self.agent)


@contextmanager
def _opened(plan: ArchivePlan, number: int, folder: Path) -> Iterator[_Partition]:
    """Open the run folder of a partition, or create it."""
    from diptych.api.languages import languages, learned_names
    from diptych.api.recipe import lexicon_name, strategies_of
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.run.terms import Terms, opened_run
    from diptych.sources.page_files import partition_of

    asked = plan.asked
    langs = languages(asked.langs, asked.langid)
    recipe, agent = asked.recipe(), agent_of(asked.user_agent)
    lexicons = [read_lexicon(path) for path in asked.lexicon]
    known = tuple(lexicon_name(lexicon, langs) for lexicon in lexicons)
    own = [
        seed for seed in plan.seeds
        if asked.also or partition_of(seed, asked.scope, plan.partitions) == number
    ]  # fmt: skip
    archives = (f"partition {number} of {plan.partitions}",)
    terms = Terms(langs, tuple(own), asked.scope, recipe, archives, known, learned_names())
    strategies = strategies_of(recipe, is_complete=not plan.seeds)
    with opened_run(folder, terms, agent=agent, keep_empty=True) as store:
        yield _Partition(store, terms, strategies, lexicons, agent)


def partition_name(number: int) -> str:
    """The name of the run folder of a partition.

    >>> partition_name(7)
    'part-00007'
    """
    return f"{PARTITION_PREFIX}{number:05d}"


@dataclass(frozen=True, slots=True)
class _PartitionTask(ABC):
    """A task on the run folder of one partition."""

    name: str
    plan: ArchivePlan
    number: int
    basis: str
    """digest of what the task reads: the parsed pages, or the pages and the lexicons"""
    attempt: int = 1

    @property
    def signature(self) -> str:
        """A digest of the options and of what the task reads."""
        return digest_of(self.plan.digest, self.number, self.basis)

    def run(self) -> dict[str, Any]:
        """Do the work, and return its figures."""
        return finished(self._run)

    def _run(self) -> dict[str, Any]:
        from diptych.engine.workers import Workers
        from diptych.job.folder import JobFolder

        folder = JobFolder(self.plan.job).runs / partition_name(self.number)
        with task_monitor(self.plan.job, self.name, self.attempt) as monitor:
            wait_for_run(folder, monitor)
            with (
                _opened(self.plan, self.number, folder) as part,
                Workers(workers_of(self.attempt)) as workers,
            ):
                return self._work(part, workers, monitor)

    @abstractmethod
    def _work(self, part: _Partition, workers: Workers, monitor: Monitor) -> dict[str, Any]:
        """Do the work on the opened run folder, and return its figures."""


class PairPartition(_PartitionTask):
    """Stores the pages of one partition in a run folder, pairs them, and samples sure segments."""

    __slots__ = ()

    def _work(self, part: _Partition, workers: Workers, monitor: Monitor) -> dict[str, Any]:
        from diptych.run.page_rows import StagedPages
        from diptych.run.statistics import Statistics
        from diptych.sources.page_files import paths_of_partition

        plan = self.plan
        with StagedPages(part.store.folder / _STAGED) as staged:
            monitor.begin("storing")
            for file in paths_of_partition(plan.pages, self.number):
                monitor.tick()
                self._store(part.store, file, staged)
            found = self._pair(part, staged, workers, monitor)
            pages = Statistics(part.store).pages()
        write_sample(plan.words / f"{self.name}.json", found)
        return {"pages": pages, "sample": sum(map(len, found.values()))}

    def _store(self, store: Store, file: Path, staged: StagedPages) -> None:
        """Index the responses of an archive that are in this partition, and keep its pages."""
        from diptych.run.archived import ArchiveIndex
        from diptych.sources.page_files import archive_of, read_pages
        from diptych.types import Url

        index, origin = ArchiveIndex(store), archive_of(file)
        is_known = index.has(origin.path, origin.size)
        with store.transaction():
            id = store.archive.add(origin.path, origin.size)

            def indexed() -> Iterator[PageRow]:
                for row in read_pages(file, self.number):
                    if not is_known:
                        index.add(Url(row.url), id, row.offset, is_page=row.is_page)
                    yield row

            staged.add(indexed())
            if not is_known:
                index.finish(id, origin.size, "")

    def _pair(
        self, part: _Partition, staged: StagedPages, workers: Workers, monitor: Monitor
    ) -> dict[LangPair, list[tuple[str, str]]]:
        from diptych.engine.replay import ReplayEngine
        from diptych.pipeline import run_until_words
        from diptych.steps.learn_lexicon import MAX_LETTERS

        return run_until_words(
            part.plan(self.plan.asked), part.strategies, part.store, ReplayEngine(staged), workers,
            monitor, 0.0, max_letters=max(MAX_LETTERS // self.plan.partitions, _MIN_SAMPLE),
        )  # fmt: skip


def write_sample(path: Path, found: dict[LangPair, list[tuple[str, str]]]) -> None:
    """Write the segments of a partition from which words are learned, as JSON."""
    import orjson

    from diptych.files import replace_file

    data = [[*langs, texts] for langs, texts in sorted(found.items())]
    replace_file(path, orjson.dumps(data), error=StoreError)


@dataclass(frozen=True, slots=True)
class LearnWords:
    """Learns a lexicon for each language pair, from the samples of all partitions."""

    name: str
    plan: ArchivePlan
    basis: str
    """digest of the samples"""
    attempt: int = 1

    @property
    def signature(self) -> str:
        """A digest of the options and of the samples."""
        return digest_of(self.plan.digest, self.basis)

    def run(self) -> dict[str, Any]:
        """Learn the lexicons, and return the number of segments they were learned from."""
        return finished(self._run)

    def _run(self) -> dict[str, Any]:
        from diptych.api.languages import languages
        from diptych.files import replace_file
        from diptych.learn.lexicon.lexicon import lexicon_of, read_lexicon
        from diptych.steps.learn_lexicon import train_lexicon
        from diptych.steps.shared_sample import sample_of
        from diptych.types import lang_pairs

        plan, asked = self.plan, self.plan.asked
        counts: dict[str, int] = {}
        with task_monitor(plan.job, self.name, self.attempt) as monitor:
            monitor.begin("learning words")
            given = [read_lexicon(path) for path in asked.lexicon]
            for langs in lang_pairs(languages(asked.langs, asked.langid)):
                monitor.tick()
                texts = sample_of(sorted(plan.words.glob("pair-*.json")), langs)
                counts["-".join(langs)] = len(texts)
                learned = train_lexicon(texts, langs, lexicon_of(langs, given))
                data = b"" if learned is None else learned.to_bytes()
                replace_file(plan.lexicon(langs), data, error=StoreError)
        return {"learned_from": counts}


class AlignPartition(_PartitionTask):
    """Aligns the page pairs of one partition with the lexicons of the job."""

    __slots__ = ()

    def _work(self, part: _Partition, workers: Workers, monitor: Monitor) -> dict[str, Any]:
        from diptych.api.mine import report_run
        from diptych.pipeline import run_with_words

        words = dict(_lexicons(self.plan, part.terms.langs))
        planned = part.plan(self.plan.asked)
        run_with_words(planned, part.strategies, part.store, workers, monitor, words)
        mined = report_run(part.store, part.terms, monitor, ())
        return logged(self.plan.job, self.name, mined)


def _lexicons(plan: ArchivePlan, langs: tuple[str, ...]) -> Iterator[tuple[LangPair, Lexicon]]:
    from diptych.learn.lexicon.lexicon import read_lexicon
    from diptych.types import lang_pairs

    for pair in lang_pairs(langs):
        path = plan.lexicon(pair)
        if path.stat().st_size:
            yield pair, read_lexicon(path)
