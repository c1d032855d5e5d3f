"""The replay engine: indexes WARC archives, and drives a crawl from them without the network."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from diptych.engine.engine import Answerer
from diptych.engine.limits import PAGE_LIMITS
from diptych.engine.reading import (
    ArchivedPagesTask,
    ArchivedTask,
    read_result,
)
from diptych.engine.worker import Failed
from diptych.engine.workers import ALONE, Workers, result_of
from diptych.errors import ArchiveError
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.body import decompress, is_html
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.run.archived import ArchiveIndex
from diptych.run.database import Transaction
from diptych.run.page_rows import StagedPages
from diptych.run.scan import check_archive, scan
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.types import Failure, Kind, Response

_START = 1024  # bytes of a body by which a page is recognised


def index_archives(store: Store, files: Sequence[Path]) -> list[str]:
    """Index all responses in local archives, and return messages about damaged archives."""
    for file in files:
        index_archive(store, file)
    return require_answers(store)


def index_archive(store: Store, file: Path) -> None:
    """Index all responses in an archive; those before damage are indexed too.

    A file is indexed again only if its size has changed.
    """
    index = ArchiveIndex(store)
    path, size = str(file.resolve()), file.stat().st_size
    if index.has(path, size):
        return
    with store.transaction():
        id = store.archive.add(path, size)
        index.finish(id, size, _add_answers(index, id, file))


def require_answers(store: Store) -> list[str]:
    """Messages about archives that could not be read; raises the first if there is no response."""
    index = ArchiveIndex(store)
    errors = index.errors()
    if errors and not index.has_answers():
        raise ArchiveError(errors[0])
    return errors


def is_page_of(response: Response) -> bool:
    """True if an archived response is an HTML page, by its type and its first bytes."""
    if response.status != 200:
        return False
    start, _ = decompress(response.body, response.header("Content-Encoding"), limit=_START)
    return is_html(response.header("Content-Type"), start)


def _add_answers(index: ArchiveIndex, warc: int, file: Path) -> str:
    try:
        check_archive(file)
        for offset, response in scan(file):
            index.add(response.url, warc, offset, is_page=is_page_of(response))
    except ArchiveError as error:
        return str(error)
    return ""


PAGES_AT_ONCE = 256
"""number of pages that are claimed, if the choice of the next URL does not depend on them"""
PAGES_PER_COMMIT = 1024
"""number of pages that are parsed again if the run is killed"""
_PAGES_PER_TASK = 16


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Drives a crawl from archives that have been indexed in the store of the crawl.

    The number of responses so far serves as the clock, so the same archives always give the same
    crawl.
    """

    staged: StagedPages | None = None
    """pages that have been parsed already"""

    def run(self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher) -> None:
        """Crawl until no URL is left or the watcher stops the crawl."""
        workers.prepare(Statistics(crawl.store).queued())
        with (
            crawl.store.transaction() as transaction,
            closing(_Replay(crawl, answers, workers, watcher, transaction, self.staged)) as replay,
            suppress(_StoppedError),
        ):
            for claim, reading, pointer in replay.answers():
                replay.now += 1.0
                crawl.fetched(claim, reading, replay.now, pointer)
                if crawl.stats.downloads % PAGES_PER_COMMIT == 0:
                    crawl.checkpoint(transaction)
                replay.tick()


class _StoppedError(Exception):
    """The watcher stopped the crawl."""


_Results = list[bytes | Failed | None] | Failed


class _Opened(NamedTuple):
    """A claim whose archived response is being parsed, with others in one task."""

    claim: Claim
    pointer: Pointer
    task: ArchivedTask
    results: Future[_Results]
    place: int
    """index of the response in the results"""
    is_alone: bool


class _Known(NamedTuple):
    """A claim whose archived response was parsed before."""

    claim: Claim
    pointer: Pointer
    reading: ReadAnswer


