"""Replay engine: index WARC archives, and answer a crawl from them without network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych.engine.engine import Answerer
from diptych.errors import ArchiveError
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.body import is_html
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.run.store import Store
from diptych.run.warc import Pointer, scan
from diptych.text.urls import url_key
from diptych.types import Failure, Kind, Response, Url


def archive_files(paths: Iterable[Path]) -> list[Path]:
    """The WARC files among some files and folders, in order of name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(
                file for file in path.rglob("*") if file.name.endswith((".warc", ".warc.gz"))
            )
            if not found:
                raise ArchiveError(f"{path} holds no *.warc or *.warc.gz file")
            files.extend(found)
        elif path.is_file():
            files.append(path)
        else:
            raise ArchiveError(f"there is no file {path}")
    return files


def index_archives(store: Store, files: Sequence[Path]) -> list[str]:
    """Find all responses in archives once, and say which archives are damaged.

    What stands before the damage is used.  A file that has grown or was mended is read again.
    """
    for file in files:
        path, size = str(file.resolve()), file.stat().st_size
        known = store.db.execute("SELECT size FROM warcs WHERE path = ?", (path,)).fetchone()
        if known == (size,):
            continue
        with store.transaction():
            id = store.archive.add(path, size)
            error = _index(store, id, file)
            store.db.execute("UPDATE warcs SET size = ?, error = ? WHERE id = ?", (size, error, id))
            # What was missing may be there now.
            store.db.execute(
                "UPDATE urls SET state = 0, due = 0, attempts = 0 WHERE reason = ?",
                (Reason.NOT_ARCHIVED,),
            )
    rows = store.db.execute("SELECT error FROM warcs WHERE error != '' ORDER BY path")
    return [error for (error,) in rows]


def _index(store: Store, warc: int, file: Path) -> str:
    count = 0
    try:
        for located in scan(file):
            response = located.response
            kept = response.status == 200 and is_html(
                response.header("Content-Type"), response.body[:1024]
            )
            store.db.execute(
                "INSERT INTO archive (key, url, warc, offset, page) VALUES (?,?,?,?,?)"
                " ON CONFLICT (key) DO UPDATE SET warc = excluded.warc, offset = excluded.offset,"
                " page = excluded.page WHERE excluded.page >= page",
                (url_key(response.url), response.url, warc, located.offset, kept),
            )
            count += 1
    except ArchiveError as error:
        if not count:
            raise
        return str(error)
    return ""


def archived_pages(store: Store) -> list[Url]:
    """All pages in the archives, by URL."""
    rows = store.db.execute("SELECT url FROM archive WHERE page = 1 ORDER BY url")
    return [url for (url,) in rows]


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Answers a crawl out of the archives that were indexed into its store.

    Time is the number of answers so far: the same archives give the same crawl, to the bit.
    """

    with_sketches: bool = True
    """True if pages are sketched while they are parsed, so that none is parsed twice"""

    def run(self, crawl: Crawl, answers: Answerer, watcher: Watcher) -> None:
        """Crawl until nothing is left or the watcher stops it."""
        now = float(crawl.stats.downloads)
        with crawl.store.transaction() as transaction:
            while not watcher.stopped():
                answers.answer_at_once(now)
                claims = crawl.next(now, 1)
                if not claims:
                    wake = crawl.wake()
                    if wake is None:
                        break
                    now = max(now + 1.0, wake)
                    continue
                reading, pointer = self._answer(crawl, claims[0])
                now += 1.0
                crawl.fetched(claims[0], reading, now, pointer)
                if crawl.stats.downloads % 64 == 0:
                    transaction.checkpoint()
                watcher.tick()

    def _answer(self, crawl: Crawl, claim: Claim) -> tuple[ReadAnswer | Failure, Pointer | None]:
        row = crawl.store.db.execute(
            "SELECT warc, offset FROM archive WHERE key = ?", (url_key(claim.url),)
        ).fetchone()
        response = crawl.store.archive.read(*row) if row else None
        if response is None:
            if claim.kind is not Kind.ROBOTS:
                return Failure(claim.url, Reason.NOT_ARCHIVED), None
            response = Response(claim.url, 404, (), b"", 0.0)
            return read_answer(claim.kind, response)._replace(status=0), None
        reading = read_answer(
            claim.kind,
            response,
            depth=claim.depth,
            langs=crawl.langs,
            with_sketch=self.with_sketches,
        )
        return reading, Pointer(row[0], row[1], 0)
