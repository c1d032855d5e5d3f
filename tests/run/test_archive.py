"""WARC files of a run: written, read, truncated and closed."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.damage import fault
from support.stores import begin, commit

from diptych.errors import StoreError
from diptych.files import open_without_links
from diptych.frontier.queue import Entry, Frontier
from diptych.run import archive as archive_module
from diptych.run.guide_memory import GuideMemory, OpenSitemaps
from diptych.run.store import Store
from diptych.run.warc import Pointer, compose
from diptych.text.urls import url_key
from diptych.types import Page, PageRecord, Response, Url

SITE = 1


def url(number: object) -> Url:
    return Url(f"http://example.org/{number}")


def composed(number: object, body: bytes = b"<p>lamp</p>") -> bytes:
    return compose(Response(url(number), 200, (), body, 1_700_000_000.0))


def add(store: Store, number: object) -> Pointer:
    """Save a response as a crawl does: page, fetch, event and state."""
    with store.transaction():
        Frontier(store.db).add([Entry(url(number), 1, 0.0)])
        pointer = store.archive.append(composed(number), 1_700_000_000.0)
        store.save_fetch(SITE, url(number), 0.0, status=200, size=9, reason="", pointer=pointer)
        store.save_page(SITE, Page(PageRecord(url(number), "en", (), "", 0, 0, 0, ""), ()), pointer)
        memory(store).begin(SITE)
        memory(store).note(SITE, "page", url(number))
        store.db.execute("UPDATE urls SET state = 2 WHERE key = ?", (url_key(url(number)),))
    return pointer


def memory(store: Store) -> GuideMemory:
    return GuideMemory(store, "test")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path, agent="test/1") as opened:
        opened.site_id("example.org")
        yield opened


@contextmanager
def disk() -> Iterator[Callable[[int], None]]:
    """A function that limits the size of files to some bytes, until the end of the block."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda room: resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "warc").iterdir())


def warc_rows(db: sqlite3.Connection) -> list[tuple[int, str, int]]:
    return db.execute("SELECT id, path, size FROM warcs ORDER BY id").fetchall()


def test_archive_that_is_added_again_keeps_its_number(store: Store) -> None:
    first = store.archive.add("/a.warc.gz", 10)
    assert store.archive.add("/b.warc.gz", 20) != first
    assert store.archive.add("/a.warc.gz", 30) == first
    assert [row[1:] for row in warc_rows(store.db)] == [("/a.warc.gz", 10), ("/b.warc.gz", 20)]


def test_records_follow_each_other_and_the_size_is_noted_with_a_sync(
    store: Store, tmp_path: Path
) -> None:
    begin(store)
    one, two = add(store, 1), add(store, 2)
    assert (two.warc, two.offset) == (one.warc, one.offset + one.length)
    ((_, _, size),) = warc_rows(store.db)
    assert size == one.offset, "until then the file has its first record only"
    store.archive.sync()
    assert warc_rows(store.db) == [
        (one.warc, "warc/diptych-00001.warc.gz", two.offset + two.length)
    ]
    assert (tmp_path / "warc/diptych-00001.warc.gz").stat().st_size == two.offset + two.length


def test_answer_is_read_back_before_anything_is_synced(store: Store) -> None:
    pointer = add(store, 1)
    again = add(store, 2)
    for number, where in ((1, pointer), (2, again)):
        found = store.archive.read(where.warc, where.offset)
        assert found is not None
        assert found.url == url(number)


def test_file_is_full_at_its_limit_and_the_next_is_numbered(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = add(store, 1)
    monkeypatch.setattr(archive_module, "ROTATE_AT", first.offset + first.length + 1)
    assert add(store, 2).warc == first.warc
    third = add(store, 3)
    assert third.warc != first.warc
    assert files(tmp_path) == ["diptych-00001.warc.gz", "diptych-00002.warc.gz"]
    full = warc_rows(store.db)[0]
    assert full[2] == (tmp_path / full[1]).stat().st_size
    monkeypatch.setattr(archive_module, "ROTATE_AT", third.offset + third.length)
    assert add(store, 4).warc != third.warc
    assert files(tmp_path)[-1] == "diptych-00003.warc.gz"


def test_restart_goes_on_in_the_last_of_several_files_with_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, Store(tmp_path) as store:
        patch.setattr(archive_module, "ROTATE_AT", 1)
        last = [add(store, number) for number in range(3)][-1]
    with Store(tmp_path) as store:
        assert add(store, 3).warc == last.warc


def test_restart_begins_a_new_file_where_the_last_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path) as store:
        first = add(store, 1)
    monkeypatch.setattr(archive_module, "ROTATE_AT", first.offset + first.length)
    with Store(tmp_path) as store:
        assert add(store, 2).warc != first.warc
    assert files(tmp_path) == ["diptych-00001.warc.gz", "diptych-00002.warc.gz"]


