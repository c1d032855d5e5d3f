"""Rebuilds stand-off corpora by reading their texts again from the web archives.

A record is first looked up by the file name and offset in the corpus.  If archives have been
recompressed, merged or renamed, all archives are read once to find the record by its digest.
A text is used only if its hash matches; texts that cannot be rebuilt are counted by reason.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from diptych.corpus.from_file import lines
from diptych.corpus.personal_data import redacted
from diptych.errors import ArchiveError, ConfigError, CorpusError
from diptych.files import reading
from diptych.page.body import decompress, is_html
from diptych.page.read import read_content
from diptych.reason import Reason
from diptych.run.page_index import PageIndex, PagePlace
from diptych.run.scan import scan
from diptych.run.warc import read_at
from diptych.sources.archives import local_archives
from diptych.stages.export.standoff import BareUnit, read_header, read_line, text_hash
from diptych.text.digests import body_digest
from diptych.text.spans import by_path, texts_at
from diptych.types import Response, Url
from diptych.units import DocumentPair, Side, Unit

log = logging.getLogger(__name__)

REASONS = (Reason.NO_ARCHIVE, Reason.NO_RECORD, Reason.OTHER_CONTENT, Reason.NO_TEXT)
"""reasons why a text cannot be rebuilt, ordered by how far the search got: no file has the stated
name; no file has a page with the stated URL; the page has other content; the page does not contain
the text"""
PAGES_KEPT = 64  # units are ordered by page pair
MAX_COPIES = 8  # records with the same content that are tried


class Lost(NamedTuple):
    """A unit that cannot be rebuilt, with the URL of the first missing text and the reason."""

    id: str
    url: Url
    reason: str


class _Read(NamedTuple):
    """A page that was read from an archive, with its texts by DOM path."""

    url: Url
    digest: str
    texts: dict[str, list[str]]


class Archives:
    """WARC files, and an index of their pages."""

    def __init__(self, paths: Iterable[Path | str]) -> None:
        self.files = local_archives(paths)
        self._named: defaultdict[str, list[Path]] = defaultdict(list)
        for file in self.files:
            self._named[file.name].append(file)
        self._page = lru_cache(maxsize=PAGES_KEPT)(read_page)

    def with_text(self, side: Side, wanted: str, length: int) -> Side | Reason:
        """Find the text of `side`; return the side with its text, or the reason for failure.

        The text must have the hash `wanted` and the given length.
        """
        named = self._named.get(_name(side.warc), ())
        reason = Reason.NO_RECORD if named else Reason.NO_ARCHIVE
        for file in named:
            page = self._page(file, side.offset)
            if page is None or page.url != side.url:
                continue
            if page.digest != side.digest:
                reason = max(reason, Reason.OTHER_CONTENT, key=REASONS.index)
                continue
            for text in _fitting(page, side, wanted, length):
                return side._replace(text=text)
            reason = Reason.NO_TEXT
        return self._from_elsewhere(side, wanted, length, reason)

    def _from_elsewhere(
        self, side: Side, wanted: str, length: int, reason: Reason
    ) -> Side | Reason:
        """Find the text in another record of the same page, and return the side with its text.

        `reason` is why the text is not in the record that the corpus names.  If no other record
        contains the text either, return `reason` or a later one in `REASONS`.
        """
        places = self._index.places(side.digest, side.url, MAX_COPIES)
        for file, offset in places:
            page = self._page(self.files[file], offset)
            for text in _fitting(page, side, wanted, length) if page else ():
                return side._replace(text=text, warc=str(self.files[file]), offset=offset)
        if places:
            return Reason.NO_TEXT
        if self._index.has(side.url):
            return max(reason, Reason.OTHER_CONTENT, key=REASONS.index)
        return reason

    @cached_property
    def _index(self) -> PageIndex:
        """An index of the pages in all archives, built on first use."""
        return PageIndex(
            page for number, file in enumerate(self.files) for page in _pages(number, file)
        )


def _name(warc: str) -> str:
    """The file name at the end of a path from any operating system."""
    return warc.replace("\\", "/").rpartition("/")[2]


def _pages(number: int, file: Path) -> Iterator[PagePlace]:
    """Yield the locations of all pages in an archive, up to the first damaged record.

    `number` is the index of the archive in the list of archives.
    """
    log.info("indexing archive=%s", file)
    try:
        for offset, response in scan(file):
            digest, is_page = _content(response)
            if is_page:
                yield PagePlace(digest, response.url, number, offset)
    except ArchiveError as error:
        log.warning("damaged archive=%s error=%s", file, error)


def read_page(file: Path, offset: int) -> _Read | None:
    """Read the page at an offset in an archive; return None if there is no page."""
    response = None
    with reading(file, error=ArchiveError), file.open("rb") as stream:
        if offset >= file.stat().st_size:
            return None
        with suppress(ArchiveError):  # no record starts there: the file only has the same name
            response = read_at(stream, offset)
    if response is None:
        return None
    return _Read(response.url, _content(response)[0], by_path(read_content(response)[0]))


def _content(response: Response) -> tuple[str, bool]:
    """Return the digest of a response body, and True if the body is an HTML page."""
    body, _ = decompress(response.body, response.header("content-encoding"))
    return body_digest(body), is_html(response.header("content-type"), body[:4096])


def _fitting(page: _Read, side: Side, wanted: str, length: int) -> Iterator[str]:
    """Yield the text at the location of `side` if it has the wanted hash and length."""
    for text in texts_at(page.texts, side.path, side.at):
        # A corpus that was exported with redaction is rebuilt with redaction.
        for change in (str, redacted):
            said = change(text)
            if len(said) == length and text_hash(said) == wanted:
                yield said
                return


def rebuilt(path: Path, archives: Archives) -> Iterator[Unit | Lost]:
    """Yield the units of a stand-off corpus in order, either with their texts or as `Lost`."""
    rest = lines(path)
    _header(path, rest)
    for number, line in rest:
        try:
            bare = read_line(line)
        except ValueError as error:
            raise _unreadable(path, number, line, error) from error
        yield _with_texts(bare, archives)


def _with_texts(bare: BareUnit, archives: Archives) -> Unit | Lost:
    sides: list[Side] = []
    for side, wanted, length in zip(bare.unit.sides, bare.hashes, bare.lengths, strict=True):
        found = archives.with_text(side, wanted, length)
        if isinstance(found, str):
            return Lost(bare.id, side.url, found)
        sides.append(found)
    return bare.unit._replace(sides=tuple(sides))


def _header(path: Path, rest: Iterator[tuple[int, bytes]]) -> tuple[str, ...]:
    number, line = next(rest, (1, b""))
    try:
        return read_header(line)
    except ValueError as error:
        raise _unreadable(path, number, line, error) from error


def _unreadable(path: Path, number: int, line: bytes, error: ValueError) -> CorpusError:
    what = str(error) if line.endswith(b"\n") else f"truncated or not a stand-off corpus: {error}"
    return CorpusError(
        f"{path}, line {number}: {what}; make it again with: diptych export RUN --format standoff"
    )


class Rebuild:
    """A corpus that is rebuilt from stand-off corpora and archives, and can be exported."""

    def __init__(self, paths: Sequence[Path], archives: Archives) -> None:
        self._paths = tuple(paths)
        self._archives = archives
        self.langs = tuple(
            dict.fromkeys(lang for path in self._paths for lang in _header(path, lines(path)))
        )
        self.lost: Counter[str] = Counter()
        """for each reason, the number of units that the last call of `units` could not rebuild"""

    def units(self) -> Iterator[Unit]:
        """Yield the units that can be rebuilt, and count the others in `lost`."""
        self.lost.clear()
        for path in self._paths:
            for found in rebuilt(path, self._archives):
                if isinstance(found, Lost):
                    self.lost[found.reason] += 1
                    log.debug("lost id=%s url=%s reason=%s", *found)
                else:
                    yield found

    def documents(self) -> Iterator[DocumentPair]:
        """Raise `ConfigError`, because a stand-off corpus has no documents."""
        raise ConfigError(
            "a stand-off corpus has no documents; export them from the run itself with: "
            "diptych export RUN --format docs"
        )


def open_rebuild(paths: Sequence[Path], archives: Iterable[Path | str]) -> Rebuild:
    """Open stand-off corpora for export, together with the files or folders of their archives."""
    return Rebuild(paths, Archives(archives))
