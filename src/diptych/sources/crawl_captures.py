"""Find the pages of sites in the URL index of a Common Crawl archive; no site is asked."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from diptych.engine.patience import unreadable
from diptych.engine.ranges import Part, PoliteReader
from diptych.errors import ConfigError, SourceError, in_one_line
from diptych.frontier.scope import Scope
from diptych.protocols import Watcher
from diptych.reason import http_status
from diptych.run.captures import LISTED, Block, Captures
from diptych.run.copied_records import Capture
from diptych.sources.cdx_index import (
    MAX_COMPRESSED,
    Filter,
    KeyRange,
    block_lines,
    capture_of,
    entries,
    key_ranges,
)
from diptych.sources.cdx_search import ClusterSearch
from diptych.sources.common_crawl import codes_of
from diptych.types import Failure, Site

CRAWLS = "https://index.commoncrawl.org/"
_CRAWL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")
_MAX_PATHS = 1_000_000  # bytes of a list of files; Common Crawl's have 1 kB
_CLUSTER = re.compile(r"cc-index/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*/cluster\.idx\Z")
_KEPT_BLOCKS = 4
_MISSING = (403, 404, 410)  # S3 denies access to files that do not exist


def check_crawl(name: str) -> str:
    """Return the name of a crawl, or raise `ConfigError` if it is impossible."""
    if not _CRAWL.match(name):
        said = f"'{in_one_line(name)}' is not the name of a crawl, such as CC-MAIN-2026-40"
        raise ConfigError(f"{said}; all names: {CRAWLS}")
    return name


def index_list(crawl: str) -> str:
    """The path of the list of the index files of a crawl."""
    return f"crawl-data/{crawl}/cc-index.paths.gz"


def index_codes(langs: Sequence[str]) -> dict[str, str]:
    """The codes of languages in the index; empty if it cannot identify one of them.

    Its pages then have the codes of other languages, or none: any page may be of use.

    >>> index_codes(["en", "mt"]), index_codes(["en", "tet"])
    ({'eng': 'en', 'mlt': 'mt'}, {})
    """
    if not all(codes_of(lang) for lang in langs):
        return {}
    return {code: lang for lang in langs for code in codes_of(lang)}


@dataclass(frozen=True, slots=True)
class IndexReader:
    """Reads the URL index of crawls, and saves the captures of sites."""

    captures: Captures
    reader: PoliteReader
    base: str
    """where the files are, for messages"""
    watcher: Watcher
    _blocks: dict[Block, bytes] = field(default_factory=dict)
    """the last blocks that were read: neighbours in the index share blocks"""

    def find(self, crawl: str, sites: Sequence[Site], scope: Scope, langs: Sequence[str]) -> None:
        """Find the captures of sites in a crawl; what has been read before is not read again."""
        chosen = Filter(index_codes(langs), scope.site_of)
        ranges = {site.name: _ranges(site, scope.kind) for site in sites}
        self.watcher.begin("reading the index", len(sites), "sites")
        search: ClusterSearch | None = None
        for site in sorted(sites, key=lambda site: ranges[site.name]):
            if not self.captures.is_searched(crawl, site.name):
                search = search or self._search(crawl)
                self.captures.save_blocks(crawl, site.name, _placed(search, ranges[site.name]))
            for block in self.captures.unread_blocks(crawl, site.name):
                self._read_block(crawl, site.name, block, ranges[site.name], chosen)
            self.watcher.advance()
            self.watcher.tick()

    def _search(self, crawl: str) -> ClusterSearch:
        path = self._cluster_path(crawl)
        size = self.reader.size(path)
        if isinstance(size, Failure):
            raise SourceError(unreadable(self.base + path, size))
        return ClusterSearch(path, size, self._read)

    def _cluster_path(self, crawl: str) -> str:
        """The path of `cluster.idx`, from the list of the index files of a crawl."""
        listed = index_list(crawl)
        data = self.reader.read(Part(listed, 0, _MAX_PATHS), self.watcher.tick)
        if isinstance(data, Failure) and http_status(data.reason) in _MISSING:
            said = f"there is no crawl {crawl} at {self.base} ({data.detail} for {listed})"
            raise SourceError(f"{said}; the names of crawls are on {CRAWLS}")
        if isinstance(data, Failure):
            raise SourceError(unreadable(self.base + listed, data))
        try:
            text = zlib.decompressobj(31).decompress(data, 100 * _MAX_PATHS).decode("ascii")
        except (zlib.error, UnicodeDecodeError) as fault:
            said = f"{self.base}{listed} is not a list of files"
            raise SourceError(f"{said}; is this a copy of Common Crawl?") from fault
        path = next((line for line in text.split() if _CLUSTER.match(line)), None)
        if path is None:
            raise SourceError(f"{self.base}{listed} names no index: there is no cluster.idx in it")
        return path

    def _read(self, part: Part) -> bytes:
        data = self.reader.read(part, self.watcher.tick)
        if isinstance(data, Failure):
            raise SourceError(unreadable(self.base + part.path, data))
        return data

    def _read_block(
        self, crawl: str, site: str, block: Block, ranges: Sequence[KeyRange], chosen: Filter
    ) -> None:
        """Read a block, and save the captures in it."""
        if block not in self._blocks:
            data = self._read(Part(block.file, block.offset, min(block.length, MAX_COMPRESSED)))
            if len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.pop(next(iter(self._blocks)))
            self._blocks[block] = data
        found: list[tuple[str, Capture]] = []
        skipped = Counter[tuple[str, str]]()
        try:
            for fields in entries(block_lines(self._blocks[block]), ranges):
                of, capture = capture_of(fields, chosen)
                skipped[of or site, LISTED] += 1
                if isinstance(capture, str):
                    skipped[of or site, capture] += 1
                else:
                    found.append((of, capture))
        except ValueError as fault:
            place = f"block at byte {block.offset:,} of {self.base}{block.file}"
            raise SourceError(f"the {place} cannot be read: {fault}") from fault
        self.captures.save(crawl, site, block, found, skipped)


def _ranges(site: Site, scope: str) -> list[KeyRange]:
    """The keys of all pages of a site, in order."""
    return sorted({keys for seed in site.seeds for keys in key_ranges(seed, scope)})


def _placed(search: ClusterSearch, ranges: Sequence[KeyRange]) -> Iterable[Block]:
    """The blocks of a site, with the paths of their files."""
    folder = search.path.rpartition("/")[0]
    found = [block._replace(file=f"{folder}/{block.file}") for block in search.blocks(ranges)]
    if not found:
        raise SourceError(f"{search.path} is not an index: it lists no blocks")
    return found