def test_archives_of_the_user_are_neither_written_nor_counted(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.archive.add("/their/diptych-00007.warc.gz", 0)
        pointer = add(store, 1)
        assert pointer.warc == 2
    assert files(tmp_path) == ["diptych-00001.warc.gz"]


def test_number_of_open_archives_is_bounded(store: Store, tmp_path: Path) -> None:
    ids = []
    for number in range(70):
        path = tmp_path / f"{number}.warc.gz"
        path.write_bytes(composed(number))
        ids.append(store.archive.add(str(path), 0))
    before = len(os.listdir("/dev/fd"))
    for _ in range(2):
        for number, id in enumerate(ids):
            found = store.archive.read(id, 0)
            assert found is not None
            assert found.url == url(number)
    assert len(os.listdir("/dev/fd")) == before + 64
    store.archive.close()
    assert len(os.listdir("/dev/fd")) == before
    assert store.archive.read(ids[0], 0) is not None


def test_archive_that_cannot_be_read_says_why(store: Store, tmp_path: Path) -> None:
    id = store.archive.add(str(tmp_path / "none.warc.gz"), 0)
    with pytest.raises(StoreError, match=r"none\.warc\.gz, which the run requires: No such file"):
        store.archive.read(id, 0)


def test_records_lost_in_a_power_failure_are_forgotten_and_others_kept(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.site_id("example.org")
        pointers = [add(store, number) for number in range(4)]
        memory(store).begin(2)
        memory(store).note(2, "moved", url(3))
        for number in (0, 3):
            OpenSitemaps(store).save(url(number), 30)
    path = tmp_path / "warc/diptych-00001.warc.gz"
    os.truncate(path, pointers[3].offset - 1)  # two of four are not whole
    with Store(tmp_path) as store:
        assert memory(store).journal(SITE) == [], "its guide is made anew from what is left"
        assert memory(store).begun() == {2}, "those of other sites are not"
        assert memory(store).journal(2) == [("moved", url(3))]
        assert OpenSitemaps(store).starts() == {url_key(url(0)): 30}
        assert [found.url for found in store.records(SITE)] == [url(0), url(1)]
        assert warc_rows(store.db)[0][2] == path.stat().st_size == pointers[2].offset
        states = store.db.execute("SELECT state, due FROM urls ORDER BY url").fetchall()
        assert states == [(2, 0), (2, 0), (0, 0), (0, 0)]
        assert not store.db.in_transaction
        assert add(store, 2).offset == pointers[2].offset


def test_record_that_ends_at_a_power_failure_is_kept(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.site_id("example.org")
        pointers = [add(store, number) for number in range(3)]
    path = tmp_path / "warc/diptych-00001.warc.gz"
    os.truncate(path, pointers[2].offset)
    with Store(tmp_path) as store:
        assert memory(store).journal(SITE) == []
        assert [found.url for found in store.records(SITE)] == [url(0), url(1)]
        assert store.count("SELECT count(*) FROM fetches") == 2
        assert warc_rows(store.db)[0][2] == path.stat().st_size == pointers[2].offset


def test_file_without_a_whole_answer_is_forgotten(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.site_id("example.org")
        pointer = add(store, 1)
    path = tmp_path / "warc/diptych-00001.warc.gz"
    os.truncate(path, pointer.offset - 1)
    with Store(tmp_path) as store:
        assert warc_rows(store.db) == []
        assert not path.exists()
        assert store.count("SELECT count(*) FROM fetches") == 0


@pytest.mark.parametrize("left", [0, 5])
def test_file_that_has_lost_its_last_answer_only_keeps_its_first_record(
    tmp_path: Path, left: int
) -> None:
    with Store(tmp_path) as store:
        store.site_id("example.org")
        pointer = add(store, 1)
    path = tmp_path / "warc/diptych-00001.warc.gz"
    os.truncate(path, pointer.offset + left)
    with Store(tmp_path) as store:
        assert warc_rows(store.db) == [(1, "warc/diptych-00001.warc.gz", pointer.offset)]
        assert path.stat().st_size == pointer.offset


def test_closed_archive_continues_in_the_same_file(store: Store, tmp_path: Path) -> None:
    first = add(store, 1)
    commit(store)
    store.archive.close()
    second = add(store, 2)
    assert (second.warc, second.offset) == (first.warc, first.offset + first.length)
    assert files(tmp_path) == ["diptych-00001.warc.gz"]


# -- files that the database does not know ---------------------------------------------------------

STRANGER = composed("of another run") + b"whatever follows"


def kill(store: Store) -> None:
    """Close a run as a kill does: bytes are on disk, but the transaction is not committed."""
    store.archive.close()
    store.db.execute("ROLLBACK")


@pytest.mark.parametrize("name", ["diptych-00002.warc.gz", "diptych-00007.warc.gz"])
def test_file_of_another_run_survives_byte_for_byte(tmp_path: Path, name: str) -> None:
    with Store(tmp_path) as store:
        add(store, 1)
    for number in (1, 2):
        (tmp_path / "warc" / name).write_bytes(STRANGER)
        with Store(tmp_path) as store:
            assert (tmp_path / "warc" / f"{name}.unknown-{number}").read_bytes() == STRANGER
            (note,) = store.archive.notes
            assert note.endswith(
                f"{name} does not belong to this run; it was renamed to {name}.unknown-{number}"
            )
            assert [found.url for found in store.records(SITE)] == [url(1)]
    with Store(tmp_path) as store:
        assert store.archive.notes == []
    assert files(tmp_path) == sorted(
        ["diptych-00001.warc.gz", f"{name}.unknown-1", f"{name}.unknown-2"]
    )


def test_file_that_comes_to_the_place_of_the_next_one_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "ROTATE_AT", 1)
    with Store(tmp_path) as store:
        add(store, 1)
        (tmp_path / "warc/diptych-00002.warc.gz").write_bytes(STRANGER)
        add(store, 2)
        assert len(store.archive.notes) == 1
    assert (tmp_path / "warc/diptych-00002.warc.gz.unknown-1").read_bytes() == STRANGER
    with Store(tmp_path) as store:
        assert [found.url for found in store.records(SITE)] == [url(1), url(2)]


@pytest.mark.parametrize("before", [0, 1, 2])
def test_uncommitted_file_of_a_killed_run_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(archive_module, "ROTATE_AT", 1)
    with Store(tmp_path) as store:
        for number in range(before):
            add(store, number)
        begin(store)
        add(store, "lost")
        kill(store)
    assert len(files(tmp_path)) == before + 1
    with Store(tmp_path) as store:
        assert store.archive.notes == []
        assert [found.url for found in store.records(SITE)] == [url(n) for n in range(before)]
        for number in range(before):
            assert store.response(url(number)) is not None
    assert len(files(tmp_path)) == before


def test_file_that_was_committed_is_never_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "ROTATE_AT", 1)
    with Store(tmp_path) as store:
        add(store, 1)
    earlier = (tmp_path / "run.sqlite").read_bytes()
    with Store(tmp_path) as store:
        add(store, 2)
    path = tmp_path / "warc/diptych-00002.warc.gz"
    whole = path.read_bytes()
    (tmp_path / "run.sqlite").write_bytes(earlier)  # out of a backup
    Store(tmp_path).close()
    assert path.with_name(f"{path.name}.unknown-1").read_bytes() == whole


def test_bytes_after_the_end_of_a_file_that_is_full_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "ROTATE_AT", 1)
    with Store(tmp_path) as store:
        add(store, 1)
        add(store, 2)
    first, last = (tmp_path / "warc" / name for name in files(tmp_path))
    size = last.stat().st_size
    for path in (first, last):
        with path.open("ab") as stream:
            stream.write(STRANGER)
    with Store(tmp_path) as store:
        assert store.response(url(1)) is not None
    assert first.read_bytes().endswith(STRANGER)
    assert last.stat().st_size == size


def test_path_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "diptych-00001.warc.gz"
    outside.write_bytes(STRANGER)
    (tmp_path / "run").mkdir()
    with Store(tmp_path / "run") as store:
        store.archive.add("warc/../../diptych-00001.warc.gz", 3)
    Store(tmp_path / "run").close()
    assert outside.read_bytes() == STRANGER


def test_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "important.txt").write_text("precious")
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.lock").symlink_to("../important.txt")
    assert "run.lock is not a regular file; remove it" in fault(lambda: Store(run), StoreError)
    assert (tmp_path / "important.txt").read_text() == "precious"
    # also one that comes after the check
    with (
        pytest.raises(OSError, match="symbolic"),
        open(run / "run.lock", "a+b", opener=open_without_links),
    ):
        pass
    (run / "run.lock").unlink()
    (run / "run.lock").mkdir()
    assert "run.lock is not a regular file; remove it" in fault(lambda: Store(run), StoreError)


