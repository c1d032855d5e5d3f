"""Find the pages of sites in Common Crawl's columnar index (Parquet), or choose the sites there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.run.captures import LISTED, Block, Captures
from diptych.run.copied_records import Capture
from diptych.sources.cdx_index import Filter, capture_of
from diptych.sources.common_crawl import (
    IS_PAGE,
    ROWS,
    SCAN,
    candidates,
    connected,
    file_pattern,
    index_columns,
)
from diptych.sources.crawl_captures import index_codes
from diptych.text.urls import host_of, site_name
from diptych.types import Site

CHOSEN = ""
"""the name under which the search for all sites is recorded"""
_PLACES = ("fetch_time", "warc_filename", "warc_record_offset", "warc_record_length")
_FIELDS = (
    "url", "timestamp", "mime", "status", "digest", "length", "offset", "filename", "languages",
)  # fmt: skip
_QUERY = """
SELECT url, strftime(make_timestamp(epoch_us(fetch_time)), '%Y%m%d%H%M%S'),
       coalesce(content_mime_detected, content_mime_type), fetch_status, content_digest,
       warc_record_length, warc_record_offset, warc_filename, content_languages
FROM {scan} WHERE {condition}
"""
"""the fields have the names of the URL index"""


@dataclass(frozen=True, slots=True)
class Choice:
    """The conditions on the sites that the index chooses."""

    at_least: int = 5
    """minimum number of pages in each of two languages"""
    limit: int | None = None
    """maximum number of sites"""
    suffixes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ColumnarReader:
    """Reads Parquet files of the columnar index, and saves the captures of sites."""

    captures: Captures
    paths: Sequence[str]
    watcher: Watcher

    def find(
        self, crawl: str, sites: Sequence[Site], scope: Scope, langs: Sequence[str], choice: Choice
    ) -> None:
        """Find the captures of sites in a crawl; without sites, those that the index chooses."""
        if self.captures.is_searched(crawl, CHOSEN):
            return
        self.watcher.begin("reading the index")
        chosen = sites
        if not sites:
            chosen = [
                site
                for each in candidates(
                    self.paths, langs, at_least=choice.at_least, limit=choice.limit,
                    suffixes=choice.suffixes,
                )
                for site in group([each.start])
            ]  # fmt: skip
            scope = Scope.of(chosen)
        self.watcher.tick()
        wanted = Filter(index_codes(langs), scope.site_of)
        block = Block(self.paths[0], 0, 0)
        with self.captures.store.transaction():
            self.captures.save_blocks(crawl, CHOSEN, [block])
            rows = self._rows(crawl, chosen)
            while some := list(islice(rows, ROWS)):
                found, skipped = _sorted_out(some, wanted)
                self.captures.save(crawl, CHOSEN, block, found, skipped)
                self.watcher.tick()

    def _rows(self, crawl: str, sites: Sequence[Site]) -> Iterator[dict[str, Any]]:
        """The pages of sites in a crawl, in the form of the URL index."""
        if not sites:
            return
        seeds = [seed for site in sites for seed in site.seeds]
        hosts = sorted({host_of(seed) for seed in seeds})
        names = sorted({host_of(f"http://{site_name(seed)}") for seed in seeds})
        parameters: dict[str, Any] = {"paths": [file_pattern(path) for path in self.paths]}
        with connected(2000, None) as db:
            columns = index_columns(db, parameters, _PLACES)
            condition = (
                f"{IS_PAGE} AND starts_with(warc_filename, $prefix)"
                " AND (url_host_private_domain IN (SELECT unnest($names))"
                " OR url_host_name IN (SELECT unnest($hosts)))"
            )
            if "subset" in columns:
                condition += " AND subset = 'warc'"
            parameters |= {"prefix": f"crawl-data/{crawl}/", "names": names, "hosts": hosts}
            cursor = db.execute(_QUERY.format(scan=SCAN, condition=condition), parameters)
            while rows := cursor.fetchmany(ROWS):
                yield from (dict(zip(_FIELDS, row, strict=True)) for row in rows)


def _sorted_out(
    rows: Sequence[Mapping[str, Any]], wanted: Filter
) -> tuple[list[tuple[str, Capture]], Mapping[tuple[str, str], int]]:
    """The captures of interest with their sites, and the numbers of others by site and reason."""
    found: list[tuple[str, Capture]] = []
    skipped = Counter[tuple[str, str]]()
    for row in rows:
        site, capture = capture_of(row, wanted)
        if not site:
            continue
        skipped[site, LISTED] += 1
        if isinstance(capture, str):
            skipped[site, capture] += 1
        else:
            found.append((site, capture))
    return found, skipped
