from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.blocks import walk
from support.examples import examples
from support.filenames import file_name
from support.stores import begin, commit
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.cli import main as warcio

from diptych.errors import StoreError
from diptych.frontier.queue import Entry, Frontier, State
from diptych.page.content import unpack_outline
from diptych.run import archive as store_module
from diptych.run.queries import SQL
from diptych.run.scan import scan
from diptych.run.store import SCHEMA_VERSION, Store
from diptych.run.warc import Pointer, compose
from diptych.text.urls import url_key
from diptych.types import (
    Decision,
    Kind,
    LangScore,
    Link,
    Outlook,
    Page,
    PageRecord,
    Response,
    Sketch,
    Url,
)

SITE = 1


def url(number: object) -> Url:
    return Url(f"http://example.org/{number}")


def record(where: Url, **fields: object) -> PageRecord:
    values: dict[str, object] = {
        "url": where, "lang": "en", "langs": (LangScore("en", 0.5),), "title": "A lamp", "depth": 1,
        "size": 10, "text_length": 5, "digest": f"sha1:{where}", **fields,
    }  # fmt: skip
    return PageRecord(**values)  # type: ignore[arg-type]


def answer(where: Url, body: bytes = b"<p>lamp</p>") -> Response:
    return Response(where, 200, (("Content-Type", "text/html"),), body, 1_700_000_000.0)


