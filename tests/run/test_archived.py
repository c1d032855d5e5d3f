"""The index of archives that a run is mined from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diptych.frontier.queue import Entry, Frontier, State
from diptych.run.archived import ArchiveIndex
from diptych.run.store import Store
from diptych.types import Url

PATH = "/an/archive.warc.gz"


def url(name: object) -> Url:
    return Url(f"http://example.org/{name}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        for name in "ab":
            opened.archive.add(f"/{name}.warc.gz", 1)
        yield opened


def test_an_archive_that_has_grown_is_not_known(store: Store) -> None:
    index = ArchiveIndex(store)
    assert not index.has(PATH, 9)
    id = store.archive.add(PATH, 0)
    with store.transaction():
        index.finish(id, 9, "")
    assert index.has(PATH, 9)
    assert not index.has(PATH, 10)


def test_the_last_answer_of_a_url_counts_unless_only_the_former_is_a_page(store: Store) -> None:
    index = ArchiveIndex(store)
    with store.transaction():
        index.add(url("b"), 1, 10, is_page=False)
        index.add(url("b"), 1, 20, is_page=True)
        index.add(url("b"), 2, 30, is_page=False)
        index.add(url("a"), 1, 40, is_page=True)
        index.add(url("a"), 2, 50, is_page=True)
        index.add(url("c"), 1, 60, is_page=False)
        index.add(url("c"), 2, 70, is_page=False)
    places = [index.place(url(name)) for name in "abcd"]
    assert places == [(2, 50), (1, 20), (2, 70), None]
    assert index.pages() == [url("a"), url("b")]


def test_errors_are_sorted_by_path_until_an_archive_is_repaired(store: Store) -> None:
    index = ArchiveIndex(store)
    with store.transaction():
        index.finish(2, 1, "b is truncated")
        index.finish(1, 1, "a is truncated")
    assert index.errors() == ["a is truncated", "b is truncated"]
    with store.transaction():
        index.finish(1, 2, "")
    assert index.errors() == ["b is truncated"]


def test_urls_in_no_archive_are_queued_again(store: Store) -> None:
    Frontier(store.db).add([Entry(url(name), 1, 0.0) for name in "abc"])
    for name, reason in (("a", "not_archived"), ("b", "http_404")):
        store.db.execute(
            "UPDATE urls SET state = 3, attempts = 2, due = 7, reason = ? WHERE url = ?",
            (reason, url(name)),
        )
    with store.transaction():
        ArchiveIndex(store).finish(1, 1, "")
    rows = store.db.execute("SELECT state, attempts, due FROM urls ORDER BY url").fetchall()
    assert rows == [(State.QUEUED, 0, 0.0), (State.FAILED, 2, 7.0), (State.QUEUED, 0, 0.0)]
