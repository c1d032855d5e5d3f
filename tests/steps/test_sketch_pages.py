"""Sketching the pages that a crawl has left without a sketch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.runs import context, crawled

from diptych.engine.workers import Workers
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.sketch_pages import sketch_pages
from diptych.steps.tasks import SketchTask, TaskContext


@pytest.fixture
def store(recorded: Path, tmp_path: Path) -> Iterator[Store]:
    with crawled(recorded, tmp_path / "run") as opened:
        opened.db.execute("DELETE FROM sketches")
        yield opened


def sketch(store: Store) -> list[str]:
    watcher = Watcher()
    sketch_pages(store, context(store), Workers(0), watcher)
    return watcher.notes


def test_all_pages_are_sketched_once(store: Store) -> None:
    missing = len(store.without_sketch(("en", "fr")))
    assert sketch(store) == []
    assert store.count("SELECT count(*) FROM sketches") == missing > 0
    before = store.db.total_changes
    assert sketch(store) == []
    assert store.db.total_changes == before


def test_page_that_failed_is_sketched_later_and_all_are_paired_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, *_ = store.without_sketch(("en", "fr"))
    run = SketchTask.run

    def failing(task: SketchTask, context: TaskContext) -> object:
        if task.url == failed:
            raise MemoryError
        return run(task, context)

    with monkeypatch.context() as patch:
        patch.setattr(SketchTask, "run", failing)
        assert sketch(store) == ["pages that could not be read again: 1 (MemoryError)"]
    assert store.begin_learning()
    store.save_lexicons({})
    assert not store.begin_learning()
    assert sketch(store) == []
    assert store.sketch(failed) is not None
    assert store.begin_learning(), "it was paired without this page"
