"""The replay engine: indexes WARC archives, and drives a crawl from them without the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
"""number of pages parsed at once, if the choice of the next URL does not depend on them"""


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Drives a crawl from archives that have been indexed in the store of the crawl.

    The number of responses so far serves as the clock, so the same archives always give the same
    crawl.
    """

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
                for claim, reading, pointer in _answers(crawl, claims, workers, watcher):
                    now += 1.0
                    crawl.fetched(claim, reading, now, pointer)
                    if crawl.stats.downloads % 64 == 0:
                        crawl.checkpoint(transaction)
                    watcher.tick()


class _StoppedError(Exception):
    """The watcher stopped the crawl."""


def _answers(
    crawl: Crawl, claims: Sequence[Claim], workers: Workers, watcher: Watcher
) -> Iterator[tuple[Claim, ReadAnswer | Failure, Pointer | None]]:
    """Parse the archived responses to `claims` in parallel, and yield them in the same order.

    If the watcher stops the crawl, the remaining responses are not yielded; the next invocation
    returns their claims to the queue.  Sketches are created at the same time, so that no page is
    parsed twice.
    """

    def tick() -> None:
        watcher.tick()
        if watcher.stopped():
            raise _StoppedError

    index, archive = ArchiveIndex(crawl.store), crawl.store.archive
    folder = str(crawl.store.folder)
    places = [index.place(claim.url) for claim in claims]
    tasks = (
        ArchivedTask(claim.kind, folder, archive.path(place[0]), place[1], claim.depth, crawl.langs)
        for claim, place in zip(claims, places, strict=True)
        if place is not None
    )
    results = workers.run_tasks(tasks, ALONE, tick=tick, limits=READ_LIMITS)
    with suppress(_StoppedError):
        for claim, place in zip(claims, places, strict=True):
            result = None if place is None else next(results)
            if place is None or result is None:
                yield claim, _missing(claim, crawl.langs), None
            else:
                *_, read = read_result(claim.url, result)
                assert read is not None
                yield claim, read[0], Pointer(*place, 0)


def _missing(claim: Claim, langs: tuple[str, ...]) -> ReadAnswer | Failure:
    """The answer to a claim that is not archived; everything is allowed without a robots.txt."""
    if claim.kind is not Kind.ROBOTS:
        return Failure(claim.url, Reason.NOT_ARCHIVED)
    response = Response(claim.url, 404, (), b"", 0.0)
    reading = read_answer(claim.kind, response, depth=claim.depth, langs=langs, with_sketch=False)
    return reading._replace(status=0)
