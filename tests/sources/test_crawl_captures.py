"""Finding the captures of sites in a crawl behind a real server: requests, resuming, messages."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.crawled import SITE, site_pages, write_crawl

from bench.support.crawl_files import CRAWL, CrawledPage
from bench.support.range_server import Refusal, serve_ranges
from diptych.engine.fetch import FetchSettings
from diptych.engine.patience import Patience
from diptych.engine.ranges import PoliteReader, open_store
from diptych.errors import ConfigError, SourceError
from diptych.frontier.scope import Scope, group
from diptych.protocols import Watcher
from diptych.run.captures import Captures
from diptych.run.store import Store
from diptych.sources.crawl_captures import IndexReader, check_crawl, index_codes
from diptych.types import Url

SETTINGS = FetchSettings(agent="TestBot/1.0", allow_private=True)
INDEX = f"cc-index/collections/{CRAWL}/indexes/"


async def no_sleep(seconds: float) -> None:
    """Do not wait for anything."""


@contextmanager
def index_reader(store: Store, base: str) -> Iterator[IndexReader]:
    times = iter(range(10_000))  # always later: nothing waits
    files = open_store(base, SETTINGS)
    with PoliteReader(files, Patience(0.0, no_sleep, lambda: 1e3 * next(times))) as reader:
        yield IndexReader(Captures(store), reader, base, Watcher())


def find(
    store: Store, base: str, *sites: str, langs: tuple[str, ...] = ("en", "fr"), kind: str = "site"
) -> Captures:
    named = group([Url(site) for site in sites or (SITE + "/",)], kind=kind)
    with index_reader(store, base) as reader:
        reader.find(CRAWL, named, Scope.of(named, kind=kind), langs)
    return Captures(store)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "run").mkdir()
    with Store(tmp_path / "run") as store:
        yield store


def urls(captures: Captures) -> set[str]:
    captures.choose(None)
    return {each.url for each in captures.wanted()}


def test_all_pages_of_the_site_are_found_and_little_else_is_read(tmp_path: Path, store: Store):
    files = write_crawl(tmp_path / "cc")
    with serve_ranges(tmp_path / "cc") as server:
        captures = find(store, server.url)
        assert urls(captures) == {page.url for page in site_pages()}
        blocks = server.parts(f"{INDEX}cdx-")
        # The site has 30 lines in blocks of 10: three or four, and the one before.
        assert len(blocks) == len(set(blocks)) <= 5
        assert server.sent(INDEX) < 20_000
    captures.choose(None)
    places = {(each.url, each.file, each.offset, each.length) for each in captures.wanted()}
    assert places == {
        (each.page.url, each.file, each.offset, each.length) for each in files.records
    }
    assert captures.counts()["phares.example"].listed == 30


def test_neighbours_in_the_index_share_blocks(tmp_path: Path, store: Store):
    hosts = [f"http://phares{n}.example" for n in range(4)]
    write_crawl(
        tmp_path / "cc", [CrawledPage(f"{host}/", b"<p>x", "eng") for host in hosts], rest=50
    )
    with serve_ranges(tmp_path / "cc") as server:
        captures = find(store, server.url, *(f"{host}/" for host in hosts))
        blocks = server.parts(f"{INDEX}cdx-")
        assert len(blocks) == len(set(blocks))
    assert urls(captures) == {f"{host}/" for host in hosts}


def test_a_folder_and_a_server_give_the_same(tmp_path: Path, store: Store):
    write_crawl(tmp_path / "cc")
    assert len(urls(find(store, f"{tmp_path / 'cc'}/"))) == 30


def test_a_killed_search_goes_on_where_it_was(tmp_path: Path, store: Store):
    write_crawl(tmp_path / "cc")
    asked = 0

    def refuse(request: object) -> Refusal | None:
        nonlocal asked
        asked += 1
        return Refusal(404) if asked == 6 else None  # in the middle of the blocks

    with serve_ranges(tmp_path / "cc") as server:
        server.refuse = refuse
        with pytest.raises(SourceError, match=r"cannot read .*cdx-.*HTTP 404"):
            find(store, server.url)
        assert 0 < len(urls(Captures(store))) < 30
        find(store, server.url)
        find(store, server.url)  # there is nothing left to ask
        assert len(server.parts()) == len(set(server.parts()))
        blocks = [part for part in server.parts() if "cdx-" in part[0]]
        assert len(blocks) == 4
    assert len(urls(Captures(store))) == 30


def test_only_pages_in_the_languages_are_kept(tmp_path: Path, store: Store):
    pages = [
        *site_pages(),
        CrawledPage(f"{SITE}/de/", b"<p>Guten Tag", "deu"),
        CrawledPage(f"{SITE}/short", b"<p>?", ""),
        CrawledPage(f"{SITE}/old", b"", status=301, headers=(("Location", "/en/"),)),
        CrawledPage(f"{SITE}/a.pdf", b"%PDF", mime="application/pdf"),
        CrawledPage("https://other.example/en/", b"<p>no", "eng"),
    ]
    write_crawl(tmp_path / "cc", pages)
    captures = find(store, f"{tmp_path / 'cc'}/")
    assert urls(captures) == {page.url for page in site_pages()} | {f"{SITE}/short"}
    counts = captures.counts()["phares.example"]
    assert (counts.listed, counts.pages) == (34, 31)
    assert counts.skipped == {"other_language": 1, "no_page": 2}


def test_a_language_that_the_index_does_not_know_lets_all_pages_in(tmp_path: Path, store: Store):
    pages = [*site_pages(), CrawledPage(f"{SITE}/de/", b"<p>Guten Tag", "deu")]
    write_crawl(tmp_path / "cc", pages)
    assert len(urls(find(store, f"{tmp_path / 'cc'}/", langs=("en", "tet")))) == 31
    assert index_codes(["en", "tet"]) == {}


def test_scopes_limit_the_pages(tmp_path: Path, store: Store):
    hosts = [CrawledPage(f"http://fr.phares.example/{n}", b"<p>%d" % n, "fra") for n in range(3)]
    write_crawl(tmp_path / "cc", [*site_pages(), *hosts])
    base = f"{tmp_path / 'cc'}/"
    captures = find(store, base, "http://fr.phares.example/", kind="host")
    assert urls(captures) == {page.url for page in hosts}
    find(store, base, f"{SITE}/en/x", kind="prefix")
    rest = urls(captures) - {page.url for page in hosts}
    assert rest == {page.url for page in site_pages() if "/en/" in page.url}


def test_the_last_capture_of_a_url_is_taken(tmp_path: Path, store: Store):
    page = site_pages()[0]
    again = CrawledPage(page.url, b"<p>new", "eng", day=3)
    files = write_crawl(tmp_path / "cc", [page, again])
    captures = find(store, f"{tmp_path / 'cc'}/")
    captures.choose(None)
    (only,) = captures.wanted()
    (record,) = [each for each in files.records if each.page is again]
    assert (only.file, only.offset, only.at) == (record.file, record.offset, "20260923103059")


def test_a_crawl_that_is_not_there_is_named(tmp_path: Path, store: Store):
    write_crawl(tmp_path / "cc", [])
    named = group([Url(SITE + "/")])
    with (
        serve_ranges(tmp_path / "cc") as server,
        index_reader(store, server.url) as reader,
        pytest.raises(SourceError) as caught,
    ):
        reader.find("CC-MAIN-2026-99", named, Scope.of(named), ("en", "fr"))
    assert "there is no crawl CC-MAIN-2026-99 at http://127.0.0.1" in str(caught.value)
    assert "index.commoncrawl.org" in str(caught.value)


def test_a_private_server_says_which_option_is_missing(tmp_path: Path, store: Store):
    named = group([Url(SITE + "/")])
    with serve_ranges(tmp_path) as server:
        files = open_store(server.url, FetchSettings(agent="TestBot"))
        with PoliteReader(files, Patience(0.0)) as polite:
            reader = IndexReader(Captures(store), polite, server.url, Watcher())
            with pytest.raises(SourceError, match="add allow_private"):
                reader.find(CRAWL, named, Scope.of(named), ("en", "fr"))


def test_a_busy_service_is_waited_for_and_then_reported(tmp_path: Path, store: Store):
    write_crawl(tmp_path / "cc")
    with serve_ranges(tmp_path / "cc") as server:
        busy = [Refusal(503)] * 3
        server.refuse = lambda asked: busy.pop() if busy else None
        assert len(urls(find(store, server.url))) == 30
        server.refuse = lambda asked: Refusal(503)
        with pytest.raises(SourceError, match="wait some minutes, then run the same command"):
            find(store, server.url, "https://zzz.example/")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (f"crawl-data/{CRAWL}/cc-index.paths.gz", b"no gzip", "is not a list of files"),
        (
            f"crawl-data/{CRAWL}/cc-index.paths.gz",
            gzip.compress(b"\xff", mtime=0),
            "not a list of files",
        ),
        (f"crawl-data/{CRAWL}/cc-index.paths.gz", gzip.compress(b"a/b", mtime=0), "names no index"),
        (
            f"crawl-data/{CRAWL}/cc-index.paths.gz",
            gzip.compress(b"cc-index/../../../etc/cluster.idx", mtime=0),
            "names no index",
        ),
        (f"{INDEX}cluster.idx", b"x" * 100_000, "a line without end"),
        (f"{INDEX}cluster.idx", b"x\ny\n", "lists no blocks"),
        (f"{INDEX}cdx-00000.gz", b"x" * 100_000, "cannot be read: it is not compressed"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, store: Store, file, content, said):
    write_crawl(tmp_path / "cc")
    (tmp_path / "cc" / file).write_bytes(content)
    with pytest.raises(SourceError, match=said):
        find(store, f"{tmp_path / 'cc'}/")


def test_a_name_that_is_none_is_a_mistake():
    assert check_crawl("CC-MAIN-2026-40") == "CC-MAIN-2026-40"
    for name in ("", "../x", "CC MAIN", "a/b", "-x"):
        with pytest.raises(ConfigError, match="is not the name of a crawl"):
            check_crawl(name)
