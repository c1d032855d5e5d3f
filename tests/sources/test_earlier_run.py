"""The links of an earlier run as a link source."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from support.permissions import read_only, unreadable

from diptych.errors import SourceError, is_of_machine
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.sources.earlier_run import NAME, open_earlier_run
from diptych.text.urls import url_key
from diptych.types import Link, Page, PageRecord, Url


def add_page(store: Store, url: str, links: list[Link], at: float = 1.0) -> None:
    record = PageRecord(Url(url), "en", (), "", 0, 1, 1, "d", fetched_at=at)
    store.db.execute(
        "INSERT OR IGNORE INTO urls (key, url, host, kind, state, depth, priority)"
        " VALUES (?, ?, 0, 0, 2, 0, 0)",
        (url_key(url), url),
    )
    store.db.execute("INSERT OR IGNORE INTO warcs (id, path, size) VALUES (1, 'w', 0)")
    store.save_page(1, Page(record, tuple(links)), Pointer(1, 0, 0))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    with Store(tmp_path / "run", agent="test") as store:
        links = [Link(Url("http://aim.com/"), "a", "", "Aim", "see Aim here"),
                 Link(Url("http://a.org/own"), "a", "", "own")]  # fmt: skip
        add_page(store, "http://a.org/", links)
        add_page(store, "http://b.org/", [Link(Url("http://a.org/"), "a", "", "A")])
    return tmp_path / "run"


def test_links_to_other_sites_are_found_both_ways(run: Path) -> None:
    tables = open_earlier_run(run)
    assert tables.back_links(Url("http://aim.com/"), 9) == [
        Link(Url("http://a.org/"), "back", "", "Aim", "see Aim here")
    ]
    assert tables.back_links(Url("http://a.org/own"), 9) == [
        Link(Url("http://b.org/"), "back", "", "A")
    ]  # of its host: no other site links to the page itself
    assert [link.url for link in tables.out_links(Url("http://a.org/"), 9) or ()] == [
        "http://aim.com/"
    ]
    assert tables.out_links(Url("http://none.org/"), 9) is None


def test_the_index_is_rebuilt_only_if_the_run_has_changed(run: Path) -> None:
    open_earlier_run(run).close()
    before = (run / NAME).stat().st_mtime_ns
    open_earlier_run(run).close()
    assert (run / NAME).stat().st_mtime_ns == before
    with Store(run, agent="test") as store:
        add_page(store, "http://c.org/", [Link(Url("http://aim.com/"), "a", "", "C")], at=2.0)
    assert len(open_earlier_run(run).back_links(Url("http://aim.com/"), 9)) == 2


def test_the_run_itself_is_only_read(run: Path) -> None:
    before = hashlib.sha256((run / "run.sqlite").read_bytes()).hexdigest()
    open_earlier_run(run).close()
    assert hashlib.sha256((run / "run.sqlite").read_bytes()).hexdigest() == before
    with Store(run, agent="test"):  # while someone writes it
        open_earlier_run(run).close()


@pytest.mark.parametrize("text", [b"", b"nonsense", b"SQLite format 3\0" + b"\xff" * 500])
def test_a_damaged_index_is_made_again(run: Path, text: bytes) -> None:
    (run / NAME).write_bytes(text)
    assert len(open_earlier_run(run).back_links(Url("http://aim.com/"), 9)) == 1


def test_remains_of_a_killed_build_are_replaced(run: Path) -> None:
    (run / f"{NAME}.part").write_bytes(b"half")
    (run / f"{NAME}.part-wal").write_bytes(b"half")
    assert len(open_earlier_run(run).back_links(Url("http://aim.com/"), 9)) == 1
    assert not (run / f"{NAME}.part").exists()


def test_run_that_may_only_be_read_is_a_source(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    index = open_earlier_run(run)
    wanted = index.back_links(Url("http://aim.com/"), 9)
    assert wanted
    index.close()
    (run / NAME).unlink()
    with read_only(run):
        index = open_earlier_run(run)
        assert index.back_links(Url("http://aim.com/"), 9) == wanted
        index.close()
    assert not (run / NAME).exists()
    assert not any((tmp_path / "temporary").iterdir())


def test_unreadable_run_is_a_fault_of_the_machine(run: Path) -> None:
    with unreadable(run / "run.sqlite"), pytest.raises(SourceError) as caught:
        open_earlier_run(run)
    assert is_of_machine(caught.value)


def test_a_folder_without_a_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no run"):
        open_earlier_run(tmp_path)


def test_a_recorded_run_is_a_source(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded, tmp_path / "copy")
    tables = open_earlier_run(tmp_path / "copy")
    with Store(tmp_path / "copy", write=False) as store:
        pages = [url for url, _ in store.links(1)]
    assert pages
    assert all(tables.out_links(url, 5) is not None for url in pages)
