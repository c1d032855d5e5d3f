"""The replay engine: indexes WARC archives, and drives a crawl from them without the network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from diptych.engine.engine import Answerer
from diptych.engine.reading import READ_LIMITS, ArchivedTask, close_archives, read_result
from diptych.engine.workers import ALONE, Workers
from diptych.errors import ArchiveError
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.body import is_html
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.run.archived import ArchiveIndex
from diptych.run.page_rows import StagedPages
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer, check_archive, scan
from diptych.types import Failure, Kind, Response


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
    """True if an archived response is an HTML page."""
    return response.status == 200 and is_html(response.header("Content-Type"), response.body[:1024])


def _add_answers(index: ArchiveIndex, warc: int, file: Path) -> str:
    try:
        check_archive(file)
        for offset, response in scan(file):
            index.add(response.url, warc, offset, is_page=is_page_of(response))
    except ArchiveError as error:
        return str(error)
    return ""


PAGES_AT_ONCE = 32
"""number of pages parsed at once, if the choice of the next URL does not depend on them"""


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
        room = 1 if crawl.guides.has_memory else PAGES_AT_ONCE
        now = float(crawl.stats.downloads)
        with ExitStack() as at_end, crawl.store.transaction() as transaction:
            at_end.callback(close_archives)
            while not watcher.stopped():
                answers.answer_all(now, lambda: crawl.checkpoint(transaction), watcher)
                if watcher.stopped():
                    break
                claims = crawl.next(now, room)
                if not claims:
                    wake = crawl.wake()
                    if wake is None:
                        break
                    now = max(now + 1.0, wake)
                    continue
                for claim, reading, pointer in self._answers(crawl, claims, workers, watcher):
                    now += 1.0
                    crawl.fetched(claim, reading, now, pointer)
                    if crawl.stats.downloads % 64 == 0:
                        crawl.checkpoint(transaction)
                    watcher.tick()

    def _answers(
        self, crawl: Crawl, claims: Sequence[Claim], workers: Workers, watcher: Watcher
    ) -> Iterator[tuple[Claim, ReadAnswer | Failure, Pointer | None]]:
        """Parse the archived responses to `claims` in parallel, and yield them in the same order.

        If the watcher stops the crawl, the remaining responses are not yielded; the next invocation
        returns their claims to the queue.  Sketches are created at the same time, so that no page
        is parsed twice.
        """

        def tick() -> None:
            watcher.tick()
            if watcher.stopped():
                raise _StoppedError

        index, archive = ArchiveIndex(crawl.store), crawl.store.archive
        folder = str(crawl.store.folder)
        places = [index.place(claim.url) for claim in claims]
        known = [
            self.staged.answer(claim.url, claim.depth)
            if self.staged is not None and place is not None and claim.kind is Kind.PAGE
            else None
            for claim, place in zip(claims, places, strict=True)
        ]
        tasks = (
            ArchivedTask(
                claim.kind, folder, archive.path(place[0]), place[1], claim.depth, crawl.langs
            )
            for claim, place, page in zip(claims, places, known, strict=True)
            if place is not None and page is None
        )
        results = workers.run_tasks(tasks, ALONE, tick=tick, limits=READ_LIMITS)
        with suppress(_StoppedError):
            for claim, place, page in zip(claims, places, known, strict=True):
                if place is not None and page is not None:
                    yield claim, page, Pointer(*place, 0)
                    continue
                result = None if place is None else next(results)
                if place is None or result is None:
                    yield claim, _missing(claim, crawl.langs), None
                else:
                    *_, read = read_result(claim.url, result)
                    assert read is not None
                    yield claim, read[0], Pointer(*place, 0)


class _StoppedError(Exception):
    """The watcher stopped the crawl."""


def _missing(claim: Claim, langs: tuple[str, ...]) -> ReadAnswer | Failure:
    """The answer to a claim that is not archived; everything is allowed without a robots.txt."""
    if claim.kind is not Kind.ROBOTS:
        return Failure(claim.url, Reason.NOT_ARCHIVED)
    response = Response(claim.url, 404, (), b"", 0.0)
    reading = read_answer(claim.kind, response, depth=claim.depth, langs=langs, with_sketch=False)
    return reading._replace(status=0)