class _Replay:
    """A crawl that is being replayed.

    URLs are claimed when half of those claimed before are processed, so that the workers always
    have some.  If the watcher stops the crawl, the next invocation returns the open claims to the
    queue.
    """

    def __init__(
        self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher,
        transaction: Transaction, staged: StagedPages | None,
    ) -> None:  # fmt: skip
        self.now = float(crawl.stats.downloads)
        self._crawl, self._answers, self._workers = crawl, answers, workers
        self._watcher, self._transaction = watcher, transaction
        self._index = ArchiveIndex(crawl.store)
        self._room = 1 if crawl.guides.has_memory else PAGES_AT_ONCE
        self._staged = staged
        self._open: deque[_Opened | _Known | Claim] = deque()
        """claims in order; those whose responses are not archived stand alone"""

    def tick(self) -> None:
        """Tell the watcher that the crawl goes on; raise an exception if the watcher stops it."""
        self._watcher.tick()
        if self._watcher.stopped():
            raise _StoppedError

    def answers(self) -> Iterator[tuple[Claim, ReadAnswer | Failure, Pointer | None]]:
        """Claim URLs until none is left, and yield the responses to them in the same order."""
        while True:
            if len(self._open) <= self._room // 2 and not self._claim():
                break
            if self._open:
                first = self._open.popleft()
                yield self._answer(first)

    def _answer(
        self, opened: _Opened | _Known | Claim
    ) -> tuple[Claim, ReadAnswer | Failure, Pointer | None]:
        """The response to a claim; a failure if it is not archived."""
        if isinstance(opened, _Known):
            return opened.claim, opened.reading, opened.pointer
        if isinstance(opened, _Opened):
            reading = self._reading(opened)
            if reading is not None:
                return opened.claim, reading, opened.pointer
            opened = opened.claim
        return opened, _missing(opened, self._crawl.langs), None

    def close(self) -> None:
        """Stop parsing."""
        for each in self._open:
            if isinstance(each, _Opened):
                each.results.cancel()

    def _claim(self) -> bool:
        """Claim more URLs; return False if no URL is left."""
        crawl = self._crawl
        if self._watcher.stopped():
            raise _StoppedError
        self._answers.answer_all(
            self.now, lambda: crawl.checkpoint(self._transaction), self._watcher
        )
        if self._watcher.stopped():
            raise _StoppedError
        claims = crawl.next(self.now, self._room)
        for start in range(0, len(claims), _PAGES_PER_TASK):
            self._open.extend(self._opened(claims[start : start + _PAGES_PER_TASK]))
        if not self._open:
            wake = crawl.wake()
            if wake is None:
                return False
            self.now = max(self.now + 1.0, wake)
        return True

    def _opened(self, claims: Sequence[Claim]) -> list[_Opened | _Known | Claim]:
        """Begin to parse the archived responses to claims, in one task.

        Sketches are created at the same time, so that no page is parsed twice.
        """
        path_of, langs = self._crawl.store.archive.path, self._crawl.langs
        opened: list[_Opened | _Known | Claim] = [*map(self._known, claims)]
        places = {
            each: place
            for each, claim in enumerate(opened)
            if isinstance(claim, Claim) and (place := self._index.place(claim.url)) is not None
        }
        tasks = tuple(
            ArchivedTask(claim.kind, path_of(warc), offset, claim.depth, langs)
            for claim, (warc, offset) in ((claims[each], place) for each, place in places.items())
        )
        if tasks:
            results = self._begin(tasks)
            for number, (each, place) in enumerate(places.items()):
                pointer, task = Pointer(*place, 0), tasks[number]
                opened[each] = _Opened(
                    claims[each], pointer, task, results, number, len(tasks) == 1
                )
        return opened

    def _begin(self, tasks: tuple[ArchivedTask, ...]) -> Future[_Results]:
        """Begin to read some responses in one task."""
        task = ArchivedPagesTask(str(self._crawl.store.folder), tasks)
        return self._workers.submit(task, ALONE, limits=PAGE_LIMITS)

    def _known(self, claim: Claim) -> _Known | Claim:
        """The response to a claim if it was parsed before; otherwise the claim."""
        if self._staged is None or claim.kind is not Kind.PAGE:
            return claim
        place = self._index.place(claim.url)
        reading = None if place is None else self._staged.answer(claim.url, claim.depth)
        if place is None or reading is None:
            return claim
        return _Known(claim, Pointer(*place, 0), reading)

    def _reading(self, opened: _Opened) -> ReadAnswer | Failure | None:
        """Wait for the response to a claim, and return it; None if the archive does not have it.

        If its task failed, or had too little memory for it, the response is read alone.
        """
        found = result_of(opened.results, self.tick)
        result = found if isinstance(found, Failed) else found[opened.place]
        # Another page of the task may have used up the memory.
        is_of_others = isinstance(found, Failed) or result == Failed("MemoryError")
        if is_of_others and not opened.is_alone:
            again = result_of(self._begin((opened.task,)), self.tick)
            result = again if isinstance(again, Failed) else again[0]
        if result is None:
            return None
        *_, read = read_result(opened.claim.url, result)
        assert read is not None
        return read[0]


def _missing(claim: Claim, langs: tuple[str, ...]) -> ReadAnswer | Failure:
    """The answer to a claim that is not archived; everything is allowed without a robots.txt."""
    if claim.kind is not Kind.ROBOTS:
        return Failure(claim.url, Reason.NOT_ARCHIVED)
    response = Response(claim.url, 404, (), b"", 0.0)
    reading = read_answer(claim.kind, response, depth=claim.depth, langs=langs, with_sketch=False)
    return reading._replace(status=0)