def add_page(store: Store, number: object, body: bytes = b"<p>lamp</p>") -> Pointer:
    """Save a page as a crawl does: response, fetch, record and state."""
    where = url(number)
    with store.transaction():
        frontier = Frontier(store.db)
        frontier.add([Entry(where, 1, 0.0)])
        pointer = store.archive.append(compose(answer(where, body)), 1_700_000_000.0)
        store.save_fetch(SITE, where, 0.0, status=200, size=len(body), reason="", pointer=pointer)
        store.save_page(SITE, Page(record(where), (Link(url(0)),), ()), pointer)
        store.db.execute("UPDATE urls SET state = 2 WHERE key = ?", (url_key(where),))
    return pointer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path, agent="test/1") as opened:
        opened.site_id("example.org")
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for the round trips, which only add to it."""
    with Store(tmp_path_factory.mktemp("shared")) as opened:
        opened.site_id("example.org")
        begin(opened)
        yield opened


# -- round trips -------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
langs = st.lists(
    st.builds(
        LangScore,
        st.sampled_from(["en", "fr", "zh-Hant", "x-klingon"]),
        st.integers(0, 1000).map(lambda n: n / 1000),
    ),
    max_size=3,
).map(tuple)


def round_trip(store: Store, page: Page) -> tuple[PageRecord, list[Link]]:
    store.db.execute("DELETE FROM pages")
    store.db.execute("DELETE FROM urls")
    Frontier(store.db).add([Entry(page.url, 1, 0.0)])
    store.save_page(SITE, page, Pointer(1, 2, 3))
    (again,) = store.records(SITE)
    ((source, links),) = store.links(SITE)
    assert source == page.url
    return again, links


@pytest.fixture(scope="module", autouse=True)
def _warc(shared: Store) -> None:
    shared.archive.add("/an/archive.warc.gz", 9)


@given(
    title=texts,
    langs=langs,
    numbers=st.tuples(*[st.integers(0, 2**40)] * 3),
    html_lang=texts,
    header=texts,
    canonical=st.one_of(st.none(), st.just(url("canon"))),
    at=st.floats(0, 4e9, allow_nan=False),
)
@example("\x00 \U0010ffff \u0000a", (), (0, 0, 0), "\u202e", "'; DROP TABLE pages; --", None, 0.0)
def test_pages_come_back_as_they_were(
    shared: Store,
    title: str,
    langs: tuple[LangScore, ...],
    numbers: tuple[int, int, int],
    html_lang: str,
    header: str,
    canonical: Url | None,
    at: float,
) -> None:
    saved = PageRecord(
        url("a"), langs[0].lang if langs else "", langs, title, *numbers, "sha1:ABC", html_lang,
        header, canonical, at,
    )  # fmt: skip
    assert round_trip(shared, Page(saved, (), ()))[0] == saved


link_texts = st.tuples(*[texts] * 6)


@given(st.lists(link_texts, max_size=4))
def test_links_come_back_as_they_were_and_in_order(
    shared: Store, contexts: list[tuple[str, ...]]
) -> None:
    links = tuple(Link(url(number), *context) for number, context in enumerate(contexts))
    assert tuple(round_trip(shared, Page(record(url("a")), links, ()))[1]) == links


@pytest.mark.parametrize("odd", ["\ud800", "a\udfffb", "\udc80\udcff"])
def test_lone_surrogates_do_no_harm(shared: Store, odd: str) -> None:
    # Python makes them of damaged bytes; neither SQLite nor JSON can hold them.
    page = Page(record(url("a"), title=odd, html_lang=odd), (Link(url("b"), anchor=odd),), ())
    again, links = round_trip(shared, page)
    assert len(again.title) >= 1
    assert links[0].url == url("b")


def test_page_read_again_replaces_the_old_one(store: Store) -> None:
    add_page(store, "a")
    pointer = add_page(store, "a")
    assert len(list(store.records(SITE))) == 1
    assert store.db.execute("SELECT offset FROM pages").fetchone() == (pointer.offset,)


def test_pages_of_a_site_come_in_the_order_of_their_urls(store: Store) -> None:
    for number in (3, 1, 2):
        add_page(store, number)
    assert [found.url for found in store.records(SITE)] == [url(1), url(2), url(3)]
    assert list(store.records(SITE + 1)) == []


def test_distinct_titles_of_a_site_by_language(store: Store) -> None:
    pages = [("en", "Bees"), ("en", "Bees"), ("en", "Wax"), ("fr", "Bees"), ("fr", "Cire")]
    pointer = store.archive.append(compose(answer(url(0), b"")), 1_700_000_000.0)
    for number, (lang, title) in enumerate(pages):
        page = Page(record(url(number), lang=lang, title=title), (), ())
        Frontier(store.db).add([Entry(page.url, 1, 0.0)])
        store.save_page(SITE, page, pointer)
    assert store.page_languages(SITE) == ["en", "fr"]
    assert sorted(store.titles(SITE, "en")) == ["Bees", "Wax"]
    assert sorted(store.titles(SITE)) == ["Bees", "Cire", "Wax"]
    assert [*store.titles(SITE + 1)] == store.page_languages(SITE + 1) == []
    assert store.stored([url(4), url(5)]) == {url(4)}


def test_announced_translations_are_links_of_their_pages_and_kept_once(store: Store) -> None:
    begin(store)
    link = Link(url("fr"), "alternate", "fr")
    for _ in range(2):
        store.announce(SITE, [(url("en"), link), (url("en"), Link(url("de"), "alternate", "de"))])
    found = [(source, link) for source, links in store.links(SITE) for link in links]
    assert sorted(found) == sorted(
        [(url("en"), link), (url("en"), Link(url("de"), "alternate", "de"))]
    )


def test_number_of_a_site_stays(store: Store) -> None:
    first = store.site_id("a.org")
    assert store.site_id("b.org") != first
    assert store.site_id("a.org") == first


def test_response_of_a_page_is_read_from_its_warc(store: Store) -> None:
    bodies = {number: f"<p>{number}</p>".encode() * (number + 1) for number in range(20)}
    for number, body in bodies.items():
        add_page(store, number, body)
    commit(store)
    for number, body in bodies.items():
        response = store.response(url(number))
        assert response is not None
        assert (response.url, response.body) == (url(number), body)
    assert store.response(url("unknown")) is None


def test_archive_that_is_gone_is_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "gone.warc.gz"
    id = store.archive.add(str(path), 100)
    with pytest.raises(StoreError, match=r"cannot read .*gone\.warc\.gz, which the run requires"):
        store.archive.read(id, 0)


# -- being killed ------------------------------------------------------------------------------


def warcs(folder: Path) -> list[Path]:
    return sorted((folder / "warc").glob("*.warc.gz"))


def scanned(folder: Path) -> list[Url]:
    return [located.response.url for path in warcs(folder) for located in scan(path)]


def check_with_warcio(*paths: Path) -> None:
    """`warcio check`: every record can be read and its digests match."""

    checker = Checker(SimpleNamespace(inputs=[str(path) for path in paths], verbose=False))
    for path in paths:
        checker.process_one(str(path))
    assert checker.exit_value == 0


def test_bytes_that_were_not_committed_are_cut_off(folder: Path) -> None:
    with Store(folder) as store:
        add_page(store, 1)
        add_page(store, 2)
    (path,) = warcs(folder)
    size = path.stat().st_size
    with path.open("ab") as stream:
        stream.write(compose(answer(url(3)))[:-7])
    with Store(folder) as store:
        assert path.stat().st_size == size
        add_page(store, 4)
    assert scanned(folder) == [url(1), url(2), url(4)]
    check_with_warcio(path)


def test_rolled_back_answers_leave_no_trace(folder: Path) -> None:
    with Store(folder) as store:
        add_page(store, 1)
        with suppress(KeyboardInterrupt), store.transaction():
            add_page(store, 2)
            raise KeyboardInterrupt
        assert scanned(folder) == [url(1)], "also while the run is open"
    with Store(folder) as store:
        assert [found.url for found in store.records(SITE)] == [url(1)]
        assert store.count("SELECT count(*) FROM urls") == 1
    assert scanned(folder) == [url(1)]


KILLED = """
import os, sys
from pathlib import Path
from diptych.run.queries import SQL
from diptych.run.store import Store
from diptych.types import Link, Page, PageRecord, Response, Url
from diptych.run.warc import compose
from diptych.frontier.queue import Entry, Frontier

