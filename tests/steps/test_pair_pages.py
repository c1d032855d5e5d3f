from __future__ import annotations

from pathlib import Path

from support.runs import LANGS, strategies
from support.watching import Watching

from diptych.engine.workers import Workers
from diptych.run.store import Store
from diptych.steps.pair_pages import pair_pages
from diptych.steps.tasks import PairTask, TaskContext


def test_site_that_cannot_be_paired_costs_itself_only(tmp_path: Path, monkeypatch) -> None:
    paired: list[str] = []

    def run(task: PairTask, context: TaskContext) -> tuple[()]:
        if task.site.name == "a.org":
            raise MemoryError
        paired.append(task.site.name)
        return ()

    monkeypatch.setattr(PairTask, "run", run)
    watcher = Watching()
    with Store(tmp_path) as store:
        for name in ("a.org", "b.org"):
            store.site_id(name)
        assert not pair_pages(
            store, TaskContext(tmp_path, strategies(), LANGS), Workers(0), watcher
        )
    assert paired == ["b.org"]
    assert watcher.notes == ["a.org could not be paired (MemoryError): earlier pairs are kept"]


def test_only_the_given_sites_are_paired(tmp_path: Path, monkeypatch) -> None:
    paired: list[str] = []
    monkeypatch.setattr(PairTask, "run", lambda task, _: paired.append(task.site.name) or ())
    watcher, own = Watching(), TaskContext(tmp_path, strategies(), LANGS)
    with Store(tmp_path) as store:
        ids = [store.site_id(name) for name in ("a.org", "b.org", "c.org")]
        assert pair_pages(store, own, Workers(0), watcher, ids[1:])
        assert paired == ["b.org", "c.org"]
        assert pair_pages(store, own, Workers(0), watcher, [])
        assert len(paired) == 2
