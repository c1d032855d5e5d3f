from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from diptych.errors import StoreError
from diptych.run.database import in_transaction
from diptych.run.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        yield opened


def names(store: Store) -> list[str]:
    return [name for _, name in store.sites()]


def durable(store: Store) -> list[str]:
    """The data that another process would see."""
    with Store(store.folder, write=False) as other:
        return names(other)


def test_transaction_is_durable_at_its_end_and_not_before(store: Store) -> None:
    with store.transaction():
        store.site_id("a.org")
        assert durable(store) == []
    assert durable(store) == ["a.org"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, sqlite3.OperationalError])
def test_exception_undoes_a_transaction(store: Store, error: type[BaseException]) -> None:
    with suppress(error), store.transaction():
        store.site_id("a.org")
        raise error
    assert names(store) == []
    with store.transaction():
        store.site_id("b.org")
    assert durable(store) == ["b.org"]


def test_checkpoint_keeps_what_came_before(store: Store) -> None:
    with suppress(KeyboardInterrupt), store.transaction() as transaction:
        store.site_id("a.org")
        transaction.checkpoint()
        assert durable(store) == ["a.org"]
        store.site_id("b.org")
        raise KeyboardInterrupt
    assert durable(store) == ["a.org"]


def test_inner_transaction_commits_nothing_by_itself(store: Store) -> None:
    with suppress(KeyboardInterrupt), store.transaction():
        with store.transaction() as inner:
            store.site_id("a.org")
            inner.checkpoint()
        assert durable(store) == []
        raise KeyboardInterrupt
    assert names(store) == []


def test_caught_exception_in_an_inner_transaction_rolls_back_everything(
    store: Store,
) -> None:
    def both() -> None:
        with store.transaction():
            store.site_id("a.org")
            with suppress(ValueError), store.transaction():
                store.site_id("b.org")
                raise ValueError

    with pytest.raises(StoreError, match="was rolled back"):
        both()
    assert names(store) == []
    with store.transaction():
        store.site_id("c.org")
    assert names(store) == ["c.org"]


def test_commit_that_fails_undoes_the_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise StoreError("the disk is full")

    def save() -> None:
        with store.transaction():
            store.site_id("a.org")
            monkeypatch.setattr(store.archive, "sync", full)

    with pytest.raises(StoreError, match="full"):
        save()
    assert not store.db.in_transaction
    assert names(store) == []


def test_bytes_of_an_undone_transaction_are_cut_off(store: Store) -> None:
    with store.transaction():
        first = store.archive.append(b"first", 0.0)
    (path,) = (store.folder / "warc").iterdir()
    size = path.stat().st_size
    with suppress(KeyboardInterrupt), store.transaction():
        store.archive.append(b"second", 0.0)
        raise KeyboardInterrupt
    assert path.stat().st_size == size
    with store.transaction():
        third = store.archive.append(b"third", 0.0)
    assert (third.warc, third.offset) == (first.warc, first.offset + first.length)
    assert path.read_bytes().endswith(b"firstthird")


def test_file_that_an_undone_transaction_has_begun_is_removed(store: Store) -> None:
    with suppress(KeyboardInterrupt), store.transaction():
        store.archive.append(b"first", 0.0)
        raise KeyboardInterrupt
    assert list((store.folder / "warc").iterdir()) == []
    with store.transaction():
        store.archive.append(b"second", 0.0)
    (path,) = (store.folder / "warc").iterdir()
    assert path.name == "diptych-00001.warc.gz"


def test_method_in_a_transaction(store: Store) -> None:
    class Saver:
        def __init__(self) -> None:
            self.store = store

        @in_transaction
        def save(self, name: str, *, then: type[BaseException] | None = None) -> str:
            self.store.site_id(name)
            if then is not None:
                raise then
            return name

    assert Saver().save("a.org") == "a.org"
    with suppress(KeyboardInterrupt):
        Saver().save("b.org", then=KeyboardInterrupt)
    assert durable(store) == ["a.org"]


def test_snapshot_does_not_change_while_another_process_writes(store: Store) -> None:
    with store.transaction():
        store.site_id("a.org")
    with Store(store.folder, write=False) as reader:
        with reader.snapshot():
            assert names(reader) == ["a.org"]
            with store.transaction():
                store.site_id("b.org")
            assert names(reader) == ["a.org"]
        assert names(reader) == ["a.org", "b.org"]