store = Store(Path(sys.argv[1]))
store.site_id("example.org")
for number in range(10**6):
    where = Url(f"http://example.org/{number}")
    if not store.db.in_transaction:
        store.db.execute("BEGIN IMMEDIATE")
    Frontier(store.db).add([Entry(where, 1, 0.0)])
    body = os.urandom(20_000)
    pointer = store.archive.append(compose(Response(where, 200, (), body, 0.0)), 0.0)
    store.save_fetch(1, where, 0.0, status=200, size=9, reason="", pointer=pointer)
    store.save_page(1, Page(PageRecord(where, "", (), "", 0, 0, 0, ""), (), ()), pointer)
    if number % 3 == 0:
        store.archive.sync()
        store.db.execute("COMMIT")
        print(number, flush=True)
"""


def test_run_survives_a_kill_at_any_instant(folder: Path) -> None:
    package = str(Path(store_module.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(folder)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": package},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        committed = -1
        while committed < 30:
            line = process.stdout.readline()
            assert line, "the run ended by itself"
            committed = int(line)
        process.kill()
        rest = process.stdout.read().split()
    committed = int(rest[-1]) if rest else committed
    with Store(folder) as store:
        found = {found.url for found in store.records(SITE)}
        assert {url(number) for number in range(committed + 1)} <= found
        for where in found:
            response = store.response(where)
            assert response is not None
            assert len(response.body) == 20_000
        add_page(store, "after")
    assert set(scanned(folder)) == found | {url("after")}
    check_with_warcio(*warcs(folder))


def lose(path: Path, size: int) -> None:
    with path.open("r+b") as stream:
        stream.truncate(size)


@pytest.mark.parametrize("missing", ["all of it", "a record", "half a record", "a byte"])
def test_pages_lost_in_a_power_failure_are_queued_again(folder: Path, missing: str) -> None:
    with Store(folder) as store:
        store.site_id("example.org")
        pointers = [add_page(store, number) for number in range(3)]
        store.finish("corpus.tsv", "key")
    (path,) = warcs(folder)
    last = pointers[2]
    end = last.offset + last.length
    size = {"all of it": 0, "a record": last.offset, "half a record": end - last.length // 2}
    lose(path, size.get(missing, end - 1))
    lost = 3 if missing == "all of it" else 1
    with Store(folder) as store:
        kept = [found.url for found in store.records(SITE)]
        assert kept == [url(number) for number in range(3 - lost)]
        queued = store.db.execute("SELECT url FROM urls WHERE state = 0 ORDER BY url").fetchall()
        assert queued == [(url(number),) for number in range(3 - lost, 3)]
        assert store.count("SELECT count(*) FROM fetches") == 3 - lost
        assert not store.is_finished("corpus.tsv", "key"), "it has segments of the lost pages"
        for where in kept:
            assert store.response(where) is not None
        for number in range(3 - lost, 3):
            add_page(store, number)
    assert scanned(folder) == [url(number) for number in range(3)]
    check_with_warcio(path)


def test_power_failure_loses_nothing_in_other_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "ROTATE_AT", 1000)
    with Store(folder) as store:
        store.site_id("example.org")
        for number in range(8):
            add_page(store, number)
    first, *others = warcs(folder)
    assert len(others) >= 2
    in_first = {located.response.url for located in scan(first)}
    first.unlink()
    with Store(folder) as store:
        kept = {found.url for found in store.records(SITE)}
        assert kept == {url(number) for number in range(8)} - in_first
        for where in kept:
            assert store.response(where) is not None


def test_run_whose_log_was_lost_in_a_power_failure_begins_again(tmp_path: Path) -> None:
    """Its archive is kept under another name."""
    folder, left = tmp_path / "run", tmp_path / "left"
    folder.mkdir()
    with Store(folder) as store:
        add_page(store, 1)
        shutil.copytree(folder, left)  # nothing in the log has been copied to the database
    (left / "run.sqlite-wal").unlink()
    with Store(left) as store:
        assert store.count("SELECT count(*) FROM pages") == 0
        add_page(store, 2)
    assert sorted(path.name for path in (left / "warc").iterdir()) == [
        "diptych-00001.warc.gz", "diptych-00001.warc.gz.unknown-1"
    ]  # fmt: skip


def test_archive_that_the_database_does_not_know_is_renamed(folder: Path) -> None:
    with Store(folder) as store:
        add_page(store, 1)
    stranger = folder / "warc" / "diptych-00099.warc.gz"
    stranger.write_bytes(compose(answer(url(9))))
    of_the_user = folder / "warc" / "mine.warc.gz"
    of_the_user.write_bytes(compose(answer(url(8))))
    with Store(folder) as store:
        assert not stranger.exists()
        assert stranger.with_name(f"{stranger.name}.unknown-1").exists()
        assert of_the_user.exists()
        assert store.count("SELECT count(*) FROM pages") == 1


def test_archives_of_the_user_are_never_touched(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "theirs.warc.gz"
    path.write_bytes(compose(answer(url(1))) + b"whatever follows")
    before = path.read_bytes()
    with Store(folder) as store:
        store.archive.add(str(path), 10)
    Store(folder).close()
    assert path.read_bytes() == before


def test_reading_changes_nothing(folder: Path) -> None:
    with Store(folder) as store:
        add_page(store, 1)
    (path,) = warcs(folder)
    with path.open("ab") as stream:
        stream.write(b"not committed")
    size = path.stat().st_size
    with Store(folder, write=False) as store:
        assert len(list(store.records(SITE))) == 1
        with pytest.raises(sqlite3.OperationalError):
            store.db.execute("DELETE FROM pages")
    assert path.stat().st_size == size


# -- files -------------------------------------------------------------------------------------


def test_files_are_changed_when_full_and_every_record_stays_readable(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "ROTATE_AT", 2000)
    with Store(folder, agent="test/1") as store:
        store.site_id("example.org")
        for number in range(30):
            add_page(store, number, b"%d " % number * 50)
        for number in range(30):
            response = store.response(url(number))
            assert response is not None
            assert response.body == b"%d " % number * 50
    files = warcs(folder)
    assert len(files) >= 4
    assert [path.name for path in files] == [
        f"diptych-{number:05d}.warc.gz" for number in range(1, len(files) + 1)
    ]
    assert all(path.stat().st_size < 2000 + 1000 for path in files)
    assert sorted(scanned(folder)) == sorted(url(number) for number in range(30))
    check_with_warcio(*files)
    with Store(folder) as store:
        for number in range(30):
            assert store.response(url(number)) is not None


def test_restart_continues_in_the_last_file_until_it_is_full(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "ROTATE_AT", 2500)
    for number in range(20):
        with Store(folder) as store:
            add_page(store, number)
    files = warcs(folder)
    assert 2 <= len(files) <= 8
    assert scanned(folder) == [url(number) for number in range(20)]
    check_with_warcio(*files)


def test_each_file_begins_with_a_warcinfo_record(folder: Path) -> None:
    with Store(folder, agent="DiptychBot/1") as store:
        add_page(store, 1)
    (path,) = warcs(folder)
    with path.open("rb") as stream:
        first = next(iter(ArchiveIterator(stream)))
        assert first.rec_type == "warcinfo"
        assert b"http-header-user-agent: DiptychBot/1" in first.content_stream().read()


def test_warcio_check_accepts_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(folder) as store:
        for number in range(5):
            add_page(store, number, bytes(range(256)))
    (path,) = warcs(folder)
    with pytest.raises(SystemExit) as ended:
        warcio(["check", "-v", str(path)])
    assert ended.value.code == 0
    assert capsys.readouterr().out.count("digest pass") == 6


# -- opening -----------------------------------------------------------------------------------


def test_second_writer_is_refused(folder: Path) -> None:
    with Store(folder), pytest.raises(StoreError, match="in use by another process"):
        Store(folder)
    Store(folder).close()


@pytest.mark.parametrize("version", [5, SCHEMA_VERSION + 41])
def test_run_of_another_schema_is_refused_and_unlocked(folder: Path, version: int) -> None:
    Store(folder).close()
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    for _ in range(2):  # the second try is not told that the first still holds it
        with pytest.raises(StoreError) as caught:
            Store(folder)
        message = str(caught.value)
        assert f"schema {version}" in message
        assert f"reads {SCHEMA_VERSION}" in message
        assert "mine again with warc" in message
    with pytest.raises(StoreError, match="schema"):
        Store(folder, write=False)


@pytest.mark.parametrize("write", [True, False])
def test_file_that_is_no_database_is_refused(folder: Path, write: bool) -> None:
    (folder / "run.sqlite").write_bytes(b"This is not a database. " * 100)
    with pytest.raises(StoreError, match=r"run\.sqlite"):
        Store(folder, write=write)


def test_reading_does_not_create_a_run(folder: Path) -> None:
    with pytest.raises(StoreError, match="holds no run; mine a site into it first"):
        Store(folder, write=False)
    assert list(folder.iterdir()) == []


def test_run_can_be_read_while_it_is_written(folder: Path) -> None:
    with Store(folder) as writer:
        writer.site_id("example.org")
        add_page(writer, 1)
        with Store(folder, write=False) as reader:
            assert len(list(reader.records(SITE))) == 1
            with writer.transaction():
                add_page(writer, 2)
                assert len(list(reader.records(SITE))) == 1  # not committed yet
            assert len(list(reader.records(SITE))) == 2
            response = reader.response(url(2))
            assert response is not None


def test_slow_reader_holds_up_no_writer(folder: Path) -> None:
    with Store(folder) as writer:
        writer.site_id("example.org")
        for number in range(3):
            add_page(writer, number)
        commit(writer)
        with Store(folder, write=False) as reader:
            half_read = reader.records(SITE)
            next(half_read)
            add_page(writer, 3)
            writer.db.execute("PRAGMA busy_timeout = 0")  # an error where it would have to wait
            commit(writer)
            assert len(list(half_read)) == 2


@pytest.mark.parametrize(
    "name", ["a b", "run#1", "why?", "100%", "a%20b", "été", "a&mode=rwc", "'q'"]
)
def test_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    name = file_name(name)
    folder = tmp_path / name
    folder.mkdir()
    with Store(folder) as store:
        store.site_id("example.org")
        add_page(store, 1)
    with Store(folder, write=False) as store:
        assert [found.url for found in store.records(SITE)] == [url(1)]
        assert store.response(url(1)) is not None
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_run_can_be_moved(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with Store(tmp_path / "here") as store:
        add_page(store, 1)
    shutil.move(tmp_path / "here", tmp_path / "there")
    with Store(tmp_path / "there") as store:
        assert store.response(url(1)) is not None
        add_page(store, 2)
    assert scanned(tmp_path / "there") == [url(1), url(2)]


def test_uncommitted_changes_are_rolled_back_on_closing(folder: Path) -> None:
    with Store(folder) as store:
        begin(store)
        store.site_id("a.org")
    with Store(folder) as store:
        assert store.count("SELECT count(*) FROM sites") == 0


def test_kinds_and_states_are_numbered_as_the_schema_says() -> None:
    # Both are written into runs: their numbers may never change.
    assert [(kind.name, kind.value) for kind in Kind] == [
        ("PAGE", 0),
        ("ROBOTS", 1),
        ("SITEMAP", 2),
    ]
    assert [state.name for state in State][:5] == [
        "QUEUED",
        "CLAIMED",
        "FETCHED",
        "FAILED",
        "REFUSED",
    ]


# -- sketches ----------------------------------------------------------------------------------

numbers = st.integers(0, 2**56 - 1)


@settings(max_examples=examples(80))
@given(
    bag=st.dictionaries(texts, st.integers(1, 2**31), max_size=5),
    tags=st.text(st.characters(min_codepoint=1, max_codepoint=511), max_size=20),
    files=st.lists(texts, max_size=3).map(tuple),
    blocks=st.lists(st.tuples(numbers, st.floats(0, 1e6)), max_size=3).map(tuple),
    shares=langs,
)
@example({"phare": 3, "\x00": 1}, "\x01\u01ff", ("tour%20.png",), ((2**56 - 1, 0.5),), ())
def test_sketches_come_back_as_they_were(shared: Store, bag, tags, files, blocks, shares) -> None:
    sketch = Sketch(
        tags, 7, bag, files=files, blocks=blocks, shares=shares
    )  # fmt: skip
    page = Page(record(url("sketched")), (), sketch=sketch)
    round_trip(shared, page)
    assert shared.sketch(page.url) == sketch
    assert list(shared.sketches(SITE)) == [(page.url, sketch)]
    assert list(shared.sketches(SITE + 1)) == []


def test_page_read_again_loses_its_old_sketch(store: Store) -> None:
    pointer = add_page(store, "a")
    store.save_sketch(url("a"), Sketch("t", 1, {"old": 1}))
    assert store.without_sketch(["en", "fr"]) == []
    store.save_page(SITE, Page(record(url("a")), ()), pointer)
    assert store.sketch(url("a")) is None
    assert store.without_sketch(["en", "fr"]) == [url("a")]
    assert store.sketch(url("nowhere")) is None


def test_page_read_again_loses_its_old_content(store: Store) -> None:
    pointer = add_page(store, "a")
    content = walk("<p>old").content
    store.save_page(
        SITE, Page(record(url("a")), (), sketch=Sketch("t", 1, {}), content=content), pointer
    )
    assert store.content(url("a")) == unpack_outline(content) is not None
    store.save_page(SITE, Page(record(url("a")), (), sketch=Sketch("t", 1, {})), pointer)
    assert store.content(url("a")) is None


def test_stored_urls_are_found_together(store: Store) -> None:
    for name in ("a", "b", "c"):
        add_page(store, name)
    assert store.stored([url("a"), url("nowhere"), url("c")]) == {url("a"), url("c")}
    assert store.stored([]) == set()


def test_only_pages_in_requested_languages_lack_a_sketch(store: Store) -> None:
    for number, scores in enumerate([("en", 1.0), ("fr", 0.4), ("de", 1.0)]):
        pointer = add_page(store, number)
        page = Page(record(url(number), lang=scores[0], langs=(LangScore(*scores),)), ())
        store.save_page(SITE, page, pointer)
    pointer = add_page(store, 9)
    store.save_page(SITE, Page(record(url(9), lang="", langs=()), ()), pointer)
    assert store.without_sketch(["en", "fr"]) == [url(0), url(1)]


# -- what is known of a URL ----------------------------------------------------------------------


def test_answer_of_a_url_is_the_last_one_that_came(store: Store) -> None:
    assert store.answer(url(1)) is None
    for body in (b"first", b"second"):
        add_page(store, 1, body)
    add_page(store, 2, b"another")
    store.save_fetch(SITE, url(1), 9.0, status=0, size=0, reason="timeout", pointer=None)
    commit(store)
    found = store.answer(url(1))
    assert found is not None
    assert found.body == b"second"


def test_fetch_is_stored_with_its_outcome(store: Store) -> None:
    pointer = Pointer(1, 200, 30)
    store.save_fetch(SITE, url(1), 1.5, status=200, size=7, reason="", pointer=pointer)
    store.save_fetch(SITE, url(2), 2.5, status=0, size=0, reason="dns", pointer=None)
    rows = store.db.execute(
        "SELECT url, site, at, status, size, reason, warc, offset, length FROM fetches ORDER BY id"
    ).fetchall()
    assert rows == [
        (url_key(url(1)), SITE, 1.5, 200, 7, "", 1, 200, 30),
        (url_key(url(2)), SITE, 2.5, 0, 0, "dns", None, None, None),
    ]


def test_page_comes_back_with_its_links_and_flags(store: Store) -> None:
    assert store.page(url("a")) is None
    assert store.record(url("a")) is None
    pointer = add_page(store, "a")
    links = (Link(url("b"), "alternate", "fr"), Link(url("c"), anchor="lamp"))
    flagged = record(url("a"), flags=("machine:x", "noai"))
    store.save_page(SITE, Page(flagged, links), pointer)
    found = store.page(url("a"))
    assert found is not None
    assert (found.record, found.links) == (flagged, links)
    assert store.record(url("a")) == flagged


def test_outlook_of_a_run_is_that_of_all_its_sites_together(store: Store) -> None:
    assert store.outlook() is None
    other = store.site_id("other.org")
    store.save_outlook(SITE, Outlook(3.0, 1.5))
    assert store.outlook() == Outlook(3.0, 1.5)
    store.save_outlook(other, Outlook(2.0, 0.0))
    assert store.outlook() == Outlook(5.0, 1.5)


def test_sketches_and_links_come_in_the_order_of_urls(store: Store) -> None:
    for name in "cab":
        add_page(store, name)
        store.save_sketch(url(name), Sketch(name, 1, {}))
    assert [found for found, _ in store.sketches(SITE)] == [url(name) for name in "abc"]
    assert [found for found, _ in store.links(SITE)] == [url(name) for name in "abc"]
    assert [link for _, links in store.links(SITE) for link in links] == [Link(url(0))] * 3
    assert list(store.links(SITE + 1)) == []


def test_sketch_that_is_made_again_replaces_the_old_one(store: Store) -> None:
    add_page(store, "a")
    for tags in ("old", "new"):
        store.save_sketch(url("a"), Sketch(tags, 1, {}))
    assert list(store.sketches(SITE)) == [(url("a"), Sketch("new", 1, {}))]


def test_pages_without_a_sketch_come_in_the_order_of_their_urls(store: Store) -> None:
    for name in "cab":
        add_page(store, name)
    store.save_sketch(url("b"), Sketch("t", 1, {}))
    assert store.without_sketch(["en"]) == [url("a"), url("c")]


def test_run_whose_database_is_lost_is_not_begun_anew_over_its_archives(folder: Path) -> None:
    with Store(folder) as store:
        add_page(store, 1)
    for path in folder.glob("run.sqlite*"):
        path.unlink()
    with pytest.raises(
        StoreError, match=r"run\.sqlite is missing from .*; to mine its archives again, use warc"
    ):
        Store(folder)
    assert scanned(folder) == [url(1)]


def test_failed_opening_releases_the_lock(folder: Path) -> None:
    (folder / "run.sqlite").write_bytes(b"This is not a database. " * 100)
    with pytest.raises(StoreError):
        Store(folder)
    (folder / "run.sqlite").unlink()
    Store(folder).close()


def test_reading_an_empty_database_does_not_make_it_a_run(folder: Path) -> None:
    (folder / "run.sqlite").touch()
    with pytest.raises(StoreError, match="schema 0"):
        Store(folder, write=False)
    assert (folder / "run.sqlite").stat().st_size == 0


def test_database_is_written_ahead_and_keeps_its_references(store: Store) -> None:
    assert store.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store.db.execute("PRAGMA synchronous").fetchone() == (1,)
    with pytest.raises(sqlite3.IntegrityError):
        store.save_decision(99, Decision(True, 1.0))


def test_schema_changes_only_with_the_tables(store: Store) -> None:
    # With another number older versions of Diptych refuse the run; tests/run/test_upgrade.py has
    # the runs that they wrote.
    assert store.db.execute("PRAGMA user_version").fetchone() == (11,)


def test_store_that_is_closed_may_be_closed_again(folder: Path) -> None:
    with Store(folder) as store:
        store.close()
    Store(folder).close()


def test_store_may_be_read_from_another_thread(store: Store) -> None:
    found: list[int] = []
    thread = Thread(target=lambda: found.append(store.site_id("example.org")))
    thread.start()
    thread.join()
    assert found == [SITE]


INDEXES = {"hosts_site", "urls_redirected", "fetches_site", "fetches_url"}


def test_indexes_are_added_to_a_run_of_an_earlier_version(folder: Path) -> None:
    with Store(folder) as store:
        for name in INDEXES:
            store.db.execute(f"DROP INDEX {name}")
    with Store(folder) as store:
        rows = store.db.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        assert {name for (name,) in rows} >= INDEXES


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(size) FROM fetches WHERE site = 1",
        "SELECT id FROM hosts WHERE site = 1",
        "SELECT key FROM urls WHERE host = 1 AND redirect IS NOT NULL",
        SQL["redirects"].replace("?", "1"),
        SQL["last_answer"].replace("?", "1"),
    ],
)
def test_queries_by_site_or_url_scan_no_whole_table(store: Store, query: str) -> None:
    plan = store.db.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert not [step for *_, step in plan if step.startswith("SCAN")]
