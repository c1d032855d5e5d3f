"""Copying records: what is requested, what is kept, and what a bad service does to it."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from hypothesis import given
from hypothesis import strategies as st
from support.crawled import site_pages, write_crawl

from bench.support.crawl_files import CRAWL, CrawlFiles
from bench.support.range_server import Asked, RangeServer, Refusal, serve_ranges
from diptych.engine import patience
from diptych.engine.fetch import FetchSettings
from diptych.engine.patience import Patience
from diptych.engine.ranges import PoliteReader, open_store
from diptych.errors import SourceError
from diptych.protocols import Watcher
from diptych.run.archived import ArchiveIndex
from diptych.run.captures import Block, Captures
from diptych.run.copied_records import Capture
from diptych.run.store import Store
from diptych.sources import crawl_records
from diptych.sources.crawl_captures import index_list
from diptych.sources.crawl_records import RecordCopier, joined
from diptych.types import Url

SETTINGS = FetchSettings(agent="TestBot/1.0", allow_private=True)
LISTED = index_list(CRAWL)


async def no_sleep(seconds: float) -> None:
    """Do not wait for anything."""


@pytest.fixture
def files(tmp_path: Path) -> CrawlFiles:
    return write_crawl(tmp_path / "cc")


@pytest.fixture
def server(files: CrawlFiles) -> Iterator[RangeServer]:
    with serve_ranges(files.root) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path, files: CrawlFiles) -> Iterator[Store]:
    (tmp_path / "run").mkdir()
    with Store(tmp_path / "run") as store:
        save(store, *(capture_of(each) for each in files.records))
        yield store


def capture_of(record) -> Capture:
    return Capture(
        Url(record.page.url), "20260920103059", "eng", record.digest, record.file, record.offset,
        record.length,
    )  # fmt: skip


def save(store: Store, *found: Capture) -> None:
    Captures(store).save(
        CRAWL, "", Block("", 0, 0), [("phares.example", each) for each in found], {}
    )


def copy(store: Store, base: str, limit: int | None = None, connections: int = 1) -> None:
    times = iter(range(10_000))
    waiting = Patience(0.0, no_sleep, lambda: 1e3 * next(times))
    reading = PoliteReader(open_store(base, SETTINGS), waiting, connections)
    with reading as reader:
        RecordCopier(store, reader, base, LISTED, Watcher(), 1.8e9).copy(limit)


def archived(store: Store) -> dict[str, bytes]:
    """The bodies of the copied pages."""
    index = ArchiveIndex(store)
    found = {}
    for url in index.pages():
        response = store.archive.read(*index.place(url))
        assert response is not None
        assert response.url == url
        found[url] = response.body
    return found


BODIES = {page.url: page.body for page in site_pages()}


@pytest.mark.parametrize("connections", [1, 3])
def test_pages_are_copied_whole_and_once(store: Store, server: RangeServer, connections: int):
    copy(store, server.url, connections=connections)
    assert archived(store) == BODIES
    asked = len(server.log)
    copy(store, server.url)
    assert len(server.log) == asked, "nothing is asked twice"
    assert server.busiest <= connections


def test_the_archive_of_the_run_names_the_origin(
    store: Store, server: RangeServer, files, tmp_path
):
    copy(store, server.url)
    data = (tmp_path / "run/warc/diptych-00001.warc.gz").read_bytes()
    origins = {
        each.headers["WARC-Target-URI"]: (
            each.headers["WARC-Source-URI"], each.headers["WARC-Source-Range"],
            each.headers["WARC-Date"],
        )
        for each in ArchiveIterator(io.BytesIO(data))
        if "WARC-Target-URI" in each.headers
    }  # fmt: skip
    assert origins == {
        each.page.url: (
            server.url + each.file, f"bytes={each.offset}-{each.offset + each.length - 1}",
            "2026-09-20T10:30:59Z",
        )
        for each in files.records
    }  # fmt: skip


def test_only_the_ranges_needed_are_fetched(store: Store, server, files, monkeypatch):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    copy(store, server.url)
    needed = {(each.file, each.offset, each.length) for each in files.records}
    assert set(server.parts()) == needed
    assert len(server.log) == len(needed)


def test_near_records_are_fetched_together(store: Store, server: RangeServer, files: CrawlFiles):
    copy(store, server.url)
    assert len(server.log) == files.archives
    assert server.sent() < sum(each.length for each in files.records) + 30 * 1000


def test_a_limit_is_kept_and_can_be_raised(store: Store, server: RangeServer):
    copy(store, server.url, 4)
    assert len(archived(store)) == 4
    copy(store, server.url, 10)
    assert len(archived(store)) == 10
    copy(store, server.url)
    assert archived(store) == BODIES
    requested = [place for path, start, length in server.parts() for place in [(path, start)]]
    assert len(requested) == len(set(requested))


def test_a_service_that_goes_away_loses_nothing(store: Store, server, monkeypatch):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    chance = random.Random(3)
    left = 0

    def refuse(asked: Asked) -> Refusal | None:
        nonlocal left
        left -= 1
        return Refusal(chance.choice([500, 503, 429])) if left < 0 else None

    server.refuse = refuse
    for _ in range(4):
        left = 7
        with pytest.raises(SourceError, match="pages have been fetched and are kept"):
            copy(store, server.url)
    left = 100
    copy(store, server.url)
    assert archived(store) == BODIES
    assert len(server.parts()) == len(set(server.parts())) == 30


def test_a_missing_archive_costs_only_its_pages(store: Store, server: RangeServer, files):
    gone = files.records[0].file
    (files.root / gone).unlink()
    copy(store, server.url)
    kept = {each.page.url for each in files.records if each.file != gone}
    assert set(archived(store)) == kept
    assert Captures(store).failures() == {"http_404": 30 - len(kept)}


def test_access_denied_to_one_archive_is_no_end_but_to_all_is(store: Store, server, monkeypatch):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    denied: set[int] = set()
    server.refuse = lambda asked: Refusal(403) if asked.start in denied else None
    denied.add(server_start(store))
    copy(store, server.url)
    assert Captures(store).failures() == {"http_403": 1}
    assert len(archived(store)) == 29


def server_start(store: Store) -> int:
    captures = Captures(store)
    captures.choose(None)
    return next(captures.wanted()).offset


def test_a_service_that_denies_everything_ends_the_fetching(store: Store, server, monkeypatch):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    server.refuse = lambda asked: Refusal(403)
    with pytest.raises(SourceError, match=r"HTTP 403; the service is busy or refuses"):
        copy(store, server.url)
    asked = [each.path for each in server.log]
    assert asked[-patience.TRIES :] == [LISTED] * patience.TRIES, "it waits before it gives up"
    assert len(asked) == crawl_records.MAX_REFUSALS * patience.REFUSED_TRIES + patience.TRIES
    server.refuse = lambda asked: None
    copy(store, server.url)
    assert archived(store) == BODIES, "nothing is lost"


def test_a_service_that_denies_everything_later_is_asked_for_what_it_gave(
    store: Store, server, monkeypatch
):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    server.refuse = lambda asked: Refusal(403) if len(server.log) >= 5 else None
    with pytest.raises(SourceError, match=r"\(5 pages have been fetched and are kept\)"):
        copy(store, server.url)
    probed = server.log[-1].path
    assert probed in {each.path for each in server.log[:5]}
    server.refuse = lambda asked: None
    copy(store, server.url)
    assert archived(store) == BODIES
    assert len(server.parts()) == len(set(server.parts())) == 30, "nothing is fetched twice"


def test_denied_archives_do_not_end_the_others_and_are_tried_again(
    store: Store, server, files, monkeypatch
):
    monkeypatch.setattr(crawl_records, "GAP", 0)
    order = sorted({each.file for each in files.records})
    denied = set(order[: len(order) // 2])
    count = sum(each.file in denied for each in files.records)
    assert count > 2 * crawl_records.MAX_REFUSALS
    server.refuse = lambda asked: Refusal(403) if asked.path in denied else None
    copy(store, server.url)
    assert len(archived(store)) == 30 - count
    assert Captures(store).failures() == {"http_403": count}
    denied.clear()
    copy(store, server.url)
    assert archived(store) == BODIES
    assert Captures(store).failures() == {}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"offset": 7}, "unreadable"),
        ({"offset": 10_000_000}, "http_416"),
        ({"length": 30_000_000}, "cut_off"),
        ({"digest": "A" * 32}, "other_content"),
        ({"url": Url("http://phares.example/elsewhere")}, "no_record"),
    ],
)
def test_an_index_that_lies_harms_only_itself(store: Store, server, files, changed, reason):
    Captures(store)
    liar = capture_of(files.records[3])
    with store.transaction():
        store.db.execute("DELETE FROM captures WHERE url = ?", (liar.url,))
    save(store, liar._replace(**changed))
    copy(store, server.url)
    assert Captures(store).failures() == {reason: 1}
    assert len(archived(store)) == 29


def test_two_pages_at_one_place_are_no_problem(store: Store, server: RangeServer, files):
    double = capture_of(files.records[3])._replace(url=Url("http://phares.example/copy"))
    save(store, double)
    copy(store, server.url)
    assert archived(store) == BODIES
    assert Captures(store).failures() == {"no_record": 1}


def test_a_stop_keeps_what_is_there(store: Store, server: RangeServer, monkeypatch):
    monkeypatch.setattr(crawl_records, "GAP", 0)

    class Stop(Watcher):
        done = 0
        stage = ""

        def tick(self) -> None:
            if self.done >= 5:
                raise KeyboardInterrupt

    with PoliteReader(open_store(server.url, SETTINGS), Patience(0.0)) as reader:
        copier = RecordCopier(store, reader, server.url, LISTED, Stop(), 0.0)
        with pytest.raises(KeyboardInterrupt):
            copier.copy(None)
    assert len(archived(store)) == 5
    copy(store, server.url)
    assert archived(store) == BODIES


# -- joining ---------------------------------------------------------------------------------------

PLACES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 500), st.integers(1, 60)), max_size=20
)


@given(PLACES, st.integers(0, 50), st.integers(1, 200))
def test_parts_cover_all_records_and_little_else(places, gap, most):
    found = [Capture(Url(""), "", "", "", *place) for place in sorted(places)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawl_records, "GAP", gap)
        patch.setattr(crawl_records, "MAX_PART", most)
        parts = list(joined(found))
    assert [each for _, inside in parts for each in inside] == found
    assert len({part for part, _ in parts}) == len(parts)
    for part, inside in parts:
        assert part.start == inside[0].offset
        assert part.end == max(each.offset + each.length for each in inside)
        assert part.length <= max(most, max(each.length for each in inside))
        covered = {
            byte for each in inside for byte in range(each.offset, each.offset + each.length)
        }
        assert part.length - len(covered) <= gap * (len(inside) - 1)
