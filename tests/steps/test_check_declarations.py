"""The step of declarations; whole sites are in tests/commands/test_mine_declarations.py."""

from __future__ import annotations

from pathlib import Path

from support.runs import LANGS, strategies
from support.watching import Watching

from diptych.engine.workers import Workers
from diptych.page.declarations import Checked, Declares
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.steps.check_declarations import CheckTask, check_declarations
from diptych.steps.tasks import TaskContext

FOUND = Checked(Declares.HTML_LANG, 5, 1, "en", "fr")


def test_site_that_cannot_be_checked_costs_itself_only(tmp_path: Path, monkeypatch) -> None:
    def run(task: CheckTask, context: TaskContext) -> tuple[Checked, ...]:
        if task.site.name == "a.org":
            raise MemoryError
        return (FOUND,)

    monkeypatch.setattr(CheckTask, "run", run)
    with Store(tmp_path) as store:
        for name in ("a.org", "b.org"):
            store.site_id(name)
        check_declarations(
            store, TaskContext(tmp_path, strategies(), LANGS), Workers(0), Watching()
        )
        assert Statistics(store).declarations() == (("b.org", FOUND),)
