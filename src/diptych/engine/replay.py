"""The replay engine: indexes WARC archives, and drives a crawl from them without the network."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from diptych.engine.engine import Answerer
from diptych.engine.reading import (
    READ_LIMITS,
    ArchivedPagesTask,
    ArchivedTask,
    close_archives,
    read_result,
)
from diptych.engine.worker import Failed
from diptych.engine.workers import ALONE, Workers, result_of
from diptych.errors import ArchiveError
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.body import is_html
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.run.archived import ArchiveIndex
from diptych.run.database import Transaction
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer, check_archive, scan
from diptych.types import Failure, Kind, Response


def archive_files(paths: Iterable[Path]) -> list[Path]:
    """The WARC files in a list of files and folders; the files in a folder are sorted."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(
                file for file in path.rglob("*") if file.name.endswith((".warc", ".warc.gz"))
            )
            if not found:
                raise ArchiveError(f"{path} contains no *.warc or *.warc.gz files")
            files.extend(found)
        elif path.is_file():
            check_archive(path)
            files.append(path)
        else:
            raise ArchiveError(f"there is no file {path}")
    return files


def index_archives(store: Store, files: Sequence[Path]) -> list[str]:
    """Index all responses in archives, and return messages about damaged archives.

    Responses before the damage are indexed.  A file is indexed again only if its size has changed.
    """
    index = ArchiveIndex(store)
    for file in files:
        path, size = str(file.resolve()), file.stat().st_size
        if index.has(path, size):
            continue
        with store.transaction():
            id = store.archive.add(path, size)
            index.finish(id, size, _add_answers(index, id, file))
    return index.errors()


def _add_answers(index: ArchiveIndex, warc: int, file: Path) -> str:
    count = 0
    try:
        for located in scan(file):
            response = located.response
            is_page = response.status == 200 and is_html(
                response.header("Content-Type"), response.body[:1024]
            )
            index.add(response.url, warc, located.offset, is_page=is_page)
            count += 1
    except ArchiveError as error:
        if not count:
            raise
        return str(error)
    return ""


PAGES_AT_ONCE = 32
"""number of pages claimed at once, if the choice of the next URL does not depend on them"""
PAGES_PER_COMMIT = 256
"""number of pages that are parsed again if the run is killed"""
_PAGES_PER_TASK = 4


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Drives a crawl from archives that have been indexed in the store of the crawl.

    The number of responses so far serves as the clock, so the same archives always give the same
    crawl.
    """

    def run(self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher) -> None:
        """Crawl until no URL is left or the watcher stops the crawl."""
        workers.prepare(Statistics(crawl.store).queued())
        with (
            crawl.store.transaction() as transaction,
            closing(_Replay(crawl, answers, workers, watcher, transaction)) as replay,
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


class _Opened(NamedTuple):
    """A claim whose archived response is being parsed, with others in one task."""

    claim: Claim
    pointer: Pointer
    task: ArchivedTask
    results: Future[list[bytes | Failed | None] | Failed]
    place: int
    """index of the response in the results"""
    is_alone: bool


class _Replay:
    """A crawl that is being replayed.

    A group of URLs is claimed at once, and the next group when all responses are processed.  If the
    watcher stops the crawl, the next invocation returns the open claims to the queue.
    """

    def __init__(
        self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher,
        transaction: Transaction,
    ) -> None:  # fmt: skip
        self.now = float(crawl.stats.downloads)
        self._crawl, self._answers, self._workers = crawl, answers, workers
        self._watcher, self._transaction = watcher, transaction
        self._index = ArchiveIndex(crawl.store)
        self._room = 1 if crawl.guides.has_memory else PAGES_AT_ONCE
        self._open: deque[_Opened | Claim] = deque()
        """claims in order; those whose responses are not archived stand alone"""

    def tick(self) -> None:
        """Tell the watcher that the crawl goes on; raise an exception if the watcher stops it."""
        self._watcher.tick()
        if self._watcher.stopped():
            raise _StoppedError

    def answers(self) -> Iterator[tuple[Claim, ReadAnswer | Failure, Pointer | None]]:
        """Claim URLs until none is left, and yield the responses to them in the same order."""
        while True:
            if not self._open and not self._claim():
                break
            if self._open:
                first = self._open.popleft()
                claim = first if isinstance(first, Claim) else first.claim
                reading = None if isinstance(first, Claim) else self._reading(first)
                if reading is None or isinstance(first, Claim):
                    yield claim, _missing(claim, self._crawl.langs), None
                else:
                    yield claim, reading, first.pointer

    def close(self) -> None:
        """Stop parsing, and close all archives."""
        for each in self._open:
            if isinstance(each, _Opened):
                each.results.cancel()
        close_archives()

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

    def _opened(self, claims: Sequence[Claim]) -> list[_Opened | Claim]:
        """Begin to parse the archived responses to claims, in one task.

        Sketches are created at the same time, so that no page is parsed twice.
        """
        store, langs = self._crawl.store, self._crawl.langs
        folder, path_of = str(store.folder), store.archive.path
        places = [self._index.place(claim.url) for claim in claims]
        tasks = tuple(
            ArchivedTask(claim.kind, folder, path_of(place[0]), place[1], claim.depth, langs)
            for claim, place in zip(claims, places, strict=True)
            if place is not None
        )
        if not tasks:
            return [*claims]
        results = self._workers.submit(ArchivedPagesTask(tasks), ALONE, limits=READ_LIMITS)
        numbers, is_alone = count(), len(tasks) == 1
        return [
            _Opened(claim, Pointer(*place, 0), tasks[n := next(numbers)], results, n, is_alone)
            if place is not None
            else claim
            for claim, place in zip(claims, places, strict=True)
        ]

    def _reading(self, opened: _Opened) -> ReadAnswer | Failure | None:
        """Wait for the response to a claim, and return it; None if the archive does not have it.

        If its task failed, the response is read alone.
        """
        found = result_of(opened.results, self.tick)
        result = found if isinstance(found, Failed) else found[opened.place]
        if isinstance(found, Failed) and not opened.is_alone:
            again = self._workers.submit(opened.task, ALONE, limits=READ_LIMITS)
            result = result_of(again, self.tick)
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