@pytest.mark.parametrize("name", ["warc", "run.sqlite", "report.html", "corpus.tsv.part"])
def test_link_in_a_run_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside"
    run.mkdir()
    with Store(run) as store:
        add(store, 1)
    shutil.copytree(run / "warc", outside)
    (outside / "diptych-00001.warc.gz").write_bytes(b"x" * 100_000)
    (outside / "diptych-00002.warc.gz").write_bytes(b"precious")
    if (run / name).exists():
        (run / name).rename(tmp_path / "old")
    (run / name).symlink_to(outside)
    said = f"{name} is not a regular file; remove it and run the same command again"
    assert said in fault(lambda: Store(run), StoreError)
    assert sorted(path.name for path in outside.iterdir()) == [
        "diptych-00001.warc.gz",
        "diptych-00002.warc.gz",
    ]
    assert (outside / "diptych-00001.warc.gz").stat().st_size == 100_000


@pytest.mark.parametrize("size", [0, 5000, None])
def test_known_file_that_is_a_link_is_renamed_and_its_answers_are_lost(
    tmp_path: Path, size: int | None
) -> None:
    run, outside = tmp_path / "run", tmp_path / "x.gz"
    run.mkdir()
    with Store(run) as store:
        add(store, 1)
    if size is not None:
        outside.write_bytes(b"x" * size)
    (run / "warc/diptych-00001.warc.gz").unlink()
    (run / "warc/diptych-00001.warc.gz").symlink_to(outside)
    with Store(run) as store:
        assert len(store.archive.notes) == 1
        assert store.count("SELECT count(*) FROM pages") == 0
        assert store.count("SELECT state FROM urls") == 0
        add(store, 2)
    assert files(run) == ["diptych-00001.warc.gz", "diptych-00001.warc.gz.unknown-1"]
    assert not (run / "warc/diptych-00001.warc.gz").is_symlink()
    assert outside.exists() == (size is not None)
    assert size is None or outside.read_bytes() == b"x" * size


