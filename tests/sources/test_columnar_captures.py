"""Captures from the columnar index: of named sites, and of sites that it chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crawled import SITE, site_pages, write_crawl

from bench.support.crawl_files import CRAWL, CrawledPage, CrawlFiles
from diptych.errors import SourceError
from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.run.captures import Captures
from diptych.run.store import Store
from diptych.sources.columnar_captures import Choice, ColumnarReader
from diptych.types import Url

MORE = [
    CrawledPage(f"{SITE}/de/", b"<p>Guten Tag", "deu"),
    CrawledPage(f"{SITE}/short", b"<p>?", ""),
    CrawledPage(f"{SITE}/old", b"", status=301),
    *(CrawledPage(f"https://fr.bi.example/{n}", b"<p>fr %d" % n, "fra") for n in range(6)),
    *(CrawledPage(f"https://bi.example/{n}", b"<p>en %d" % n, "eng") for n in range(7)),
    *(CrawledPage(f"https://mono.example/{n}", b"<p>mono %d" % n, "eng") for n in range(9)),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> CrawlFiles:
    root = tmp_path_factory.mktemp("cc")
    return write_crawl(root, [*site_pages(), *MORE], with_table=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as store:
        yield store


def find(store: Store, files: CrawlFiles, *sites: str, crawl: str = CRAWL, **choice) -> Captures:
    named = group([Url(site) for site in sites])
    captures = Captures(store)
    reader = ColumnarReader(captures, [str(files.root / "cc-index/table")], Watcher())
    reader.find(crawl, named, Scope.of(named), ("en", "fr"), Choice(**choice))
    captures.choose(None)
    return captures


def test_the_captures_of_a_named_site_are_those_of_the_archives(store: Store, files: CrawlFiles):
    captures = find(store, files, f"{SITE}/")
    wanted = {page.url for page in site_pages()} | {f"{SITE}/short"}
    places = {
        (each.page.url, each.page.languages, each.digest, each.file, each.offset, each.length)
        for each in files.records
        if each.page.url in wanted
    }
    found = list(captures.wanted())
    assert {(each.url, *each[2:]) for each in found} == places
    assert {each.at for each in found} == {"20260920103059"}
    counts = captures.counts()["phares.example"]
    assert (counts.listed, counts.skipped) == (32, {"other_language": 1})


def test_sites_are_chosen_by_their_languages(store: Store, files: CrawlFiles):
    captures = find(store, files)
    assert captures.sites() == ["bi.example", "phares.example"]
    assert len(list(captures.wanted())) == 13 + 31


def test_the_choice_has_limits(store: Store, files: CrawlFiles):
    captures = find(store, files, limit=1)
    assert captures.sites() == ["phares.example"]


def test_the_index_is_read_once(store: Store, files: CrawlFiles, tmp_path: Path):
    find(store, files, f"{SITE}/")
    gone = CrawlFiles(tmp_path / "gone")
    assert len(list(find(store, gone, f"{SITE}/").wanted())) == 31


def test_pages_of_other_crawls_are_not_taken(store: Store, files: CrawlFiles):
    assert find(store, files, f"{SITE}/", crawl="CC-MAIN-2026-30").sites() == []


def test_files_that_are_no_index_are_named(store: Store, tmp_path: Path):
    with pytest.raises(SourceError, match="no Parquet file at"):
        find(store, CrawlFiles(tmp_path / "none"), f"{SITE}/")
    assert not Captures(store).is_searched(CRAWL, "")
