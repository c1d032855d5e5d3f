"""Parse all pages of an archive into rows, in the order of the archive."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from diptych.engine.limits import PAGE_LIMITS
from diptych.engine.reading import ReadTask, read_result
from diptych.engine.replay import is_page_of
from diptych.engine.workers import ALONE, Workers
from diptych.errors import ArchiveError
from diptych.page.answer import ReadAnswer
from diptych.run.page_rows import PageRow, row_of
from diptych.run.scan import check_archive, scan
from diptych.run.warc import Origin, compose, compose_info
from diptych.sources.archives import is_useful
from diptych.types import Kind, Response, Url


class CopiedRecords:
    """A new WARC file for records that are copied from another archive."""

    def __init__(self, stream: BinaryIO, name: str, origin: str, *, agent: str) -> None:
        self._stream = stream
        self._origin = origin
        stream.write(compose_info(agent=agent, name=name, now=0.0))

    def add(self, response: Response, offset: int) -> int:
        """Copy the response at an offset of the other archive; return the offset of the copy."""
        place = self._stream.tell()
        self._stream.write(compose(response, Origin(self._origin, offset)))
        return place


@dataclass
class ParsedArchive:
    """The rows of an archive; iterating parses them."""

    path: Path
    langs: Sequence[str]
    is_wanted: Callable[[Url], object]
    workers: Workers
    tick: Callable[[], None]
    copies: CopiedRecords | None = None
    """the file to which useful records are copied; the rows then have the offsets of the copies"""
    pages: int = 0
    """number of pages so far"""
    responses: int = 0
    """number of responses so far, pages included"""
    damage: str = ""
    """message about damage; the responses before it are used"""
    _others: deque[PageRow] = field(default_factory=deque)
    _places: deque[tuple[Url, int]] = field(default_factory=deque)

    def __iter__(self) -> Iterator[PageRow]:
        results = self.workers.run_tasks(self._tasks(), ALONE, tick=self.tick, limits=PAGE_LIMITS)
        for result in results:
            url, place = self._places.popleft()
            *_, read = read_result(url, result)
            assert read is not None
            answer = read[0]
            self.pages += 1
            if isinstance(answer, ReadAnswer):
                yield row_of(answer, place)
            else:
                yield PageRow(url, place, is_page=True)
            yield from self._rest()
        yield from self._rest()

    def _rest(self) -> Iterator[PageRow]:
        while self._others:
            yield self._others.popleft()

    def _tasks(self) -> Iterator[ReadTask]:
        """The tasks that parse the pages; other responses only need their places."""
        try:
            check_archive(self.path)
            for offset, response in scan(self.path):
                self.tick()
                is_page = is_page_of(response)
                if not self.is_wanted(response.url) or not (is_page or is_useful(response)):
                    continue
                self.responses += 1
                place = self.copies.add(response, offset) if self.copies else offset
                if is_page:
                    self._places.append((response.url, place))
                    yield ReadTask(
                        Kind.PAGE, response, 0, tuple(self.langs), with_sketch=True,
                        with_record=False,
                    )  # fmt: skip
                else:
                    self._others.append(PageRow(response.url, place, is_page=False))
        except ArchiveError as error:
            self.damage = str(error)
