"""Common Crawl as a source of pages: its options, and copying of its records into a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from diptych.api.declare import count_option, option
from diptych.errors import ConfigError, SourceError, option_name

if TYPE_CHECKING:
    from diptych.api.discover import DiscoverOptions
    from diptych.api.mine import MineOptions
    from diptych.engine.fetch import FetchSettings
    from diptych.engine.ranges import PoliteReader
    from diptych.frontier.scope import Scope
    from diptych.reports.progress import Monitor
    from diptych.run.captures import CaptureCounts, Captures
    from diptych.run.store import Store
    from diptych.types import Site, Url

BASE = "https://data.commoncrawl.org/"
CHOICE = ("min_pages", "max_candidates", "suffix")
"""options by which an index chooses sites"""
_SHOWN = 5  # sites named in a note


def min_pages_option() -> Any:
    """Declare the option for the pages that a site chosen by an index must have."""
    return count_option("With --cc-index: minimum number of pages per site in each language.", 5)


def max_candidates_option() -> Any:
    """Declare the option for the number of sites that an index chooses."""
    return count_option("With --cc-index: maximum number of sites.")


def suffix_option() -> Any:
    """Declare the option for the suffixes of hosts that an index may choose."""
    return option(
        "With --cc-index: only hosts with this suffix, such as fr or co.uk (repeatable).",
        default=(), metavar="TLD",
    )  # fmt: skip


def require_index(asked: CommonCrawlOptions | DiscoverOptions) -> None:
    """Raise `ConfigError` if sites are to be chosen from an index, and there is none."""
    for name in CHOICE:
        if not asked.cc_index and getattr(asked, name) != getattr(type(asked), name):
            raise ConfigError(
                f"{option_name(name)} chooses sites from an index: specify its files with"
                f" {option_name('cc_index')}"
            )


def require_effect(asked: MineOptions) -> None:
    """Raise `ConfigError` for an option that does nothing beside the others."""
    for name in CHOICE:
        if asked.sites and getattr(asked, name) != getattr(type(asked), name):
            raise ConfigError(
                f"{option_name(name)} chooses sites from an index, but the sites are named: leave"
                " out the option or the sites"
            )
    if asked.common_crawl and asked.max_minutes is not None:
        raise ConfigError(
            f"{option_name('max_minutes')} limits the time that a site is asked, but"
            f" {option_name('common_crawl')} asks no site: use {option_name('max_pages')}"
        )


@dataclass(frozen=True, kw_only=True)
class CommonCrawlOptions:
    """Options for mining pages of Common Crawl."""

    common_crawl: tuple[str, ...] = option(
        "Mine the pages of the sites in this crawl of Common Crawl, such as CC-MAIN-2026-40,"
        " instead of the web (repeatable).",
        default=(), metavar="CRAWL",
    )  # fmt: skip
    cc_base: str = option(
        "With --common-crawl: where its files are (https://, s3://, file:// or a folder).",
        default=BASE, metavar="URL",
    )  # fmt: skip
    cc_index: tuple[str, ...] = option(
        "With --common-crawl: Parquet files of its columnar index to find pages in, and sites"
        " unless they are named (files, folders, patterns).",
        default=(), metavar="PARQUET",
    )  # fmt: skip
    min_pages: int = min_pages_option()
    max_candidates: int | None = max_candidates_option()
    suffix: tuple[str, ...] = suffix_option()

    def sources(self) -> tuple[str, ...]:
        """The crawls and index files, as `run.toml` lists them; raises `ConfigError`."""
        for name in ("cc_index", "cc_base"):
            if not self.common_crawl and getattr(self, name) != getattr(type(self), name):
                raise ConfigError(
                    f"{option_name(name)} needs the name of a crawl, such as"
                    f" {option_name('common_crawl')} CC-MAIN-2026-40"
                )
        require_index(self)
        if not self.common_crawl:
            return ()
        from diptych.sources.crawl_captures import check_crawl

        return (*map(check_crawl, self.common_crawl), *self.cc_index)


@dataclass(frozen=True, slots=True)
class CrawlSource:
    """Copies pages of Common Crawl into a run."""

    asked: CommonCrawlOptions
    langs: Sequence[str]
    sites: Sequence[Site]
    """the sites that the user named; empty if the index chooses them"""
    settings: FetchSettings
    delay: float
    connections: int
    max_pages: int | None
    scope: str
    """extent of a site"""

    def copy(self, store: Store, monitor: Monitor) -> None:
        """Find the captures of the sites, copy their records, and say what was found."""
        from diptych.engine.patience import Patience
        from diptych.engine.ranges import PoliteReader, open_store
        from diptych.run.captures import Captures
        from diptych.sources.crawl_captures import index_list
        from diptych.sources.crawl_records import RecordCopier

        captures, base = Captures(store), self._base()
        files = open_store(base, self.settings)
        with PoliteReader(files, Patience(self.delay), self.connections) as reader:
            for crawl in self.asked.common_crawl:
                self._find(crawl, captures, reader, monitor)
            self._require_pages(captures.counts())
            listed = index_list(self.asked.common_crawl[0])
            copier = RecordCopier(store, reader, base, listed, monitor, time.time())
            copier.copy(self.max_pages)
            monitor.notes.extend(self._notes(captures, reader))
        if not captures.copied():
            raise SourceError("none of the pages could be fetched: " + _reasons(captures))

    def _base(self) -> str:
        base = self.asked.cc_base
        return base if base.endswith("/") else f"{base}/"

    def _find(self, crawl: str, captures: Captures, reader: PoliteReader, monitor: Monitor) -> None:
        from diptych.frontier.scope import Scope
        from diptych.sources.columnar_captures import Choice, ColumnarReader
        from diptych.sources.crawl_captures import IndexReader

        asked, scope = self.asked, Scope.of(self.sites, kind=self.scope)
        if asked.cc_index:
            choice = Choice(asked.min_pages, asked.max_candidates, asked.suffix)
            columnar = ColumnarReader(captures, asked.cc_index, monitor)
            columnar.find(crawl, self.sites, scope, self.langs, choice)
        else:
            index = IndexReader(captures, reader, self._base(), monitor)
            index.find(crawl, self.sites, scope, self.langs)

    def _require_pages(self, counts: dict[str, CaptureCounts]) -> None:
        """Raise `SourceError` if the index lists no page to copy."""
        if any(each.pages for each in counts.values()):
            return
        crawls = ", ".join(self.asked.common_crawl)
        if not self.sites:
            raise SourceError(
                f"the index files list no site with pages of {crawls} in two of these languages;"
                f" use other files or a lower {option_name('min_pages')}"
            )
        lines = [_why_nothing(site.name, counts.get(site.name), self.langs) for site in self.sites]
        more = f" and {len(lines) - _SHOWN} other sites" if len(lines) > _SHOWN else ""
        raise SourceError(
            f"{crawls} has no pages to mine: {'; '.join(lines[:_SHOWN])}{more};"
            f" try another crawl, or mine the site itself without {option_name('common_crawl')}"
        )

    def _notes(self, captures: Captures, reader: PoliteReader) -> Iterator[str]:
        """A few lines that state the number of pages found, and why there are no more."""
        from diptych.sources.crawl_records import DENIED

        counts = captures.counts()
        crawls = ", ".join(self.asked.common_crawl)
        pages = sum(each.pages for each in counts.values())
        listed = sum(each.listed for each in counts.values())
        said = f"{crawls}: {captures.copied():,} of {pages:,} pages fetched, of {listed:,} captures"
        if reader.requests:
            said += f"; this time {reader.requests:,} requests, {reader.received / 1e6:,.1f} MB"
        yield said
        if captures.failures():
            yield f"{crawls}: records that could not be used: {_reasons(captures)}"
        if DENIED in captures.failures():
            yield f"{crawls}: to ask again for what was denied, run the same command again"
        empty = [site.name for site in self.sites if not _pages(counts.get(site.name))]
        for name in empty[:_SHOWN]:
            yield f"{crawls}: {_why_nothing(name, counts.get(name), self.langs)}"
        if len(empty) > _SHOWN:
            yield f"{crawls}: nothing to mine of {len(empty) - _SHOWN:,} other sites"


def captured_sites(store: Store, scope: Scope) -> list[Site]:
    """The named sites with all their copied pages as seeds."""
    from diptych.run.archived import ArchiveIndex
    from diptych.types import Site

    pages: dict[str, list[Url]] = {}
    for url in ArchiveIndex(store).pages():
        if (name := scope.site_of(url)) is not None:
            pages.setdefault(name, []).append(url)
    return [Site(name, tuple(urls)) for name, urls in sorted(pages.items())]


def _pages(counts: CaptureCounts | None) -> int:
    return counts.pages if counts else 0


def _why_nothing(name: str, counts: CaptureCounts | None, langs: Sequence[str]) -> str:
    """The reason why no page of a site can be copied."""
    from diptych.sources.cdx_index import NO_PAGE, OTHER_LANGUAGE

    if counts is None or not counts.listed:
        return f"no capture of {name} is in the index"
    others = counts.skipped.get(OTHER_LANGUAGE, 0)
    if others:
        return f"none of the {others:,} pages of {name} is in {' or '.join(langs)}"
    no_pages = counts.skipped.get(NO_PAGE, 0)
    if no_pages:
        return f"the {counts.listed:,} captures of {name} are errors, redirects or no HTML"
    return f"none of the {counts.listed:,} captures of {name} can be used"


def _reasons(captures: Captures) -> str:
    """The reasons why records could not be copied, with their numbers."""
    from diptych.reports.reasons import listed

    found = sorted(captures.failures().items(), key=lambda item: (-item[1], item[0]))
    return listed(found)
