"""Copy the records of captures from the archives of a crawl into the archive of a run.

Records that are near each other in one archive are fetched in one request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from diptych.engine.patience import is_passing, unreadable
from diptych.engine.ranges import Part, PoliteReader
from diptych.engine.replay import is_page_of
from diptych.errors import SourceError
from diptych.protocols import Watcher
from diptych.reason import Reason, http_status
from diptych.run.archived import ArchiveIndex
from diptych.run.captures import Captures
from diptych.run.copied_records import Capture, copy_record
from diptych.run.store import Store
from diptych.types import Failure

GAP = 1 << 14  # bytes between two records that are fetched in vain rather than with two requests
MAX_PART = 1 << 22  # bytes of several records that are fetched together
MAX_REFUSALS = 3  # parts in a row to which access is denied: does the service refuse everything?
DENIED = "http_403"
"""the reason of records to which access was denied; they are requested again by the next command"""
_GONE = (403, 404, 410, 416)


def joined(captures: Iterable[Capture]) -> Iterator[tuple[Part, list[Capture]]]:
    """Join captures, sorted by file and offset, into parts of files to request.

    At most `GAP` bytes before each record are fetched in vain.

    >>> near = [Capture("", "", "", "", "a.warc.gz", offset, 100) for offset in (0, 150, 900_000)]
    >>> [(part.start, part.length, len(found)) for part, found in joined(near)]
    [(0, 250, 2), (900000, 100, 1)]
    """
    part: Part | None = None
    found: list[Capture] = []
    for each in captures:
        if part is not None:
            end = max(part.end, each.offset + each.length)
            is_near = part.path == each.file and each.offset <= part.end + GAP
            if is_near and (end == part.end or end - part.start <= MAX_PART):
                part = part._replace(length=end - part.start)
                found.append(each)
                continue
            yield part, found
        part, found = Part(each.file, each.offset, each.length), [each]
    if part is not None:
        yield part, found


@dataclass(frozen=True, slots=True)
class RecordCopier:
    """Fetches the records of captures, checks them, and appends them to the archive of a run."""

    store: Store
    reader: PoliteReader
    base: str
    """where the archives are"""
    listed: str
    """path of a file that every service with this crawl has"""
    watcher: Watcher
    now: float
    """the time to record in new archives"""

    def copy(self, limit: int | None) -> None:
        """Copy the records of at most `limit` pages per site that have not been copied yet."""
        captures = Captures(self.store)
        captures.try_again(DENIED)
        total = captures.choose(limit)
        if not total:
            return
        self.watcher.begin("fetching", total, "pages")
        waiting: dict[Part, list[Capture]] = {}
        refusals = 0
        for part, data in self.reader.read_all(
            _noted(joined(captures.wanted()), waiting), self.watcher.tick
        ):
            found = waiting.pop(part)
            if isinstance(data, Failure):
                refusals = refusals + 1 if data.reason == DENIED else 0
                if refusals == MAX_REFUSALS:
                    self._require_access(captures)
                    refusals = 0
                self._give_up(captures, found, part, data)
            else:
                refusals = 0
                self._save(captures, part, found, data)
            self.watcher.advance(len(found))
        with self.store.transaction():
            ArchiveIndex(self.store).queue_missing()

    def _require_access(self, captures: Captures) -> None:
        """Raise `SourceError` if access is denied to a file that can be read otherwise.

        The service is asked for as long as if it were busy.
        """
        path = captures.copied_file() or self.listed
        with self.reader.patience.if_denied():
            data = self.reader.read(Part(path, 0, 1), self.watcher.tick)
        if isinstance(data, Failure) and is_passing(data):
            self._stop(captures, path, data)

    def _give_up(
        self, captures: Captures, found: Sequence[Capture], part: Part, failure: Failure
    ) -> None:
        """Record that an archive has no such records, or stop because nothing can be fetched."""
        if http_status(failure.reason) not in _GONE:
            self._stop(captures, part.path, failure)
        with self.store.transaction():
            for each in found:
                captures.fail(each, failure.reason)

    def _stop(self, captures: Captures, path: str, failure: Failure) -> NoReturn:
        kept = f"{captures.copied():,} pages have been fetched and are kept"
        raise SourceError(f"{unreadable(self.base + path, failure)} ({kept})")

    def _save(self, captures: Captures, part: Part, found: Sequence[Capture], data: bytes) -> None:
        """Check records, and append them to the archive of the run, all or none."""
        index = ArchiveIndex(self.store)
        with self.store.transaction():
            for each in found:
                start = each.offset - part.start
                member = data[start : start + each.length]
                copied = copy_record(member, each, self.base + each.file)
                if isinstance(copied, Reason):
                    is_short = len(member) < each.length
                    captures.fail(each, Reason.CUT_OFF if is_short else copied)
                    continue
                pointer = self.store.archive.append(copied.data, self.now)
                is_page = is_page_of(copied.response)
                index.add(each.url, pointer.warc, pointer.offset, is_page=is_page)


def _noted(
    parts: Iterator[tuple[Part, list[Capture]]], waiting: dict[Part, list[Capture]]
) -> Iterator[Part]:
    """Yield the parts, and note the captures in each."""
    for part, found in parts:
        waiting[part] = found
        yield part