def test_folder_or_link_in_the_place_of_a_file_is_renamed(tmp_path: Path) -> None:
    Store(tmp_path).close()
    (tmp_path / "warc/diptych-00001.warc.gz").mkdir(parents=True)
    (tmp_path / "run.lock").write_text("diptych-00001.warc.gz")
    (tmp_path / "warc/diptych-00001.warc.gz.unknown-1").symlink_to("nowhere")
    with Store(tmp_path) as store:
        assert files(tmp_path) == [f"diptych-00001.warc.gz.unknown-{n}" for n in (1, 2)]
        (tmp_path / "warc/diptych-00001.warc.gz").symlink_to("nowhere")
        add(store, 1)
    assert len(files(tmp_path)) == 4


@pytest.mark.parametrize("size", ["'abc'", "-5", "9e999", "x'00'"])
def test_damaged_size_is_replaced_by_that_of_whole_records(tmp_path: Path, size: str) -> None:
    with Store(tmp_path) as store:
        add(store, 1)
        end = add(store, 2)
        store.db.execute(f"UPDATE warcs SET size = {size}")
    with Store(tmp_path) as store:
        assert store.count("SELECT count(*) FROM pages") == 2
        assert [row[2] for row in warc_rows(store.db)] == [end.offset + end.length]


@pytest.mark.parametrize("room", [0, 100])
def test_full_disk_is_one_error_of_ours(tmp_path: Path, room: int) -> None:
    def fill() -> None:
        with disk() as limit, Store(tmp_path) as store, store.transaction():
            limit(room)
            store.archive.append(composed(1), 0.0)

    assert fault(fill, StoreError).startswith(f"cannot write {tmp_path}/warc: ")
    with Store(tmp_path) as store:
        add(store, 1)
    assert files(tmp_path) == ["diptych-00001.warc.gz"]


def test_closing_a_run_on_a_full_disk_hides_no_error(tmp_path: Path) -> None:
    def fill() -> None:
        with disk() as limit, Store(tmp_path) as store:
            begin(store)
            limit(100)
            store.archive.append(composed(1), 0.0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fill()
